"""The effect of a workload's logical operations (docs/contract.md, hello) on a store's rows: read or write.

Others are unknown: a workload's own SQL statement may do either, and transactions are begun and ended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dbdyno.results.model import Operation, Recorded

GETS = frozenset({"get", "get-elsewhere", "get-many", "find", "sum-range"})
CHANGES = frozenset({"update", "insert", "add"})
READS, WRITES, NEITHER = "reads", "writes", "neither"
KIND = "transaction"
"""The operation that stands for whole transactions of one kind (docs/contract.md)."""
CLIENTS = "clients"
"""The operation that stands for the whole transactions of a group of clients."""
CONNECT = "connect"
"""Opening a connection, if clients open several."""
_CONTROL = frozenset({"begin", "commit", "rollback"})


def group_of(operation: str | None) -> str:
    """Return READS, WRITES or NEITHER: transaction control, and what may be either."""
    if operation in GETS:
        return READS
    return WRITES if operation in CHANGES else NEITHER


def issued(recorded: Recorded) -> list[tuple[int, int]]:
    """Return how often each operation completed and failed, without those that stand for groups of clients."""
    groups = {operation.name for operation in recorded.operations if operation.operation == CLIENTS}
    return [counted for name, counted in recorded.sums.operations.items() if name not in groups]


def write_commits(operations: Iterable[Operation]) -> int | None:
    """Return the fewest commits of the measured seconds that have written, or `None` if nothing tells.

    A write outside of a transaction is a separate commit; within one, several may share it. If there are
    transactions of several kinds, nothing tells which of the commits were theirs.
    """
    counted: Counter[str] = Counter()
    for operation in (operation for operation in operations if operation.operation not in (CLIENTS, CONNECT)):
        counted[str(operation.operation)] += operation.service_time.count
    writes = sum(counted[name] for name in CHANGES)
    if not counted or (not writes and not counted.keys() <= GETS | CHANGES | _CONTROL | {KIND}):
        return None
    if not writes or "commit" not in counted:
        return writes
    return None if KIND in counted else min(writes, counted["commit"])
