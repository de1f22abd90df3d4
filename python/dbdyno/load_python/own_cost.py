"""The cost of this load client itself, without any library, so that it is not taken for the library's."""

from __future__ import annotations

import time
from collections import deque

from dbdyno.load_python.client import Client, Trial
from dbdyno.load_python.column import Value
from dbdyno.load_python.events import Completed, Failed
from dbdyno.load_python.plan import Plan
from dbdyno.load_python.session import Endpoint, Session
from dbdyno.load_python.table import Row, Table
from dbdyno.load_python.workloads import Workload, make_workload

LENGTH_S = 0.1
ROWS = 64


class _Memory(Session):
    """Answers at once, from rows made in advance; what a write needs is made, as every library's session does."""

    def __init__(self, workload: Workload, encoded: bool) -> None:
        super().__init__(Endpoint(None, 0, None, None, None, None, None, 1.0), workload.steps)
        self._encoded = encoded
        self._rows = {
            (index, step.table.columns[step.column].value(key, 0)): self._kept(step.table, key, 0)
            for index, step in enumerate(workload.steps)
            for key in range(1, workload.rows + 1)
        }

    def _kept(self, table: Table, key: int, version: int) -> Row | bytes:
        row = table.generate(key, version)
        return table.encode(row) if self._encoded else row

    @staticmethod
    def version() -> str:
        return "none"

    def get(self, step: int, key: int) -> Row | None:
        return self.find(step, key)

    def find(self, step: int, value: Value) -> Row | None:
        kept = self._rows[step, value]
        return self.steps[step].table.decode(kept) if isinstance(kept, bytes) else kept

    def update(self, step: int, key: int, version: int) -> bool:
        table: Table = self.steps[step].table
        if self._encoded:
            return bool(self._kept(table, key, version))
        return bool([column.value(key, version) for column in table.versioned])

    def add(self, step: int, key: int, delta: int) -> bool:
        return True

    def count(self, table: Table, rows: int) -> int | None:
        return rows

    def total(self, table: Table, column: str, rows: int) -> int | None:
        return None

    def close(self) -> None:
        """Nothing is open."""


def own_cpu_us(plan: Plan, encoded: bool) -> float:
    """Return the CPU time in µs that a transaction costs this load client: to choose, time, verify and note down.

    encoded: rows are bytes to the store, so that making and reading those is the load client's work.
    """
    workload = make_workload(plan.workload["name"], ROWS, plan.workload.get("options", {}))
    session = _Memory(workload, encoded)
    events: deque[Completed | Failed] = deque(maxlen=1000)
    trial = Trial(workload, lambda: session, plan.seed, 1, 1.0, plan.verify_reads, events, lambda record: None)
    client = Client(trial, 0)
    client.connect()
    began, step, until = time.thread_time(), 0, time.monotonic() + LENGTH_S
    while time.monotonic() < until:
        client.transaction(step, time.monotonic_ns())
        step += 1
    return (time.thread_time() - began) * 1e6 / step
