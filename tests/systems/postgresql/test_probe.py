"""A PostgreSQL shows its figures and its waits, and a lost one is reported."""

import signal

import psycopg
import pytest

from dbdyno.errors import RunFailed
from dbdyno.observe.process import ProcessSampler
from dbdyno.systems.postgresql.probe import connect
from helpers import need, running, system, wait_until


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running("postgresql", tmp_path_factory.mktemp("logs")) as started_server:
        yield started_server


@pytest.fixture
def probe(server):
    (probe,) = server.probes()
    probe.open()
    yield probe
    probe.close()


def test_counters_grow_under_dbdynos_names(server, probe):
    before = probe.counters()
    assert {"commits_total", "wal_bytes_total", "checkpoints_timed_total", "connections"} <= before.keys()
    with connect(server.endpoint) as connection:
        for _ in range(10):
            connection.execute("SELECT 1")
    assert wait_until(lambda: probe.counters()["commits_total"] >= before["commits_total"] + 10)


def test_waits_are_those_of_clients_alone(server, probe):
    with connect(server.endpoint) as idle, connect(server.endpoint) as locked, connect(server.endpoint) as waiting:
        idle.execute("SELECT 1")
        locked.execute("CREATE TABLE t (id int)")
        locked.execute("BEGIN")
        locked.execute("LOCK TABLE t")
        waiting.execute("SET statement_timeout = 0")
        waiting.pgconn.send_query(b"SELECT * FROM t")
        wait_until(lambda: probe.waits().states == {"client": 2.0, "lock": 1.0})
        assert probe.waits().locks == {"locks": 1.0, "latches": 0.0, "Lock:relation": 1.0}
        locked.execute("ROLLBACK")
        waiting.close()


def test_the_server_is_several_processes_and_its_data_is_known(server):
    assert server.forking() == {"postgresql"}
    assert (server.data_directories()[0] / "data" / "PG_VERSION").exists()


def test_one_that_is_gone_or_was_never_there_is_told(launch):
    need("postgresql")
    server = system("postgresql")
    server.start(launch)
    (probe,) = server.probes()
    with pytest.raises(RunFailed, match="not connected"):
        probe.waits()
    probe.open()
    server._server._process.send_signal(signal.SIGQUIT)
    server.stop()
    for ask in (probe.counters, probe.waits, probe.open):
        with pytest.raises(RunFailed, match="postgresql does not show its figures"):
            ask()
    probe.close()


def test_a_socket_is_a_directory_and_a_port_to_libpq(launch):
    need("postgresql")
    server = system("postgresql?connect=socket")
    try:
        server.start(launch)
        with connect(server.endpoint) as connection:
            assert connection.info.host == str(server._directory.path)
            assert isinstance(connection, psycopg.Connection)
    finally:
        server.stop()


def test_its_processes_are_called_what_they_do(launch):
    need("postgresql")
    server = system("postgresql")
    try:
        server.start(launch)
        sampler = ProcessSampler("postgresql", server.server_pids()["postgresql"], {}, with_children=True)
        expected = {"checkpointer", "walwriter", "background writer"}
        wait_until(lambda: sampler.sample() and expected <= set(sampler._titles.values()))
        sampler.close()
    finally:
        server.stop()
