"""All that load and ask whole tables do it alike: each store's answers to the same file."""

import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

import helpers
from dbdyno.analytics.answers import difference, plain
from dbdyno.analytics.columns import COLUMNS, FLIGHTS, TABLE
from dbdyno.analytics.flights import write_file
from dbdyno.analytics.months import Month
from dbdyno.analytics.queries import queries
from dbdyno.analytics.wide_rows import LAYOUTS, WideRows
from dbdyno.analytics.wide_rows import TABLE as WIDE
from dbdyno.errors import RunFailed
from dbdyno.systems.base import System
from helpers import need, system

FEW = [Month(year, 7, 300) for year in (1990, 2000, 2001, 2007, 2009)]
SYSTEMS = (
    *("duckdb", "mariadb", "mariadb?engine=MyISAM", "postgresql", "sqlite"),
    *(pytest.param(name, marks=pytest.mark.systems) for name in ("chdb", "monetdb", "clickhouse")),
)
ENDLESS = {"clickhouse": "SELECT COUNT(*) FROM system.numbers"}
"""Stores for which the tables that the others join are too many."""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("flights") / "few.csv"
    write_file(path, 1, FEW)
    return path


@pytest.fixture(params=SYSTEMS, scope="module")
def running(request, tmp_path_factory) -> Iterator[System]:
    """Yield a system, started once for all tests."""
    with helpers.running(request.param, tmp_path_factory.mktemp("log"), 1, 1000) as under_test:
        yield under_test


@pytest.fixture
def started(running) -> System:
    """Return it without a table."""
    with closing(running.analyst()) as analyst:
        for name in (TABLE, WIDE):
            analyst.ask(f"DROP TABLE IF EXISTS {name}")
    return running


@pytest.fixture(scope="module")
def answers() -> dict[str, tuple[str, list]]:
    """Collect what each store answered, by query."""
    return {}


def test_it_loads_keeps_and_answers_as_the_others_do(started, file, answers):
    with closing(started.analyst()) as analyst:
        analyst.create(FLIGHTS)
        analyst.load(FLIGHTS, [file, file])
        assert analyst.finish(FLIGHTS) > 100_000
        assert analyst.ask(f"SELECT COUNT(*) FROM {TABLE}")[0] == (3000,)
    started.restart()
    with closing(started.analyst()) as analyst:
        for query in queries(3000):
            answer = plain(analyst.ask(query.sql))
            assert answer, query.name
            first, expected = answers.setdefault(query.name, (started.spec.label, answer))
            assert difference(answer, expected) is None, f"{query.name}: {started.spec.label} against {first}"


def test_values_are_those_of_the_file_and_empty_ones_are_null(started, file):
    with closing(started.analyst()) as analyst:
        analyst.create(FLIGHTS)
        analyst.load(FLIGHTS, [file])
        rows = analyst.ask(f'SELECT * FROM {TABLE} WHERE "Year" = 2009 AND "Cancelled" = 1 LIMIT 1')
        row = dict(zip((column.name for column in COLUMNS), rows[0], strict=True))
        assert str(row["FlightDate"]).startswith("2009-07-")
        assert row["DepDelay"] is None and row["CarrierDelay"] is None and row["CRSDepTime"] is not None
        (least, causes) = analyst.ask(f'SELECT MIN("DepDelay"), COUNT("CancellationCode") FROM {TABLE}')[0]
        assert least < 0 and 0 < causes < 150


@pytest.mark.parametrize("layout", LAYOUTS)
def test_wide_rows_are_the_same_everywhere(started, layout, tmp_path, answers):
    workload = WideRows({"layout": layout})
    with closing(started.analyst()) as analyst:
        analyst.create(workload.table)
        for batch in workload.files(700, 1, tmp_path, print):
            analyst.load(workload.table, [path for path, _ in batch])
        assert analyst.finish(workload.table) >= 700
        for query in workload.queries(700):
            answer = plain(analyst.ask(query.sql))
            first, expected = answers.setdefault(f"{layout} {query.name}", (started.spec.label, answer))
            assert difference(answer, expected) is None, f"{query.name}: {started.spec.label} against {first}"
        assert plain(analyst.ask(workload.queries(700)[0].sql)) == [[0]]


def test_a_wrong_statement_raises_what_it_says_it_does(started):
    with closing(started.analyst()) as analyst, pytest.raises(analyst.error):
        analyst.ask("SELECT nothing FROM nowhere")


def test_what_takes_too_long_can_be_cancelled(started, file):
    analyst = started.analyst()
    analyst.create(FLIGHTS)
    analyst.load(FLIGHTS, [file])
    raised: list[Exception] = []

    product = f'SELECT SUM(a."Year" * b."Month" * c."DayofMonth" % 7) FROM {TABLE} a, {TABLE} b, {TABLE} c'

    def ask() -> None:
        try:
            analyst.ask(ENDLESS.get(started.name, product))
        except analyst.error as error:
            raised.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    asking.join(0.3)
    analyst.cancel()
    asking.join(20)
    assert not asking.is_alive() and raised
    with suppress(*analyst.error):
        analyst.close()
    # A server that was asked by who is gone does not know that yet.
    started.restart()


@pytest.mark.parametrize("name", ["mariadb", "postgresql"])
def test_a_server_that_is_dead_fails_the_run(launch, name):
    need(name)
    under_test = system(name)
    try:
        under_test.start(launch)
        under_test.kill()
        with pytest.raises(RunFailed, match=f"{name}: .* does not answer"):
            under_test.analyst()
    finally:
        under_test.stop()
