"""DuckDB's own ways of loading and asking; the rest is in test_analyst.py."""

from contextlib import closing

import pytest

from dbdyno.analytics.columns import FLIGHTS
from dbdyno.errors import UserError

duckdb_analyst = pytest.importorskip("dbdyno.systems.analytic.duckdb_analyst")

DEFAULTS = {"threads": 0, "memory_limit_mib": 0}


def test_its_defaults_are_left_alone(tmp_path):
    import duckdb  # noqa: PLC0415

    with closing(duckdb.connect()) as plain, closing(duckdb_analyst.DuckDBAnalyst(tmp_path, DEFAULTS)) as analyst:
        setting = "SELECT current_setting('threads')"
        assert analyst.ask(setting) == plain.execute(setting).fetchall()


@pytest.mark.parametrize("memory_limit_mib", [1, 300, 3000, 1_500_000])
def test_a_size_is_what_was_given_in_whatever_unit_it_is_shown(tmp_path, memory_limit_mib):
    duckdb_analyst.DuckDBAnalyst(tmp_path, DEFAULTS | {"memory_limit_mib": memory_limit_mib}).close()


def test_what_it_has_otherwise_than_it_was_given_is_an_error_with_both(tmp_path, monkeypatch):
    monkeypatch.setattr(duckdb_analyst.DuckDBAnalyst, "ask", lambda self, sql: [("200.0 MiB",)])
    with pytest.raises(UserError, match=r"memory_limit = 300MiB was given, and DuckDB has 200\.0 MiB"):
        duckdb_analyst.DuckDBAnalyst(tmp_path, DEFAULTS | {"memory_limit_mib": 300})


def test_a_file_of_another_form_is_an_error(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    with closing(duckdb_analyst.DuckDBAnalyst(tmp_path, DEFAULTS)) as analyst:
        analyst.create(FLIGHTS)
        with pytest.raises(analyst.error):
            analyst.load(FLIGHTS, [tmp_path / "a.csv"])
