"""The checks of what the store holds after a run (docs/contract.md, the record `check`)."""

from __future__ import annotations

from dbdyno.contract import CheckRecord
from dbdyno.load_python.interval import Totals
from dbdyno.load_python.records import Records
from dbdyno.load_python.session import Session
from dbdyno.load_python.workloads import Workload

CANNOT_TELL = "this store cannot tell"


def sums(workload: Workload, session: Session) -> dict[str, int | None]:
    """Return the sums that the workload adds to, as they are now, by the name of what is summed."""
    return {
        f"{step.table.name}.{step.table.columns[step.column].name}": session.total(
            step.table, step.table.columns[step.column].name, workload.rows
        )
        for step in workload.steps
        if step.operation == "add"
    }


def verify(
    workload: Workload, session: Session, before: dict[str, int | None], totals: Totals | None, records: Records
) -> None:
    """Write every check; before: the sums before the run; totals: of the run, or None if there was none."""
    for table in workload.tables:
        rows = session.count(table, workload.rows)
        note = CANNOT_TELL if rows is None else None
        ok = None if rows is None else rows == workload.rows
        records.write(_check(f"rows of {table.name}", workload.rows, rows, ok, note))
    if totals is not None:
        for name, after in sums(workload, session).items():
            records.write(_growth(f"growth of the sum of {name}", before.get(name), after, totals))


def _check(name: str, expected: int, actual: int | None, ok: bool | None, note: str | None) -> CheckRecord:
    return {"record": "check", "name": name, "expected": expected, "found": actual, "ok": ok, "note": note}


def _growth(name: str, before: int | None, after: int | None, totals: Totals) -> CheckRecord:
    least, unknown = totals.added, totals.maybe_added
    if before is None or after is None:
        return _check(name, least, None, None, CANNOT_TELL)
    note = f"{unknown} more had no answer, so they may or may not have taken effect" if unknown else None
    grown = after - before
    return _check(name, least, grown, least <= grown <= least + unknown, note)
