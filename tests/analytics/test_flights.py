"""Generated flights: the format of the real files, and what they have in common with real flights."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from dbdyno.analytics.columns import COLUMNS
from dbdyno.analytics.flights import CHUNK_ROWS, write_file
from dbdyno.analytics.months import Month

NAMES = [column.name for column in COLUMNS]


def flights(path: Path, seed: int, *months: Month) -> list[dict[str, str]]:
    write_file(path, seed, list(months))
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == [*NAMES, ""]
    assert {len(row) for row in rows} <= {110}
    return [dict(zip(NAMES, row, strict=False)) for row in rows]


@pytest.fixture(scope="module")
def july(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    return flights(tmp_path_factory.mktemp("flights") / "july.csv", 1, Month(2009, 7, 20_000))


def test_the_lines_look_like_the_real_ones(tmp_path):
    write_file(tmp_path / "a.csv", 1, [Month(2009, 7, 3)])
    header, *lines = (tmp_path / "a.csv").read_text().splitlines()
    assert header.startswith('"Year","Quarter","Month",')
    assert header.endswith('"Div5TailNum",')
    assert all(line.startswith("2009,3,7,") and line.endswith(",") for line in lines)


def test_rows_are_a_function_of_seed_and_month(tmp_path):
    months = Month(2009, 7, 100), Month(2009, 8, 100)
    both = flights(tmp_path / "both.csv", 1, *months)
    alone = flights(tmp_path / "alone.csv", 1, months[1])
    assert both[100:] == alone
    assert flights(tmp_path / "other.csv", 2, months[1]) != alone


def test_there_are_as_many_rows_as_asked_for_across_chunks(tmp_path):
    write_file(tmp_path / "a.csv", 1, [Month(2009, 7, CHUNK_ROWS + 7)])
    assert (tmp_path / "a.csv").read_bytes().count(b"\n") == 1 + CHUNK_ROWS + 7


def test_airlines_come_and_go(tmp_path):
    early = {row["Reporting_Airline"] for row in flights(tmp_path / "a.csv", 1, Month(1988, 1, 5000))}
    late = {row["Reporting_Airline"] for row in flights(tmp_path / "b.csv", 1, Month(2024, 1, 5000))}
    assert {"EA", "PI", "TW"} <= early
    assert {"NK", "YX"} <= late
    assert not {"EA", "TW", "CO"} & late


def test_delays_have_a_heavy_tail_and_follow_from_each_other(july):
    delays = sorted(int(float(row["DepDelay"])) for row in july if row["DepDelay"])
    assert delays[len(delays) // 2] < 3
    assert 0.1 < sum(delay >= 15 for delay in delays) / len(delays) < 0.35
    assert delays[-20] > 150
    for row in july:
        if row["ArrDelay"]:
            delay = float(row["ArrDelay"])
            assert float(row["ArrDelayMinutes"]) == max(0, delay)
            assert float(row["ArrDel15"]) == (delay >= 15)
            causes = [float(row[name]) for name in NAMES[56:61] if row[name]]
            assert sum(causes) == (delay if delay >= 15 else 0)


def test_what_did_not_take_place_has_no_times(july):
    cancelled = [row for row in july if row["Cancelled"] == "1.00"]
    diverted = [row for row in july if row["Diverted"] == "1.00"]
    assert cancelled and diverted
    assert not any(row["DepTime"] or row["ArrDelay"] or row["TaxiOut"] for row in cancelled)
    assert all(row["CancellationCode"] in "ABCD" and row["CancellationCode"] for row in cancelled)
    assert all(row["Div1Airport"] and not row["ArrTime"] for row in diverted)


def test_traffic_is_that_of_airports_and_weekdays(july):
    origins = Counter(row["Origin"] for row in july)
    assert origins["ATL"] > 5 * origins["BTV"] > 0
    assert not any(row["Origin"] == row["Dest"] for row in july)
    # Four Saturdays and four Mondays in that July.
    days = Counter(row["DayOfWeek"] for row in july)
    assert days["6"] < days["1"]


def test_columns_that_came_later_are_empty_before(tmp_path):
    rows = flights(tmp_path / "a.csv", 1, Month(1990, 3, 500))
    assert not any(row["Tail_Number"] or row["TaxiOut"] or row["CarrierDelay"] for row in rows)
