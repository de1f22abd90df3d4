"""A real private Cassandra, and the same attached to by its URL."""

import signal

import pytest

from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.workloads import WORKLOADS, missing_operations
from dbdyno.systems import cassandra
from dbdyno.systems.base import Launch
from dbdyno.systems.cassandra import durability_of, is_accepted
from dbdyno.systems.guard import Guard
from helpers import need, system
from systems.load import ROWS, begin, end, execute, plan_of
from systems.test_conformance import until_completed

WORKLOADS_DONE = ("game", "point-get", "secondary-get", "batch-get", "insert-indexes")
# Its server takes longer to start than most tests may last.
slow = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """One server for all that does not change how it is started; with a password."""
    need("cassandra")
    with Guard() as guard:
        launch = Launch(guard, tmp_path_factory.mktemp("cassandra"), clients=8, rows=2 * ROWS)
        one = system("cassandra?heap=512M&authenticator=PasswordAuthenticator&commitlog_sync=batch")
        try:
            one.start(launch)
            yield one
        finally:
            one.stop()


def url_of(server, password="cassandra"):
    return f"cassandra://cassandra:{password}@127.0.0.1:{server.endpoint.port}"


@slow
@pytest.mark.systems
def test_it_has_the_settings_it_was_given(server):
    (shown,) = server.servers()
    assert shown["version"] == "5.0.2" and shown["effective_settings"]["commitlog_sync"] == "batch"
    assert server.durability().level == "D2"
    assert server.data_directories()[0].exists() and set(server.server_pids()) == {"cassandra"}


@slow
@pytest.mark.systems
@pytest.mark.parametrize("workload", WORKLOADS_DONE)
def test_every_operation_is_done_and_verified(server, workload):
    done = execute(server, workload, ["prepare", "load", "run", "verify", "cleanup"])
    (last,), (total,) = done.of("end"), done.of("total")
    assert (done.status, last["status"]) == (0, "complete")
    assert total["transactions"]["completed"] > 0 and total["transactions"]["failed"] == total["mismatches"] == 0
    assert workload == "insert-indexes" or total["reads_verified"] > 0
    checks = done.of("check")
    assert checks[0]["ok"] and all(check["ok"] is not False for check in checks)
    assert not missing_operations(WORKLOADS[workload], server.operations)


@slow
@pytest.mark.systems
def test_what_it_cannot_do_is_declared(server):
    for workload, options in (("point-update", {}), ("trx-lifecycle", {"transaction": "read-only"})):
        plan = plan_of(None, workload, ["run"])
        plan["workload"]["options"] = options
        done = end(begin(server, plan))
        assert done.status == 2 and "cassandra cannot do the step" in done.of("end")[0]["reason"]
        assert missing_operations(WORKLOADS[workload], server.operations)


@slow
@pytest.mark.systems
def test_rows_that_are_not_there_are_missing_also_in_a_pipeline_and_a_load_goes_on(server):
    assert execute(server, "point-get", ["prepare", "load"]).status == 0
    for pipeline in (1, 16):
        done = execute(server, "point-get", ["run"], 2 * ROWS, pipeline=pipeline)
        (total,) = done.of("total")
        assert done.errors() == {"missing"} and total["reads_verified"] > 0 and total["mismatches"] == 0
    again = execute(server, "point-get", ["load", "cleanup"])
    loaded = next(phase for phase in again.of("phase") if phase["phase"] == "load" and phase["state"] == "end")
    assert (again.status, loaded["rows"]) == (0, ROWS)


@slow
@pytest.mark.systems
def test_a_wrong_password_ends_it_in_the_servers_words_without_the_password(server, started):
    done = execute(server, "point-get", ["run"], secrets=["wrongpw"])
    (last,) = done.of("end")
    assert (done.status, last["status"]) == (1, "failed")
    assert "incorrect" in last["reason"] and "wrongpw" not in last["reason"]
    with pytest.raises(UserError, match="check the user and the password") as caught:
        started(url_of(server, "wrongpw"))
    assert "wrongpw" not in str(caught.value)


@slow
@pytest.mark.systems
def test_attached_it_is_read_and_foreign_tables_stay(server, started):
    attached = started(url_of(server) + "?consistency=QUORUM")
    assert attached.servers() == server.servers() and attached.server_pids() == {}
    assert attached.store_plan([])["consistency"] == "QUORUM"
    views = cassandra._views()
    replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}"
    views.ask(
        server.endpoint,
        f"CREATE KEYSPACE mine WITH replication = {replication}",
        "CREATE TABLE mine.dbdyno_bm (id int PRIMARY KEY)",
    )
    done = execute(started(url_of(server) + "/mine"), "point-get", ["prepare"])
    assert done.status == 2 and "without dbdyno's marker" in done.of("end")[0]["reason"]
    nowhere = execute(started(url_of(server) + "/nobodys"), "point-get", ["prepare"])
    assert nowhere.status == 2 and "there is no keyspace nobodys" in nowhere.of("end")[0]["reason"]


@slow
@pytest.mark.systems
def test_after_a_crash_clients_go_on_where_a_server_is_again(launch):
    need("cassandra")
    one = system("cassandra?heap=512M")
    try:
        one.start(launch)
        directory = one.data_directories()[0]
        assert execute(one, "point-get", ["prepare", "load"]).status == 0
        process, records = begin(one, plan_of(None, "point-get", ["run"], duration_s=300)), []
        until_completed(process, records)
        one._server._process.send_signal(signal.SIGKILL)
        one._server._process.wait()
        with pytest.raises(RunFailed, match="does not answer"):
            one.servers()
    finally:
        one.stop()
    assert not directory.exists()
    other = system(f"cassandra?heap=512M&port={one.endpoint.port}")
    try:
        other.start(launch)
        assert execute(other, "point-get", ["prepare", "load"]).status == 0
        until_completed(process, records)
    finally:
        process.send_signal(signal.SIGINT)
        outcome = end(process, records)
        other.stop()
    assert outcome.errors() & {"connection", "connect"} and "mismatch" not in outcome.errors()


@slow
@pytest.mark.systems
def test_a_setting_it_does_not_know_is_said_in_its_words(launch):
    need("cassandra")
    one = system("cassandra?heap=512M&bogus=1")
    with pytest.raises(UserError, match="bogus"):
        one.start(launch)
    one.stop()


def test_what_cannot_be_its_setting_is_refused():
    with pytest.raises(UserError, match="consistency = 'MOST': give one of ONE, ANY"):
        system("cassandra?consistency=MOST")
    with pytest.raises(UserError, match="'concurrent_reads' is a setting of a server"):
        system("cassandra://h?concurrent_reads=1")
    with pytest.raises(UserError, match="replication_factor is a number"):
        system("cassandra://h?replication_factor=all")
    with pytest.raises(UserError, match="a keyspace of small letters"):
        system("cassandra://h/Mine")


def test_without_its_driver_it_says_how_to_get_it(monkeypatch, launch):
    monkeypatch.setattr(cassandra, "find_spec", lambda _: None)
    for text in ("cassandra", "cassandra://h"):
        with pytest.raises(UserError, match="pip install 'dbdyno\\[cassandra\\]'"):
            system(text).start(launch)
    assert "cassandra-driver is not installed" in cassandra.Cassandra.missing()


def test_where_nobody_answers_it_is_said(launch):
    pytest.importorskip("cassandra")
    with pytest.raises(UserError, match="nobody answers there"):
        system("cassandra://127.0.0.1:1").start(launch)


@pytest.mark.parametrize(
    ("settings", "level"),
    [
        ({"commitlog_sync": "periodic", "commitlog_sync_period": "10000ms"}, "D1"),
        ({"commitlog_sync": "batch"}, "D2"),
        ({"commitlog_sync": "group"}, "D2"),
    ],
)
def test_durability(settings, level):
    assert durability_of(settings).level == level


def test_a_setting_is_accepted_as_it_was_written_and_a_class_with_its_package():
    assert is_accepted("512MiB", "512MiB") and is_accepted("true", "True")
    assert is_accepted("org.apache.cassandra.auth.PasswordAuthenticator", "PasswordAuthenticator")
    assert not is_accepted("64", "32")
