"""The limit that old row versions are: every transaction passes more of them (docs/statistics.md, section 5.4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dbdyno.verdict.evidence import Measured

PAGES = (("page_requests_total",), ("page_hits_total", "page_reads_total"))
"""Ends of the names of counters of the pages that a server looked at; what is in one row is counted together."""
VERSIONS = ("history_list_length", "dead_rows")
"""Ends of the names of how many old versions a server has."""
MORE_PAGES, MORE_VERSIONS = 2.0, 2.0
"""Times the pages of a transaction, and the old versions, that the last third of a trial has of those of the first."""
LEAST_VERSIONS = 10_000
"""Old versions below this number delay nobody."""


def old_versions(measured: Measured) -> Iterator[str]:
    """Yield what says that old versions of rows took the time of transactions."""
    for server in measured.trial.server_names:
        yield from _passed(measured, server)


def _passed(measured: Measured, server: str) -> Iterator[str]:
    """Transactions look at more and more pages while old versions pile up."""
    first, last = measured.third(0), measured.third(2)
    versions = [(first.mean(name), last.mean(name)) for name in _columns(measured, server, VERSIONS)]
    grown = [(before, now) for before, now in versions if before is not None and now is not None]
    for ends in PAGES:
        counters = _columns(measured, server, ends)
        if len(counters) < len(ends):
            continue
        rates = [part.rate(*counters) or 0.0 for part in (first, last)]
        done = [part.completed_per_s() for part in (first, last)]
        each = [rate / per_s for rate, per_s in zip(rates, done, strict=True) if per_s]
        for before, now in grown if len(each) == 2 else ():
            if now >= max(LEAST_VERSIONS, MORE_VERSIONS * before) and each[1] >= MORE_PAGES * each[0] > 0:
                pages = f"{each[1]:,.3g} pages of {server} for a transaction at the end, {each[0]:,.3g} at first"
                yield f"{pages}, while its old row versions grew from {before:,.0f} to {now:,.0f}"


def _columns(measured: Measured, server: str, ends: tuple[str, ...]) -> list[str]:
    """Return the columns of a server's figures whose names end so."""
    return [name for name in measured.observations.names(f"store.{server}.") if name.endswith(ends)]
