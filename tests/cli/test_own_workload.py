"""The examples of own workloads, and sysbench's set, on real stores: nothing fails, and every answer is right."""

import json
import re
from pathlib import Path

import pytest

from helpers import need

EXAMPLES = Path(__file__).parents[2] / "examples"
SMALL = ("--rows", "200", "--clients", "2", "--seconds", "1", "--warmup", "0", "--quiet", "--no-observe")
ALONE = (*SMALL, "--set", "ceiling=false", "--set", "host=false")


ITEMS = """
workload = "items"
system = "sqlite"
rows = 200
clients = 2
seconds = 1

[workloads.items]
access = { kind = "zipfian", exponent = 0.5, scrambled = true }
tables = [{ name = "item", columns = [
    { name = "id", kind = "int", generator = "key" },
    { name = "version", kind = "int", generator = "version" },
    { name = "s", kind = "varchar(9)", generator = "versioned-letters", size = { kind = "uniform", from = 0, to = 9 } },
] }]
"""


def items(path: Path, *operations: str) -> str:
    """Write an experiment whose transactions are these operations on one table, each as often."""
    transactions = (
        f'[[workloads.items.transactions]]\nname = "kind_{i}"\n'
        f'operations = [{{ operation = "{operation}", table = "item"{more} }}]\n'
        for i, (operation, _, more) in enumerate(line.partition(",") for line in operations)
        for more in [f", {more}" if more else ""]
    )
    path.write_text(ITEMS + "\n".join(transactions))
    return str(path)


def trials(dbdyno, *arguments: str) -> list[dict]:
    """Run on some stores, and return what is said of each trial, none of which may have an error."""
    assert dbdyno("run", *arguments, *ALONE) == (0, "", "")
    trials_run = json.loads(dbdyno("show", "last", "--json")[1])["trials"]
    for trial in trials_run:
        assert trial["errors"] == 0 and trial["transactions"] > 0
    return trials_run


def test_a_session_store_runs_on_key_value_and_sql_stores(dbdyno):
    need("redis", "mariadb")
    systems = [part for name in ("redis", "mariadb", "sqlite", "lmdb") for part in ("--system", name)]
    for trial in trials(dbdyno, str(EXAMPLES / "session-store.toml"), *systems):
        steps = {name: operation["operation"] for name, operation in trial["operations"].items()}
        kinds = dict.fromkeys(("look", "renew", "expire", "sign_in"), "transaction")
        operations = {"get_session": "get", "update_session": "update", "insert_session": "insert"}
        assert steps == operations | kinds
        assert trial["reads_verified"] > 0


def test_an_event_log_reads_ranges_of_time(dbdyno):
    need("mariadb", "postgresql")
    systems = [part for name in ("mariadb", "postgresql", "sqlite") for part in ("--system", name)]
    for trial in trials(dbdyno, str(EXAMPLES / "event-log.toml"), *systems):
        assert {"append", "chart", "dashboard", "range", "severe", "insert_event"} <= set(trial["operations"])
        assert trial["reads_verified"] > trial["transactions"]


def test_a_store_that_cannot_is_refused_with_those_that_can(dbdyno):
    status, _, said = dbdyno("run", str(EXAMPLES / "event-log.toml"), "--system", "redis", *ALONE)
    assert (
        status == 2 and "the workload 'event-log' needs to find rows by a secondary index" in said and "mariadb" in said
    )


SCAN = 'scan, length = { kind = "uniform", from = 1, to = 9 }'


@pytest.mark.parametrize("system", ["mariadb", "postgresql", "sqlite", "lmdb"])
def test_rows_are_deleted_and_scanned_and_all_are_accounted_for(system, dbdyno, tmp_path):
    if system in ("mariadb", "postgresql"):
        need(system)
    file = items(tmp_path / "items.toml", "get", "insert", "delete", SCAN)
    (trial,) = trials(dbdyno, file, "--system", system)
    done = trial["operations"]
    assert {"get_item", "insert_item", "delete_item", "scan_item"} <= set(done)
    # Scans verify several rows each.
    assert trial["reads_verified"] > done["scan_item"]["count"]
    (check,) = (check for check in trial["checks"] if "rows added to item" in check["name"])
    assert check["ok"]


@pytest.mark.parametrize("system", ["mariadb", "postgresql", "sqlite", "lmdb", "redis", "memcached"])
def test_rows_are_put_and_changed_after_they_are_read(system, dbdyno, tmp_path):
    need(system)
    file = items(tmp_path / "items.toml", "get", "put", "read-modify-write", 'get, access = "latest"')
    (trial,) = trials(dbdyno, file, "--system", system)
    done = trial["operations"]
    assert {"get_item", "put_item", "update_item"} <= set(done)
    assert trial["reads_verified"] > 0


@pytest.mark.parametrize("system", ["redis", "memcached"])
def test_what_expires_or_is_deleted_may_be_missing_in_a_cache(system, dbdyno, tmp_path):
    need(system)
    file = items(tmp_path / "items.toml", "get", "put, ttl_s = 1", "delete")
    (trial,) = trials(dbdyno, file, "--system", system)
    done = trial["operations"]
    assert {"get_item", "put_item_ttl_1", "delete_item"} <= set(done)
    # Some were deleted when they were looked for, and no such read is verified.
    assert 0 < trial["reads_verified"] < done["get_item"]["count"]


@pytest.mark.parametrize(
    ("system", "operation", "said"),
    [
        ("redis", SCAN, "to read rows in the order of their keys"),
        ("sqlite", "put, ttl_s = 9", "to let a row expire by itself.*memcached, redis|redis.*memcached"),
        ("handlersocket", "put", "either inserts a row or changes one"),
    ],
)
def test_what_a_store_cannot_do_is_refused(system, operation, said, dbdyno, tmp_path):
    status, _, refused = dbdyno("run", items(tmp_path / "items.toml", operation), "--system", system, *ALONE)
    assert status == 2 and re.search(said, refused)


def test_an_answer_with_another_number_of_rows_is_a_mismatch(dbdyno, tmp_path):
    text = (EXAMPLES / "event-log.toml").read_text()
    (tmp_path / "wrong.toml").write_text(text.replace("rows = [1, 120]", "rows = [121, 200]"))
    status, _, said = dbdyno("run", str(tmp_path / "wrong.toml"), "--system", "sqlite", *ALONE)
    assert status == 1 and "rows read were not what was written" in said


@pytest.mark.parametrize(
    ("system", "sets"),
    [
        ("mariadb", ["read_write", "insert", "select_random_points", "select_random_ranges"]),
        ("postgresql", ["read_write", "delete"]),
        ("sqlite", ["read_write", "bulk_insert"]),
    ],
)
def test_a_set_of_sysbench_is_answered_rightly(dbdyno, system, sets):
    if system != "sqlite":
        need(system)
    trials_run = trials(dbdyno, "oltp", "--system", system, "--set", f"options.set={json.dumps(sets)}")
    assert len(trials_run) == len(sets)
    read_write = trials_run[0]
    assert read_write["reads_verified"] > 100 * read_write["transactions"]
    operations = {name: operation["operation"] for name, operation in read_write["operations"].items()}
    assert operations["distinct_range"] == "sql" and operations["commit"] == "commit"
