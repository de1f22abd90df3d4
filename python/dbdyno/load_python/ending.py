"""How the work of a plan ended: its last record, and the exit status."""

from __future__ import annotations

from collections.abc import Callable

from dbdyno.load_python import signals
from dbdyno.load_python.failure import Ended
from dbdyno.load_python.records import Records

_EXIT_STATUS = {"complete": 0, "interrupted": 1, "failed": 1, "refused": 2}


def conclude(records: Records, work: Callable[[], None]) -> int:
    """Do the work, write how it ended, and return the exit status of docs/contract.md.

    work: raises Ended if it did not come to its end; a signal that came meanwhile is an end too.
    """
    try:
        work()
        ended = Ended("interrupted", "stopped by a signal") if signals.stop_requested() else None
    except Ended as reason:
        ended = reason
    status = ended.status if ended else "complete"
    records.write({"record": "end", "status": status, "reason": ended.reason if ended else None})
    return _EXIT_STATUS[status]
