"""On an attached server a separate database is made and removed, and nothing that others made."""

import io
import json
import socket
import sys

import pytest

from bounded import run_bounded
from dbdyno.load_python.failure import Ended
from dbdyno.load_sysbench.database import _CREATE, DATABASE, _asking
from dbdyno.load_sysbench.plan import read_plan
from dbdyno.systems.mysql.mariadb import MariaDB
from dbdyno.systems.postgresql.probe import connect
from fakes import hostile
from helpers import need_program
from load_sysbench.conftest import STORE, executed, of_kind, plan_of

LEFTOVERS = plan_of(STORE, ("cleanup",)) | {"workload": None}
"""A plan to remove what a run that was killed left."""
LISTED = LEFTOVERS | {"phases": ["list"]}
THERE = {
    "mariadb": f"SELECT 1 FROM information_schema.schemata WHERE schema_name = '{DATABASE}'",
    "postgresql": f"SELECT 1 FROM pg_database WHERE datname = '{DATABASE}'",
}


@pytest.mark.parametrize("name", ["mariadb", "postgresql"])
def test_it_is_made_used_and_removed(server, name):
    running, secrets = server(name), []
    store = running.store_plan(secrets) | {"database": DATABASE}
    made = executed(plan_of(store, ("prepare", "load")), secrets)
    assert made[-1]["status"] == "complete" and len(running._query(THERE[name])) == 1
    # A killed run leaves tables, and they are made anew.
    assert executed(plan_of(store, ("prepare",)), secrets)[-1]["status"] == "complete"
    assert executed(plan_of(store, ("cleanup",)), secrets)[-1]["status"] == "complete"
    assert len(running._query(THERE[name])) == 0
    assert executed(plan_of(store, ("cleanup",)), secrets)[-1]["status"] != "refused"


@pytest.mark.parametrize("name", ["mariadb?tls=on", "postgresql?tls=on", "mariadb", "postgresql"])
def test_what_a_killed_run_left_is_removed_without_sysbench(server, name, monkeypatch):
    running, secrets = server(name), []
    store = running.store_plan(secrets)
    made = executed(plan_of(store | {"database": DATABASE, "tls": None}, ("prepare",)), secrets)
    assert made[-1]["status"] == "complete"
    monkeypatch.setenv("PATH", "")
    for removed in ([DATABASE], []):
        records = executed(LEFTOVERS | {"store": store}, secrets)
        assert records[-1]["status"] == "complete", records[-1]
        assert of_kind(records, "phase")[-1]["removed"] == removed
        assert len(running._query(THERE[running.name])) == 0


LOW = {
    "mariadb": "CREATE DATABASE mine; CREATE USER low@'%' IDENTIFIED BY 'pw'; GRANT ALL ON mine.* TO low@'%';",
    "postgresql": "CREATE ROLE low LOGIN PASSWORD 'pw'",
}
"""Makes a user who may not create databases."""


@pytest.mark.parametrize(("name", "grant"), [("mariadb", "GRANT ALL ON"), ("postgresql", 'ALTER ROLE "low" CREATEDB')])
def test_who_may_not_create_databases_is_told_of_that_right(server, name, grant, monkeypatch):
    if name == "mariadb":
        # Its own user cannot give away a right.
        monkeypatch.setattr(MariaDB, "new_user", f"{MariaDB.new_user}{LOW[name].replace('; ', ';' + chr(10))}\n")
    running, secrets = server(name), []
    if name == "postgresql":
        with connect(running.endpoint) as connection:
            connection.execute(LOW[name])
    store = running.store_plan(secrets) | {"database": DATABASE, "user": "low"}
    ended = executed(plan_of(store, ("prepare", "load")), ["pw"])[-1]
    assert ended["status"] == "refused", ended
    assert "'low' has no right to create databases" in ended["reason"] and grant in ended["reason"]
    # And as nothing was made, there is nothing to remove.
    assert executed(plan_of(store, ("cleanup",)), ["pw"])[-1]["status"] == "complete"


def test_one_without_the_marker_is_left_alone(server):
    running, secrets = server("mariadb"), []
    store = running.store_plan(secrets) | {"database": DATABASE}
    running._query(f"CREATE DATABASE {DATABASE}")
    for plan in (plan_of(store, ("prepare",)), plan_of(store, ("cleanup",))):
        ended = executed(plan, secrets)[-1]
        assert ended["status"] == "refused" and "without dbdyno's marker" in ended["reason"]
    # As a run leaves it that is killed before the marker, on a server that knows no comments of databases.
    for plan in (LEFTOVERS, LISTED):
        done = phase_of(plan, running)
        assert done.get("removed", done.get("leftovers")) == []
        assert f"the database {DATABASE} has no table and no marker" in done["cannot_know"]
    running._query(f"CREATE TABLE {DATABASE}.mine (id INT PRIMARY KEY)")
    assert phase_of(LEFTOVERS, running)["cannot_know"] is None
    assert len(running._query(THERE["mariadb"])) == 1


@pytest.mark.parametrize("name", ["mariadb", "postgresql"])
def test_tables_of_others_that_are_named_as_sysbenchs_are_kept(server, name):
    """A refused run cleans up after itself, and sysbench drops whatever has the name of its tables."""
    running, secrets = server(name), []
    store = running.store_plan(secrets) | {"database": DATABASE}
    with _asking(understood(running), within=False) as ask:
        ask(f"CREATE DATABASE {DATABASE}")
    with _asking(understood(running), within=True) as ask:
        ask("CREATE TABLE sbtest1 (id INT PRIMARY KEY)")
        ask("INSERT INTO sbtest1 VALUES (7)")
    ended = executed(plan_of(store, ("prepare",)), secrets)[-1]
    assert ended["status"] == "refused" and "without dbdyno's marker" in ended["reason"]
    # Nothing there is dbdyno's, so there is nothing to remove.
    assert executed(plan_of(store, ("cleanup",)), secrets)[-1]["status"] == "complete"
    with _asking(understood(running), within=True) as ask:
        assert ask("SELECT id FROM sbtest1") == [(7,)]


@pytest.mark.parametrize("name", ["mariadb", "postgresql"])
def test_one_of_a_run_that_is_killed_before_the_marker_is_found(server, name):
    running = server(name)
    plan = understood(running)
    with _asking(plan, within=False) as ask:
        ask(_CREATE[plan.store["kind"]])
    assert phase_of(LISTED, running)["leftovers"] == [DATABASE] and len(running._query(THERE[name])) == 1
    assert phase_of(LEFTOVERS, running)["removed"] == [DATABASE] and len(running._query(THERE[name])) == 0
    assert phase_of(LISTED, running)["leftovers"] == []


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("mariadb", {"TABLE": "(id INT PRIMARY KEY)", "VIEW": "AS SELECT 1", "PROCEDURE": "() SELECT 1"}),
        ("postgresql", {"TABLE": "(id INT PRIMARY KEY)", "TYPE": "AS ENUM ('a')", "SCHEMA": ""}),
    ],
)
def test_what_others_keep_in_it_is_not_dropped_with_it(server, name, kinds):
    running, secrets = server(name), []
    store = running.store_plan(secrets) | {"database": DATABASE}
    assert executed(plan_of(store, ("prepare", "load")), secrets)[-1]["status"] == "complete"
    for kind, definition in kinds.items():
        with _asking(understood(running), within=True) as ask:
            ask(f"CREATE {kind} orders {definition}")
        for phase in ("prepare", "cleanup"):
            ended = executed(plan_of(store, (phase,)), secrets)[-1]
            assert ended["status"] == "refused" and "holds orders, which" in ended["reason"], ended
        for plan in (LISTED, LEFTOVERS):
            done = phase_of(plan, running)
            assert done.get("removed", done.get("leftovers")) == [] and "holds orders, which" in done["cannot_know"]
        with _asking(understood(running), within=True) as ask:
            ask(f"DROP {kind} orders")
    assert phase_of(LEFTOVERS, running)["removed"] == [DATABASE] and len(running._query(THERE[name])) == 0


def phase_of(plan, running):
    """Return what the end of the only phase of a plan says, which must have come to its end."""
    secrets = []
    records = executed(plan | {"store": running.store_plan(secrets)}, secrets)
    assert records[-1]["status"] == "complete", records[-1]
    return of_kind(records, "phase")[-1]


def understood(running):
    """Return a plan for a server as the program has it when it was read."""
    secrets = []
    plan = plan_of(running.store_plan(secrets))
    return read_plan(io.StringIO(f"{json.dumps(plan)}\n{json.dumps({'secrets': secrets})}\n"))


def test_a_server_that_does_not_answer_is_given_up():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        for kind in ("mysql", "postgres"):
            store = STORE | {"kind": kind, "address": {"host": "127.0.0.1", "port": silent.getsockname()[1]}}
            ended = executed(LEFTOVERS | {"store": store, "operation_timeout_s": 1}, [])[-1]
            assert ended["status"] == "failed" and "no answer within 1 s" in ended["reason"]


def test_an_answer_without_an_end_is_given_up():
    with hostile.server(hostile.mysql_rows_without_end) as port:
        plan = LEFTOVERS | {"store": STORE | {"address": {"host": "127.0.0.1", "port": port}}}
        command = [sys.executable, "-P", "-m", "dbdyno.load_sysbench", "run"]
        ended = run_bounded(command, f"{json.dumps(plan)}\n\n", kill_after_s=300)
    last = json.loads(ended.said.splitlines()[-1])
    assert last["status"] == "failed" and "an answer takes more than 96 MiB" in last["reason"]
    assert ended.peak_bytes < 300 << 20


def test_an_answer_to_sysbench_without_an_end_is_given_up():
    need_program("sysbench", "sysbench")
    with hostile.server(hostile.mysql_rows_without_end) as port:
        store, given = STORE | {"address": {"host": "127.0.0.1", "port": port}}, "--db-ps-mode=disable"
        plan = plan_of(store, ("run",), script="oltp_read_only", sysbench=given)
        command = [sys.executable, "-P", "-m", "dbdyno.load_sysbench", "run"]
        ended = run_bounded(command, f"{json.dumps(plan)}\n\n", kill_after_s=300)
    last = json.loads(ended.said.splitlines()[-1])
    assert last["status"] == "failed" and "out of memory" in last["reason"], ended
    assert ended.peak_bytes < 300 << 20


@pytest.mark.parametrize(("name", "sleep"), [("mariadb", "SELECT SLEEP(90)"), ("postgresql", "SELECT pg_sleep(90)")])
def test_a_statement_without_an_end_is_given_up(server, name, sleep, monkeypatch):
    monkeypatch.setattr("dbdyno.load_sysbench.database.STATEMENT_TIMEOUT_S", 1)
    with pytest.raises(Ended, match="no answer within 1 s"), _asking(understood(server(name)), within=False) as ask:
        ask(sleep)
