"""The native load client loads a real MariaDB: in every way it knows, with connections cut, the server killed."""

import contextlib
import json
import os
import re
import signal
import threading

import pymysql
import pytest

from dbdyno.conduct.listener import Listener
from dbdyno.conduct.load_client import Supervision, execute, why_it_failed
from dbdyno.conduct.plan import PREPARE, make_plan
from dbdyno.conduct.run import conduct
from helpers import experiment, need, system, wait_until

ROWS = 12_000


@pytest.fixture
def mariadb(launch):
    """A private MariaDB."""
    need("mariadb")
    server = system("mariadb")
    server.start(launch)
    yield server
    server.stop()


@pytest.fixture
def load(mariadb, guard, interrupts, tmp_path):
    """Have phases executed; returns the summary and the record at the end of the load."""

    def execute_phases(phases=PREPARE, name="game", **store):
        secrets, heard = [], []
        wanted = experiment(rows=ROWS, workload=name).experiment
        plan = make_plan(wanted, "run-1", phases, mariadb.store_plan(secrets) | store, wanted.workload[0], 3)
        summary = execute(plan, secrets, tmp_path, Supervision(guard, interrupts), heard.append)
        ends = [record for record in heard if record.get("phase") == "load" and record.get("state") == "end"]
        return summary, ends[0] if ends else None

    return execute_phases


@pytest.fixture
def ask(mariadb):
    """Ask the server something, on a connection of one's own."""
    endpoint = mariadb.endpoint
    login = {"user": endpoint.user, "password": endpoint.password, "database": endpoint.database}
    connection = pymysql.connect(host=endpoint.host, port=endpoint.port, autocommit=True, **login)

    def query(statement):
        with connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall()

    yield query
    # If the server was killed there is nothing left to close.
    with contextlib.suppress(pymysql.MySQLError):
        connection.close()


def test_every_way_brings_the_same_rows_and_what_is_forbidden_is_replaced(load, ask):
    seen = []
    for way, by in (
        (None, "prepared INSERT, executed in bulk"),
        ("load-data", "LOAD DATA LOCAL"),
        ("insert", "INSERT of many rows"),
        ("load-data", "INSERT of many rows"),
    ):
        ask(f"SET GLOBAL local_infile = {int(by == 'LOAD DATA LOCAL')}")
        summary, end = load(load_with=way)
        assert summary.end["status"] == "complete", summary.end
        assert (end["by"], end["rows"], end["found"]) == (by, 2 * ROWS, 0)
        seen.append(ask("CHECKSUM TABLE dbdyno_player, dbdyno_account"))
        indexes = ask("SHOW INDEX FROM dbdyno_account WHERE key_name = 'dbdyno_account_email'")
        assert [row[1] for row in indexes] == [0], "a unique one, made after the rows"
    assert seen[0] == seen[1] == seen[2] == seen[3]


def test_a_load_that_lost_rows_is_completed_and_what_it_has_is_left_alone(load, ask):
    load()
    ask("DELETE FROM dbdyno_player WHERE id % 1000 = 7")
    ask("UPDATE dbdyno_player SET version = 9 WHERE id = 8")
    ask("DROP INDEX dbdyno_account_email ON dbdyno_account")
    summary, end = load(["load"])
    assert summary.end["status"] == "complete", summary.end
    assert (end["rows"], end["found"]) == (2 * ROWS, 2 * ROWS - 12)
    assert ask("SELECT version FROM dbdyno_player WHERE id = 8") == ((9,),)
    assert ask("SHOW INDEX FROM dbdyno_account WHERE key_name = 'dbdyno_account_email'")


def cut_short(load, ask, do):
    """Load while the table is locked; `do` something with the connections that then wait for it, and unlock."""
    load(["prepare"])
    ask("LOCK TABLES dbdyno_player WRITE, dbdyno_account WRITE")
    waiting = "SELECT id FROM information_schema.processlist WHERE state LIKE 'Waiting for table metadata lock'"

    def when_they_wait():
        do(wait_until(lambda: ask(waiting)))

    helper = threading.Thread(target=when_they_wait)
    helper.start()
    try:
        return load(["load"])
    finally:
        helper.join()


def test_connections_that_are_cut_are_opened_again_and_the_load_is_whole(load, ask):
    def kill(ids):
        for (number,) in ids:
            ask(f"KILL {number}")
        ask("UNLOCK TABLES")

    summary, end = cut_short(load, ask, kill)
    assert summary.end["status"] == "complete", summary.end
    assert end["reconnected"] >= 1 and end["rows"] == 2 * ROWS
    assert ask("SELECT COUNT(*) FROM dbdyno_player") == ((ROWS,),)


def test_a_server_killed_meanwhile_is_a_clear_error(load, ask, mariadb, tmp_path):
    summary, _ = cut_short(load, ask, lambda ids: os.kill(mariadb.server_pids()["mariadb"], signal.SIGKILL))
    reason = why_it_failed(summary, tmp_path)
    assert f"loading stopped after 0 of {2 * ROWS} rows, and 5 retries failed" in reason
    assert "refused" in reason and mariadb.death()


@pytest.mark.parametrize("name", ["point-get", "point-update"])
def test_a_load_before_a_restart_is_in_the_cache_that_is_reloaded_after_it(name, tmp_path):
    need("postgresql")
    keys = {"restart": "lukewarm", "train_seconds": 1, "warmup_seconds": 0, "ceiling": False, "host": False}
    preloaded = "postgresql?shared_preload_libraries=pg_prewarm"
    named = experiment(workload=name, system=preloaded, rows=2000, clients=[2], seconds=1, **keys)
    end = conduct(named, "dbdyno run", tmp_path, Listener())
    # The checks of the content hold, too: they count from what the trial began with.
    assert (end.state, end.reason) == ("complete", None)
    (folder,) = (end.folder / "preparations").iterdir()
    records = [json.loads(line) for line in (folder / "train" / "records.jsonl").read_text().splitlines()]
    (total,) = (record for record in records if record["record"] == "total")
    assert total["transactions"]["completed"] > 0 and total["transactions"]["failed"] == 0
    log = "".join(path.read_text() for path in end.folder.glob("**/server-postgresql.log"))
    (blocks,) = set(re.findall(r"autoprewarm successfully prewarmed (\d+) of", log))
    assert int(blocks) > 0
