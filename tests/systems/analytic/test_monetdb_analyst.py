"""MonetDB's own ways of loading and asking; the rest is in test_analyst.py."""

from contextlib import closing
from datetime import date

import pytest

from dbdyno.systems.base import Launch
from helpers import need, system

pytestmark = pytest.mark.systems


@pytest.fixture
def analyst(guard, tmp_path):
    need("monetdb")
    under_test = system("monetdb?threads=1")
    under_test.start(Launch(guard, tmp_path, 1, 1000))
    with closing(under_test.analyst()) as opened:
        yield opened
    under_test.stop()


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("CAST(TRUE AS BOOLEAN)", True),
        ("CAST(-3 AS TINYINT)", -3),
        ("CAST(-300 AS SMALLINT)", -300),
        ("CAST(70000 AS INT)", 70000),
        ("CAST(-5000000000 AS BIGINT)", -5000000000),
        ("CAST(12345678901234567890123 AS HUGEINT)", 12345678901234567890123),
        ("CAST(1.5 AS DOUBLE)", 1.5),
        ("CAST('größe' AS VARCHAR(20))", "größe"),
        ("CAST('2009-07-31' AS DATE)", date(2009, 7, 31)),
    ],
)
def test_values_and_nulls_of_every_kind_are_read(analyst, sql, value):
    kind = sql.rpartition(" AS ")[2].rstrip(")") + (")" if "VARCHAR" in sql else "")
    (row,) = analyst.ask(f"SELECT {sql} AS a, CAST(NULL AS {kind}) AS b")
    assert row == (value, None)


def test_settings_are_in_force(analyst):
    # How many threads there are it does not say; with one it plans nothing for several.
    assert analyst.ask("SELECT value FROM sys.environment WHERE name = 'sql_optimizer'") == [("sequential_pipe",)]
