"""A real private cluster: what one node was given, all hold; and nothing is left behind."""

from pathlib import Path

import pytest

from dbdyno.errors import UserError
from dbdyno.systems.arrangements import galera
from dbdyno.systems.arrangements.galera import Place
from helpers import need, running, system, wait_until
from systems.load import execute

# A node that joins takes ten seconds, of which its script waits for most.
slow = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """One cluster for all that does not change how it is started."""
    text = "galera?nodes=2&wsrep_retry_autocommit=0&wsrep_provider_options=gcache.size=16M&tls=on"
    with running(text, tmp_path_factory.mktemp("galera")) as galera:
        yield galera


@slow
@pytest.mark.systems
def test_every_node_has_its_settings_figures_and_log(cluster):
    names = ["galera-1", "galera-2"]
    assert [server["name"] for server in cluster.servers()] == names == [*cluster.server_pids()]
    assert all(server["effective_settings"]["wsrep_retry_autocommit"] == "0" for server in cluster.servers())
    assert all(server["effective_settings"]["tls"].startswith("TLSv1.") for server in cluster.servers())
    assert all("wsrep_local_cert_failures" in counted for counted in cluster.counters().values())
    durability = cluster.durability()
    assert durability.level == "D2" and "each of 2 nodes" in durability.reason
    assert len(cluster.data_directories()) == 2 and cluster.death() is None
    assert all("--wsrep-on=ON" in settings for settings in cluster.started_with().values())
    for probe in cluster.probes():
        probe.open()
        assert probe.counters()["galera_certification_failures_total"] >= 0
        probe.close()


@slow
@pytest.mark.systems
def test_what_all_nodes_were_sent_all_nodes_hold(cluster):
    done = execute(cluster, "point-update", ["prepare", "load", "run", "verify", "cleanup"])
    (last,), (total,) = done.of("end"), done.of("total")
    assert (done.status, last["status"]) == (0, "complete")
    assert total["transactions"]["completed"] > 0 and total["transactions"]["failed"] == 0
    assert all(check["ok"] for check in done.of("check"))
    commits = [counted["wsrep_local_commits"] for counted in cluster.counters().values()]
    assert min(commits) > 0, "every node was a client's own"


@slow
@pytest.mark.systems
def test_a_write_is_seen_at_the_other_node(cluster):
    done = execute(cluster, "replication-lag", ["prepare", "load", "run", "verify", "cleanup"])
    (total,) = done.of("total")
    counts = {name: operation["completed"] for name, operation in total["operations"].items()}
    assert done.status == 0 and total["mismatches"] == 0
    assert 0 < counts["until_seen"] <= counts["first_read"] <= counts["write"]
    assert counts["second_read"] <= counts["first_read"]


@slow
@pytest.mark.systems
def test_a_node_that_died_is_told_and_all_are_gone_when_stopped(launch):
    need("galera")
    galera = system("galera?nodes=2&write=one")
    try:
        galera.start(launch)
        assert galera.store_plan([])["own_nodes"] == 1
        directories, pids = galera.data_directories(), galera.server_pids()
        galera.nodes[1]._server._process.kill()
        galera.nodes[1]._server._process.wait()
        assert galera.death() == "galera-2 was killed by SIGKILL"
    finally:
        galera.stop()
    assert galera.server_pids() == {} and not any(map(Path.exists, directories))
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids.values()))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("galera?nodes=1", "from 2 to 9"),
        ("galera?nodes=many", "from 2 to 9"),
        ("galera?write=two", "one of all, one"),
        ("galera?engine=MyISAM", "replicates InnoDB alone"),
        ("galera?port=3306", "dbdyno sets"),
        ("galera?wsrep_provider=/x", "dbdyno sets"),
        ("galera?wsrep_cluster_addr=gcomm://h", "as wsrep_cluster_address, which dbdyno sets"),
    ],
)
def test_what_a_cluster_cannot_be_is_refused(text, said):
    with pytest.raises(UserError, match=said):
        system(text)


def test_what_is_missing_is_named_with_its_packages(monkeypatch):
    monkeypatch.setattr(galera, "find_program", lambda name: None if name in ("rsync", "mariadbd") else name)
    monkeypatch.setattr(galera, "PROVIDERS", ())
    assert galera.Galera.missing() == (
        "mariadbd, rsync, libgalera_smm.so not installed: apt install mariadb-server rsync galera-4"
    )


def test_places_have_ports_of_their_own_on_each_host():
    assert galera._are_apart([Place("10.0.0.1", 1, 2, 3), Place("10.0.0.2", 1, 2, 3)])
    assert not galera._are_apart([Place("10.0.0.1", 1, 2, 3), Place("10.0.0.1", 3, 4, 5)])


def test_the_servers_that_dbdyno_starts_are_listed():
    def names(text):
        return [server.server_name for server in system(text).private_servers()]

    assert names("galera?nodes=2") == ["galera-1", "galera-2"]
    assert names("cache-aside(memcached, replicated(mariadb*2))") == ["memcached", "replicated-1", "replicated-2"]
    assert names("cache-aside(memcached, mysql://u@10.0.0.1/d)") == ["memcached"]
    assert names("mariadb?engine=Spider") == ["spider-front", "spider-backend-1"]
    assert names("redis") == ["redis"] and names("sqlite") == names("redis://10.0.0.1") == []
