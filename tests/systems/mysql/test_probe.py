"""A server of the MySQL protocol shows its figures and waits, as far as the user may see them."""

import socket
import threading
import time

import pymysql
import pytest

from dbdyno.errors import RunFailed
from dbdyno.systems.mysql import client as mysql_client
from dbdyno.systems.mysql import probe as mysql_probe
from dbdyno.systems.mysql.probe import LOCKS_EVERY, MySQLProbe
from dbdyno.systems.running.endpoint import Endpoint
from helpers import need, running, system, wait_until


@pytest.fixture(scope="module", params=["mariadb", "mariadb?performance_schema=ON"])
def server(tmp_path_factory, request):
    with running(request.param, tmp_path_factory.mktemp("logs")) as started_server:
        yield started_server


@pytest.fixture
def connect(server):
    opened = []

    def connect(**login):
        endpoint = server.endpoint
        own = {"user": endpoint.user, "password": endpoint.password, "database": endpoint.database}
        opened.append(pymysql.connect(host=endpoint.host, port=endpoint.port, **own | login))
        return opened[-1]

    yield connect
    for connection in opened:
        connection.close()


@pytest.fixture
def probe(server):
    (started_probe,) = server.probes()
    started_probe.open()
    yield started_probe
    started_probe.close()


def run(connection, *statements):
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def test_figures_have_their_names(probe):
    seen = probe.counters()
    assert {"questions_total", "commits_total", "innodb_row_lock_s_total", "innodb_dirty_pages"} <= seen.keys()
    assert {"innodb_checkpoint_age_bytes", "innodb_history_list_length", "innodb_log_waits_total"} <= seen.keys()
    assert probe.counters()["questions_total"] > seen["questions_total"]
    assert probe.not_shown == {}


def test_a_query_cache_shows_its_hits_and_its_blocks_if_there_is_one(tmp_path, probe):
    assert not [name for name in probe.counters() if name.startswith("query_cache")]
    with running("mariadb?query_cache_type=on&query_cache_size=1M", tmp_path) as server:
        (cached,) = server.probes()
        cached.open()
        server._query("CREATE TABLE t (a INT)")
        before = cached.counters()
        with mysql_client.connect(server.endpoint, database=server.endpoint.database, autocommit=True) as connection:
            run(connection, "INSERT INTO t VALUES (1)", *["SELECT a FROM t"] * 3)
        grown = {name: value - before[name] for name, value in cached.counters().items()}
        cached.close()
    assert grown["query_cache_results"] == grown["query_cache_inserts_total"] == 1
    assert grown["query_cache_hits_total"] == 2 and grown["query_cache_free_bytes"] < 0


def test_a_row_that_is_waited_for_is_a_lock(server, probe, connect):
    holder, waiter = connect(), connect()
    run(holder, "CREATE TABLE hot (id INT PRIMARY KEY, k INT) ENGINE=InnoDB", "INSERT INTO hot VALUES (1, 0)", "COMMIT")
    run(holder, "BEGIN", "UPDATE hot SET k = 1 WHERE id = 1")
    waiting = threading.Thread(target=run, args=(waiter, "UPDATE hot SET k = 2 WHERE id = 1"))
    waiting.start()
    wait_until(lambda: probe.counters()["innodb_row_lock_waiting"])
    # A connection is asleep only when its thread has run again after the answer was sent.
    states = {"client": 1, "lock": 1, "commit": 0, "cpu": 0}
    wait_until(lambda: probe.waits().states == states)
    # InnoDB shows transactions as they were until they have not been asked for during a tenth of a second.
    locks = wait_until(lambda: time.sleep(0.15) or ((seen := probe.locks())["row locks"] and seen))
    assert bool(probe._counted) == bool(server.spec.settings)
    run(holder, "ROLLBACK")
    waiting.join()
    assert locks["row lock, hot (PRIMARY)"] == 1
    wait_until(lambda: not probe.counters()["innodb_row_lock_waiting"])
    probe.counters()
    assert probe.waits().states["lock"] == 0
    run(waiter, "ROLLBACK", "DROP TABLE hot")


def test_single_locks_are_seldom_asked_for_while_nothing_waits(probe):
    assert probe.known_locks() is None
    wait_until(lambda: probe.counters() and not probe._rows_are_waited_for)
    probe.locks()
    looks = [probe.known_locks() for _ in range(2 * LOCKS_EVERY)]
    assert looks.count(None) == 2 and looks.count({"row locks": 0.0}) == 2 * LOCKS_EVERY - 2
    probe._waited_for("SELECT 'TABLE', '`dbdyno`.`whole`', NULL, 2")
    assert [probe.known_locks() for _ in range(LOCKS_EVERY)] == [None] * LOCKS_EVERY


def test_a_table_that_is_waited_for_is_named(probe, connect):
    holder, waiter = connect(), connect()
    run(holder, "CREATE TABLE held (id INT PRIMARY KEY) ENGINE=InnoDB", "BEGIN", "SELECT * FROM held")
    waiting = threading.Thread(target=run, args=(waiter, "ALTER TABLE held ADD k INT, ALGORITHM=COPY"))
    waiting.start()
    wanted = "Waiting for table metadata lock"
    seen = wait_until(lambda: (seen := probe.waits().locks).get(wanted) and seen)
    run(holder, "COMMIT")
    waiting.join()
    assert seen[wanted] == seen["locks"] == 1
    run(waiter, "DROP TABLE held")


def test_who_waits_for_a_whole_table_is_counted_with_those_who_wait_for_rows(probe):
    named = probe._waited_for("SELECT 'TABLE', '`dbdyno`.`whole`', NULL, 2")
    assert named == {"row locks": 2, "table lock, whole": 2}
    assert probe.waits().locks["locks"] == 2
    probe.locks()
    assert probe.waits().locks["locks"] == 0


def latches(spec, launch, *statements):
    """Return a server's latches as they were after a first question and after some statements."""
    server = system(spec)
    try:
        server.start(launch)
        (probe,) = server.probes()
        probe.open()
        endpoint = server.endpoint
        with pymysql.connect(
            host=endpoint.host, port=endpoint.port, user=endpoint.user, password=endpoint.password
        ) as connection:
            run(connection, "USE dbdyno", *statements)
        assert probe.counters()["innodb_history_list_length"] >= 0
        seen = {name: value for name, value in probe.locks().items() if name != "row locks"}
        probe.close()
    finally:
        server.stop()
    return seen


def test_latches_are_timed_where_the_server_is_told_to(launch):
    need("mariadb")
    settings = "performance_schema=ON&performance_schema_instrument=wait/synch/%25=ON"
    statements = ("CREATE TABLE t (id INT PRIMARY KEY) ENGINE=InnoDB", "INSERT INTO t VALUES (1)")
    seen = latches(f"mariadb?{settings}", launch, *statements)
    assert any("/innodb/" in name and waited_s > 0 for name, waited_s in seen.items())
    assert seen["latches_wait_s_total"] >= max(seen.values()) and len(seen) <= 31
    assert not any(name.startswith("cond/") for name in seen)


@pytest.mark.parametrize(
    "version",
    [
        pytest.param("mysql@5.6", marks=pytest.mark.versions),
        *(pytest.param(version, marks=pytest.mark.systems) for version in ("mysql@5.5", "mysql@8.0")),
    ],
)
def test_every_mysql_counts_its_latches(version, launch):
    need(version)
    seen = latches(version, launch)
    assert "latches_waits_total" in seen and all(name.endswith("_waits_total") for name in seen)


def test_a_mariadb_that_counts_none_says_nothing(probe, server):
    counted = [name for name in probe.locks() if "latch" in name]
    assert counted == [] and not probe._latches


def test_a_user_who_may_not_see_transactions_is_told(server, connect):
    run(connect(), "CREATE USER 'small'@'%' IDENTIFIED BY 'x'")
    endpoint = server.endpoint
    probe = MySQLProbe("mariadb", Endpoint(endpoint.host, endpoint.port, None, "small", "x", ""))
    probe.open()
    assert probe.not_shown.keys() == {"locks.mariadb.row locks"}
    assert "GRANT PROCESS" in probe.not_shown["locks.mariadb.row locks"]
    assert probe.waits().states == {"client": 0, "lock": 0, "commit": 0, "cpu": 0}
    assert probe.locks() == {}
    assert probe.counters()["questions_total"] > 0
    probe.close()


def test_one_that_refuses_is_told(server):
    endpoint = server.endpoint
    probe = MySQLProbe("mariadb", Endpoint(endpoint.host, endpoint.port, None, "nobody-here", "x", ""))
    with pytest.raises(RunFailed, match="mariadb does not show"):
        probe.open()
    with pytest.raises(RunFailed, match="not connected"):
        probe.counters()
    probe.close()


def test_one_that_hangs_is_given_up(monkeypatch):
    monkeypatch.setattr(mysql_probe, "ANSWER_TIMEOUT_S", 0.05)
    monkeypatch.setattr(mysql_client, "CONNECT_TIMEOUT_S", 0.05)
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        with pytest.raises(RunFailed):
            MySQLProbe("mariadb", Endpoint("127.0.0.1", mute.getsockname()[1], None, "u", "p", "")).open()


def test_what_queues_for_a_pool_of_threads_is_shown(tmp_path):
    enough = threading.Event()

    def ask_again(connection):
        while not enough.is_set():
            run(connection, "DO BENCHMARK(2000, MD5('x'))")

    with running("mariadb?thread_handling=pool-of-threads&thread_pool_size=1", tmp_path) as pooled:
        (asked,) = pooled.probes()
        asked.open()
        endpoint = pooled.endpoint
        login = {"user": endpoint.user, "password": endpoint.password, "database": endpoint.database}
        sessions = [pymysql.connect(host=endpoint.host, port=endpoint.port, **login) for _ in range(8)]
        asking = [threading.Thread(target=ask_again, args=(session,)) for session in sessions]
        for thread in asking:
            thread.start()
        try:
            seen = wait_until(lambda: (seen := asked.counters())["request_tasks_pending"] and seen)
        finally:
            enough.set()
            for thread in asking:
                thread.join()
            asked.close()
    assert seen["request_tasks_pending"] >= 1 <= seen["request_tasks_active"]


def test_a_server_with_a_thread_for_each_connection_has_no_pool(probe):
    assert "request_tasks_pending" not in probe.counters()
