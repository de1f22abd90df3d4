"""Queries Q0 to Q10 over the flight table (Percona's air traffic benchmark, 2009).

Their SQL is what all stores have in common. Ratios are of binary floating point (`1e0`), and every order is total, so
that all stores must give the same answer to the last row.
"""

from dbdyno.analytics.columns import TABLE
from dbdyno.analytics.table import Query

FULL_ROWS = 117_000_000
"""Rows of the real table when its queries were written; Q10's least number of flights is for these."""
FULL_FLIGHTS = 100_000
YEAR, WEEKDAY, ORIGIN = '"Year"', '"DayOfWeek"', '"Origin"'
CARRIER = '"IATA_CODE_Reporting_Airline"'


def queries(rows: int) -> tuple[Query, ...]:
    """Return the queries, Q8 once for each of its ranges of years, for a table of so many rows."""
    return (
        Query(
            "q0",
            "average flights per month",
            "SELECT SUM(c) * 1e0 / COUNT(*) FROM "
            f'(SELECT "Year", "Month", COUNT(*) AS c FROM {TABLE} GROUP BY "Year", "Month") t',
        ),
        Query("q1", "flights per weekday, 2000-2008", _counts(WEEKDAY, _years(2000, 2008))),
        Query("q2", "late flights per weekday, 2000-2008", _counts(WEEKDAY, f"{_LATE} AND {_years(2000, 2008)}")),
        Query("q3", "origins with most delays, 2000-2008", _counts(ORIGIN, f"{_LATE} AND {_years(2000, 2008)}", 10)),
        Query("q4", "delays per carrier, 2007", _counts(CARRIER, f"{_LATE} AND {_years(2007, 2007)}")),
        Query("q5", "share delayed per carrier, 2007", _share(CARRIER, _years(2007, 2007))),
        Query("q6", "share delayed per carrier, 2000-2008", _share(CARRIER, _years(2000, 2008))),
        Query("q7", "share delayed per year", _share(YEAR, "1 = 1")),
        *(_q8(years) for years in (1, 2, 3, 4, 10)),
        Query("q9", "flights per year", f"SELECT {YEAR}, COUNT(*) AS c FROM {TABLE} GROUP BY {YEAR} ORDER BY {YEAR}"),
        _q10(least_flights(rows)),
    )


def least_flights(rows: int) -> int:
    """Return how many flights a carrier of Q10 has more than: 100,000, and of a smaller table as much less."""
    return min(FULL_FLIGHTS, FULL_FLIGHTS * rows // FULL_ROWS)


_LATE = '"DepDelay" > 10'


def _years(first: int, last: int) -> str:
    return f"{YEAR} BETWEEN {first} AND {last}" if first < last else f"{YEAR} = {first}"


def _counts(column: str, where: str, limit: int | None = None) -> str:
    end = f" LIMIT {limit}" if limit else ""
    return f"SELECT {column}, COUNT(*) AS c FROM {TABLE} WHERE {where} GROUP BY {column} ORDER BY c DESC, {column}{end}"


def _share(column: str, where: str) -> str:
    """Return flights that were late, all flights and their ratio in thousandths, per value of a column."""
    late, of_all = (
        f"(SELECT {column} AS g, COUNT(*) AS c FROM {TABLE} WHERE {condition} GROUP BY {column})"
        for condition in (f"{_LATE} AND {where}", where)
    )
    order = "t.g" if column == YEAR else "c3 DESC, t.g"
    ratio = "t.c * 1000e0 / t2.c AS c3"
    return f"SELECT t.g, t.c, t2.c AS c2, {ratio} FROM {late} t JOIN {of_all} t2 ON t.g = t2.g ORDER BY {order}"


def _q8(years: int) -> Query:
    last = 1999 + years
    return Query(
        f"q8-{years}y",
        f"destinations from most cities, {years} year{'s' if years > 1 else ''}",
        f'SELECT "DestCityName", COUNT(DISTINCT "OriginCityName") AS c FROM {TABLE} WHERE {_years(2000, last)} '
        'GROUP BY "DestCityName" ORDER BY c DESC, "DestCityName" LIMIT 10',
    )


def _q10(flights: int) -> Query:
    mainland = " AND ".join(f"\"{end}State\" NOT IN ('AK', 'HI', 'PR', 'VI')" for end in ("Origin", "Dest"))
    late = 'SUM(CASE WHEN "ArrDelayMinutes" > 30 THEN 1 ELSE 0 END)'
    return Query(
        "q10",
        f"rate of carriers with over {flights:,} flights",
        f"SELECT MIN({YEAR}), MAX({YEAR}), {CARRIER}, COUNT(*) AS cnt, {late} AS late, {late} * 1e0 / COUNT(*) AS rate "
        f"FROM {TABLE} WHERE {WEEKDAY} NOT IN (6, 7) AND {mainland} AND \"FlightDate\" < '2010-01-01' "
        f"GROUP BY {CARRIER} HAVING COUNT(*) > {flights} AND MAX({YEAR}) > 1990 "
        f"ORDER BY rate DESC, {CARRIER} LIMIT 1000",
    )
