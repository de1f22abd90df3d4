"""Shared by the tests of the Python load client: stores that the native one has loaded, and plans."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from contract_schema import assert_documents
from dbdyno.conduct.load_client import find_load_client
from dbdyno.load_python.plan import Plan, read_plan
from dbdyno.load_python.session import Endpoint
from dbdyno.systems.base import Launch
from helpers import need, system

ROWS = 50
SOURCES = Path(__file__).parents[2] / "python"


def plan_of(store: dict[str, Any], workload: str, phases: tuple[str, ...] = ("run", "verify"), **keys: Any) -> dict:
    """Return a plan of one client for a second, with `keys` replacing its own."""
    return {
        "contract": 1,
        "phases": list(phases),
        "store": store,
        "workload": {"name": workload, "rows": ROWS, "options": {}},
        "seed": 7,
        "clients": {"first": 0, "count": 1, "of": 1},
        "start_at_unix_s": None,
        "warmup_s": 0,
        "duration_s": 1,
        "operation_timeout_s": 5,
        "threads": None,
        "cpus": None,
        "verify_reads": True,
        "run_id": "test",
    } | keys


def python_load_client(*arguments: str) -> subprocess.Popen:
    """Start the Python load client, with this Python."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "dbdyno.load_python", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
    )


def execute(command: subprocess.Popen, plan: dict, secrets: list[str]) -> list[dict]:
    """Give a load client its plan, and return its records, which keep the contract."""
    out, _ = command.communicate(f"{json.dumps(plan)}\n{json.dumps({'secrets': secrets})}\n")
    records = [json.loads(line) for line in out.splitlines()]
    assert_documents(("record", record) for record in records)
    return records


class Loaded:
    """A started system that the native load client has loaded with a workload; `store` and `secrets` of its plans."""

    def __init__(self, started: Any, workload: str) -> None:
        self.system, self.workload, self.secrets = started, workload, []
        self.store = started.store_plan(self.secrets)

    def native(self, *phases: str, **keys: Any) -> list[dict]:
        """Have the native load client execute a plan, which must be right; return its records."""
        command = subprocess.Popen(
            [find_load_client(), "run"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        records = execute(command, plan_of(self.store, self.workload, phases, **keys), self.secrets)
        assert records[-1]["status"] == "complete", records[-1]
        return records

    def python(self, library: str, **keys: Any) -> list[dict]:
        """Have the Python load client execute a plan with a library; return its records."""
        plan = plan_of(self.store, self.workload, **{"library": library} | keys)
        return execute(python_load_client("run"), plan, self.secrets)

    def plan(self, library: str, **keys: Any) -> Plan:
        """Return a plan of the Python load client with a library as it reads it."""
        plan = plan_of(self.store, self.workload, **{"library": library} | keys)
        return read_plan(io.StringIO(f"{json.dumps(plan)}\n{json.dumps({'secrets': self.secrets})}\n"))

    def endpoint(self, **keys: Any) -> Endpoint:
        """Return where its server is, with `keys` replaced."""
        address, layout = self.store["address"], self.store.get("layout")
        known = {
            "host": address.get("host"),
            "port": address.get("port", 0),
            "socket": address.get("unix"),
            "user": self.store.get("user"),
            "password": self.secrets[0] if self.secrets else None,
            "database": None if self.store.get("database") is None else str(self.store["database"]),
            "layout": "string" if layout == "auto" else layout,
            "timeout_s": 5.0,
        }
        return Endpoint(**known | keys)


@pytest.fixture
def loaded(launch: Launch) -> Iterator[Callable[[str, str], Loaded]]:
    """Return a function that starts a system and has the native load client load it."""
    started = []

    def load(text: str, workload: str) -> Loaded:
        need(text)
        store_system = system(text)
        started.append(store_system)
        store_system.start(launch)
        store = Loaded(store_system, workload)
        store.native("prepare", "load")
        return store

    yield load
    for store_system in started:
        store_system.stop()
