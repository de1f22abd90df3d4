"""The months of the flight table, and how many of its rows each has."""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import date

FIRST = (1987, 10)
"""The month the real files begin with."""

_FLIGHTS_PER_YEAR_M = {
    1987: 5.2,
    1995: 5.3,
    2000: 5.7,
    2003: 6.5,
    2007: 7.4,
    2010: 6.4,
    2015: 5.8,
    2019: 7.4,
    2022: 6.7,
}
"""Millions of flights in a year, rounded; between two of them a straight line."""
_SEASON = (0.96, 0.95, 1.03, 1.0, 1.01, 1.03, 1.05, 1.05, 0.98, 1.01, 0.97, 0.98)
_BROKEN = {(2001, 9): 0.8, (2020, 3): 0.9, (2020, 4): 0.5, (2020, 5): 0.35, (2020, 6): 0.4, (2020, 7): 0.55}
"""Months in which far fewer flights were flown."""


@dataclass(frozen=True, order=True)
class Month:
    """One month's file: `rows` flights of `year` and `month`."""

    year: int
    month: int
    rows: int

    @property
    def days(self) -> int:
        """How many days it has."""
        return calendar.monthrange(self.year, self.month)[1]


def last_month(today: date) -> tuple[int, int]:
    """Return the last whole month before `today`, as year and month."""
    return (today.year, today.month - 1) if today.month > 1 else (today.year - 1, 12)


def plan_months(rows: int, last: tuple[int, int]) -> list[Month]:
    """Share `rows` among the months from October 1987 to `last`, by real traffic; months without a row are left out.

    Rows are shared by largest remainders, so that they add up.
    """
    names = []
    year, month = FIRST
    while (year, month) <= last:
        names.append((year, month))
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)
    weights = [_weight(*name) for name in names]
    shares = [rows * weight / sum(weights) for weight in weights]
    counts = [int(share) for share in shares]
    by_remainder = sorted(range(len(names)), key=lambda index: counts[index] - shares[index])
    for index in by_remainder[: rows - sum(counts)]:
        counts[index] += 1
    return [Month(*name, count) for name, count in zip(names, counts, strict=True) if count]


def _weight(year: int, month: int) -> float:
    """Return a month's flights, in relation to other months'."""
    known = sorted(_FLIGHTS_PER_YEAR_M)
    at = max((known_year for known_year in known if known_year <= year), default=known[0])
    after = min((known_year for known_year in known if known_year > at), default=None)
    flights = _FLIGHTS_PER_YEAR_M[at]
    if after:
        flights += (_FLIGHTS_PER_YEAR_M[after] - flights) * (year - at) / (after - at)
    days = calendar.monthrange(year, month)[1]
    return flights * days * _SEASON[month - 1] * _BROKEN.get((year, month), 1.0)
