"""Plans to load clients and the records of each of them match docs/contract.schema.json."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypedDict, get_args, get_type_hints

import pytest
from jsonschema import Draft202012Validator

from contract_schema import DOCS, SCHEMA, assert_documents, wrong_in
from contract_types import shape_of_schema, shape_of_type
from dbdyno import contract
from dbdyno.conduct.listener import Listener
from dbdyno.conduct.load_client import find_load_client
from dbdyno.conduct.run import conduct
from golden.stored import names, unpack
from helpers import experiment, need, need_program

CONTRACT = (DOCS / "contract.md").read_text()
LEAST = {"rows": 50, "clients": [2], "seconds": 1, "warmup_seconds": 0, "host": False, "observe": False}
ALONE = LEAST | {"clients": [1]}


def written(folder: Path) -> Iterator[tuple[str, Any]]:
    """Yield every plan and every whole record in a run's folder; a killed load client leaves half a line."""
    for path in sorted(folder.rglob("plan.json")):
        yield "plan", json.loads(path.read_text())
    for path in sorted(folder.rglob("records.jsonl")):
        for line in path.read_bytes().split(b"\n")[:-1]:
            yield "record", json.loads(line)


def assert_kept(folder: Path) -> set[str]:
    """Assert that a run's plans and records are as the contract has them; returns the programs that recorded it."""
    documents = list(written(folder))
    assert any(what == "record" for what, _ in documents)
    assert_documents(documents)
    return {document["program"] for _, document in documents if document.get("record") == "hello"}


def kinds_of(record: type) -> tuple[str, ...]:
    """Return the values that the key `record` of a record's type can have."""
    return get_args(get_type_hints(record)["record"])


def test_it_is_a_schema():
    Draft202012Validator.check_schema(SCHEMA)


def test_it_has_the_records_that_are_documented():
    table = CONTRACT.partition("## The records")[2].partition("### interval")[0]
    documented = set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))
    assert set(SCHEMA["$defs"]["record"]["properties"]["record"]["enum"]) == documented


def test_it_has_the_stores_that_are_documented():
    table = CONTRACT.partition("### Stores")[2].partition("## The records")[0]
    documented = set(re.findall(r"^\| `([\w-]+)` \|", table, re.MULTILINE)) - {"kind"}
    assert set(SCHEMA["$defs"]["store"]["properties"]["kind"]["enum"]) == documented


RECORD_TYPES = {f"record-{kind}": record for record in get_args(contract.Record) for kind in kinds_of(record)}
TYPES = RECORD_TYPES | {
    "plan": contract.PlanDocument,
    "changes": contract.ChangesDocument,
    "histogram": contract.HistogramRecord,
    "counted": contract.CountedRecord,
    "total_counted": contract.TotalCountedRecord,
}


@pytest.mark.parametrize("name", TYPES)
def test_its_types_are_the_schema(name):
    definitions = SCHEMA["$defs"] | {"store": {"type": "object"}}
    assert shape_of_type(TYPES[name]) == shape_of_schema(definitions[name], definitions)


def test_every_record_has_a_type():
    assert set(RECORD_TYPES) == {f"record-{kind}" for kind in SCHEMA["$defs"]["record"]["properties"]["record"]["enum"]}


@pytest.mark.parametrize(
    "other",
    [
        {"type": "object", "properties": {"seed": {"type": "integer"}}, "required": []},
        {"type": "object", "properties": {"seed": {"type": "number"}}, "required": ["seed"]},
        {"type": "object", "properties": {"seed": {"type": ["integer", "null"]}}, "required": ["seed"]},
        {"type": "object", "properties": {"seed": {"const": 1}}, "required": ["seed"]},
        {"type": "object", "properties": {}, "required": []},
    ],
)
def test_a_type_that_differs_is_seen(other):
    class Seed(TypedDict):
        seed: int

    same = {"type": "object", "properties": {"seed": {"type": "integer", "minimum": 0}}, "required": ["seed"]}
    assert shape_of_type(Seed) == shape_of_schema(same, {})
    assert shape_of_type(Seed) != shape_of_schema(other, {})


@pytest.mark.parametrize("name", names())
def test_recorded_runs_keep_it(name, tmp_path):
    assert_kept(unpack(name, tmp_path))


@pytest.mark.parametrize(
    ("keys", "systems", "programs"),
    [
        (LEAST | {"workload": "game", "system": "sqlite"}, (), {"dbdyno-load"}),
        (LEAST | {"workload": "insert-indexes", "system": "sqlite", "options": {"indexes": 2}}, (), {"dbdyno-load"}),
        (LEAST | {"workload": "durability", "system": "sqlite"}, (), {"dbdyno-load"}),
        (LEAST | {"workload": "point-get", "system": "redis", "rate": 500}, ("redis",), {"dbdyno-load"}),
        (
            LEAST | {"workload": "point-get", "system": "redis", "client": "redis-py"},
            ("redis",),
            {"dbdyno-load", "dbdyno-load-python"},
        ),
        (
            LEAST | {"workload": "sysbench", "system": "mariadb", "options": {"script": "oltp_point_select"}},
            ("mariadb",),
            {"sysbench"},
        ),
        (ALONE | {"workload": "wide-rows", "system": "sqlite"}, (), {"dbdyno"}),
        (ALONE | {"workload": "dump-restore", "system": "sqlite"}, (), {"dbdyno", "dbdyno-load"}),
    ],
    ids=["native", "checks", "read back", "open loop", "client library", "sysbench", "analysis", "copy"],
)
def test_every_producer_keeps_it(keys, systems, programs, tmp_path):
    need(*systems)
    if keys["workload"] == "sysbench":
        need_program("sysbench", "sysbench")
    if keys["workload"] == "dump-restore":
        need_program("sqlite3", "sqlite3")
    end = conduct(experiment(**keys), "dbdyno run", tmp_path, Listener())
    assert (end.state, end.reason) == ("complete", None)
    assert assert_kept(end.folder) == programs


GAME = {"name": "game", "rows": 50, "options": {}}
SQLITE = {
    "kind": "sqlite",
    "journal_mode": "wal",
    "synchronous": "normal",
    "cache_size_kib": 2000,
    "mmap_size_bytes": 0,
}
PLAN = {
    "contract": 1,
    "phases": ["run"],
    "store": {"kind": "memcached", "address": {"unix": "/s"}},
    "workload": {"name": "point-get", "rows": 1, "options": {}},
    "seed": 1,
    "clients": {"first": 0, "count": 1, "of": 1},
    "start_at_unix_s": None,
    "warmup_s": 0,
    "duration_s": 1,
    "operation_timeout_s": 10,
    "threads": None,
    "cpus": None,
    "verify_reads": True,
    "arrivals": None,
    "pipeline": 1,
    "network_delay_us": 0,
    "run_id": "r",
}
END = {"record": "end", "status": "complete", "reason": None}


@pytest.mark.parametrize(
    ("keys", "kinds", "status"),
    [
        (
            {"phases": ["run"], "clients": {"first": 0, "count": 1, "of": 2}},
            {"hello", "interval", "total", "changes"},
            "complete",
        ),
        ({"query_plans": True}, {"hello", "query_plan", "total"}, "complete"),
        ({"phases": ["list"], "workload": None}, {"phase"}, "complete"),
        ({"phases": ["cleanup"]}, {"hello", "phase"}, "complete"),
        ({"workload": GAME | {"name": "nosuch"}}, set(), "refused"),
    ],
    ids=["a part of the clients", "query plans", "list", "cleanup", "refused"],
)
def test_what_runs_of_experiments_do_not_have_keeps_it(keys, kinds, status, tmp_path):
    native(tmp_path, phases=["prepare", "load"])
    records = native(tmp_path, **keys)
    assert {record["record"] for record in records} >= kinds
    assert records[-1]["status"] == status


def native(folder: Path, **keys: Any) -> list[Any]:
    """Have the native load client execute a plan on SQLite; return its records. Plan and records keep the contract."""
    plan = PLAN | {"store": SQLITE | {"path": str(folder / "data")}, "workload": GAME} | keys
    ran = subprocess.run(
        [find_load_client(), "run"], input=json.dumps(plan) + "\n", stdout=subprocess.PIPE, text=True, check=False
    )
    records = [json.loads(line) for line in ran.stdout.splitlines()]
    assert_documents([("plan", plan), *(("record", record) for record in records)])
    return records


@pytest.mark.parametrize(
    ("what", "right", "wrong"),
    [
        ("plan", PLAN, {"contract": 2}),
        ("plan", PLAN, {"secret": "s"}),
        ("plan", PLAN, {"phases": ["runn"]}),
        ("plan", PLAN, {"store": {"kind": "memcached", "address": {"unix": "/s"}, "password": "open"}}),
        ("plan", PLAN, {"store": {"kind": "nosuch"}}),
        ("plan", PLAN, {"arrivals": {"kind": "constant", "segments": []}}),
        ("record", END, {"status": "ended"}),
        ("record", END, {"record": "nosuch"}),
        ("record", END, {"more": 1}),
        ("record", {"record": "progress", "phase": "load", "done": 1, "total": 2, "unit": "rows"}, {"done": -1}),
    ],
)
def test_what_is_not_the_contract_is_found(what, right, wrong):
    assert wrong_in(what, right) == []
    assert wrong_in(what, right | wrong)
