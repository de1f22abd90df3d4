"""The examples of own workloads, and sysbench's set, on real stores: nothing fails, and every answer is right."""

import json
from pathlib import Path

import pytest

from helpers import need

EXAMPLES = Path(__file__).parents[2] / "examples"
SMALL = ("--rows", "200", "--clients", "2", "--seconds", "1", "--warmup", "0", "--quiet", "--no-observe")
ALONE = (*SMALL, "--set", "ceiling=false", "--set", "host=false")


def trials(dbdyno, *arguments: str) -> list[dict]:
    """Run on some stores, and return what is said of each trial, none of which may have an error."""
    assert dbdyno("run", *arguments, *ALONE) == (0, "", "")
    found = json.loads(dbdyno("show", "last", "--json")[1])["trials"]
    for trial in found:
        assert trial["errors"] == 0 and trial["transactions"] > 0
    return found


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
    found = trials(dbdyno, "oltp", "--system", system, "--set", f"options.set={json.dumps(sets)}")
    assert len(found) == len(sets)
    read_write = found[0]
    assert read_write["reads_verified"] > 100 * read_write["transactions"]
    operations = {name: operation["operation"] for name, operation in read_write["operations"].items()}
    assert operations["distinct_range"] == "sql" and operations["commit"] == "commit"
