"""A Cassandra shows its figures, and a lost one is reported."""

import pytest

from dbdyno.errors import RunFailed
from dbdyno.systems.running.endpoint import Endpoint
from helpers import need, system

probe_module = pytest.importorskip("dbdyno.systems.cassandra.probe", exc_type=ImportError)


@pytest.mark.timeout(600)
@pytest.mark.systems
def test_counters_grow_and_one_that_is_gone_is_told(launch):
    need("cassandra")
    server = system("cassandra?heap=512M")
    try:
        server.start(launch)
        (probe,) = server.probes()
        probe.open()
        before, after = probe.counters(), probe.counters()
        assert after["request_tasks_total"] > before["request_tasks_total"]
        assert after["key_cache_bytes"] >= 0 and probe.waits() is None and probe.server == "cassandra"
        (tables,) = probe_module.ask(server.endpoint, "SELECT * FROM system_views.no_such_table")
        assert tables == []
    finally:
        server.stop()
    with pytest.raises(RunFailed, match="cassandra does not show"):
        probe.counters()
    probe.close()
    probe.close()


def test_where_nobody_answers_it_is_said():
    with pytest.raises(RunFailed, match="refused"):
        probe_module.ask(Endpoint("127.0.0.1", 1), "SELECT 1")
    probe = probe_module.CassandraProbe("cassandra", Endpoint("127.0.0.1", 1))
    with pytest.raises(RunFailed, match="does not show its figures"):
        probe.open()


def test_pools_and_caches_have_dbdynos_names():
    pools = [
        {
            "name": "ReadStage",
            "active_tasks": 3,
            "active_tasks_limit": 32,
            "pending_tasks": 2,
            "blocked_tasks": 0,
            "completed_tasks": 70,
        },
        {"name": "GossipStage", "active_tasks": 1},
    ]
    caches = [{"name": "chunks", "hit_count": 5, "request_count": 9, "entry_count": 2, "size_bytes": 128}]
    assert probe_module.figures(pools, caches) == {
        "read_tasks_active": 3,
        "read_tasks_limit": 32,
        "read_tasks_pending": 2,
        "read_tasks_blocked": 0,
        "read_tasks_total": 70,
        "chunk_cache_hits_total": 5,
        "chunk_cache_requests_total": 9,
        "chunk_cache_entries": 2,
        "chunk_cache_bytes": 128,
    }
