"""Shared by the tests of the load client that is sysbench: plans, and the program as dbdyno starts it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from contract_schema import assert_documents
from dbdyno.systems.base import Launch, System
from helpers import need, need_program, system

SOURCES = Path(__file__).parents[2] / "python"
STORE = {"kind": "mysql", "address": {"host": "127.0.0.1", "port": 1}, "user": "u", "password": None, "database": "d"}


def plan_of(store: dict[str, Any], phases: tuple[str, ...] = ("load", "run"), **options: str) -> dict[str, Any]:
    """Return a plan of two clients for two seconds after one, with these options of the workload."""
    return {
        "contract": 1,
        "library": "sysbench",
        "phases": list(phases),
        "store": store,
        "workload": {"name": "sysbench", "rows": 100, "options": options},
        "clients": {"first": 0, "count": 2, "of": 2},
        "warmup_s": 1,
        "duration_s": 2,
        "cpus": None,
    }


def started() -> subprocess.Popen:
    """Start the program, with this Python."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "dbdyno.load_sysbench", "run"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
    )


def executed(plan: dict[str, Any], secrets: list[str]) -> list[dict[str, Any]]:
    """Give the program a plan, and return its records, which keep the contract."""
    out, _ = started().communicate(f"{json.dumps(plan)}\n{json.dumps({'secrets': secrets})}\n", timeout=60)
    records = [json.loads(line) for line in out.splitlines()]
    assert_documents(("record", record) for record in records)
    return records


def of_kind(records: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    """Return the records of a kind."""
    return [record for record in records if record["record"] == kind]


@pytest.fixture
def server(launch: Launch) -> Iterator[Callable[[str], System]]:
    """Return a function that starts a private server for the time of the test."""
    running: list[System] = []

    def start(name: str) -> System:
        need(name)
        need_program("sysbench", "sysbench")
        running.append(system(name))
        running[-1].start(launch)
        return running[-1]

    yield start
    for running_server in running:
        running_server.stop()
