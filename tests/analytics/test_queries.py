"""The queries of the catalogue."""

from dbdyno.analytics.queries import FULL_ROWS, least_flights, queries


def test_all_queries_are_there():
    names = [query.name for query in queries(1000)]
    q8 = ["q8-1y", "q8-2y", "q8-3y", "q8-4y", "q8-10y"]
    assert names == [*(f"q{number}" for number in range(8)), *q8, "q9", "q10"]


def test_the_ranges_of_q8_are_as_long_as_they_say():
    ranges = {query.name: query.sql for query in queries(1000)}
    assert '"Year" = 2000' in ranges["q8-1y"]
    assert "BETWEEN 2000 AND 2009" in ranges["q8-10y"]


def test_fewer_rows_ask_for_fewer_flights_but_more_do_not_ask_for_more():
    assert least_flights(FULL_ROWS) == least_flights(2 * FULL_ROWS) == 100_000
    assert least_flights(FULL_ROWS // 10) == 10_000
