"""The workload `air-traffic`: flights, generated or a person's own, and queries Q0 to Q10."""

from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path

from dbdyno.analytics.analysis import Analysis, Options
from dbdyno.analytics.columns import FLIGHTS
from dbdyno.analytics.files import Batch, Tell, checked, generated, own_files, unpacked_bytes
from dbdyno.analytics.months import FIRST, last_month, plan_months
from dbdyno.analytics.queries import queries
from dbdyno.analytics.table import Query, Table
from dbdyno.errors import UserError


class AirTraffic(Analysis):
    """Flights: of the files in the option `csv`, or generated up to the month in `until`."""

    row_bytes = 500
    """Seen: 432 in a file, 378 in InnoDB, which takes most."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._own = own_files(Path(options["csv"])) if options.get("csv") else None
        self._until = _month(options.get("until"))

    @property
    def table(self) -> Table:
        return FLIGHTS

    def source(self, rows: int, seed: int) -> str:
        if self._own:
            return self.options["csv"]
        return f"generated, {FIRST[0]}-{FIRST[1]:02d} to {self._until[0]}-{self._until[1]:02d}, seed {seed}"

    def file_bytes(self, rows: int) -> int:
        return unpacked_bytes(self._own) if self._own else super().file_bytes(rows)

    def files(self, rows: int, seed: int, folder: Path, tell: Tell) -> Iterator[Batch]:
        if self._own:
            return checked(self._own, folder, self.options.get("malformed") == "skip", tell)
        return generated(plan_months(rows, self._until), seed, folder)

    def queries(self, rows: int) -> tuple[Query, ...]:
        return queries(rows)


def _month(given: str | None) -> tuple[int, int]:
    """Return the last month to generate, as year and month; raises UserError if it is none."""
    if given is None:
        return last_month(date.today())
    try:
        month = datetime.strptime(given, "%Y-%m")
    except ValueError:
        raise UserError(f"options.until = '{given}': give a month, e.g. 2025-12") from None
    if (month.year, month.month) < FIRST:
        raise UserError(f"options.until = '{given}': the table begins in {FIRST[0]}-{FIRST[1]:02d}")
    return month.year, month.month
