"""What is DuckDB's own of loading and asking; the rest is in test_analyst.py."""

from contextlib import closing

import pytest

from dbdyno.analytics.columns import FLIGHTS

duckdb_analyst = pytest.importorskip("dbdyno.systems.duckdb_analyst")

DEFAULTS = {"threads": 0, "memory_limit_mib": 0}


def test_its_defaults_are_left_alone(tmp_path):
    import duckdb  # noqa: PLC0415

    with closing(duckdb.connect()) as plain, closing(duckdb_analyst.DuckDBAnalyst(tmp_path, DEFAULTS)) as analyst:
        setting = "SELECT current_setting('threads')"
        assert analyst.ask(setting) == plain.execute(setting).fetchall()


def test_a_file_of_another_form_is_an_error(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    with closing(duckdb_analyst.DuckDBAnalyst(tmp_path, DEFAULTS)) as analyst:
        analyst.create(FLIGHTS)
        with pytest.raises(analyst.error):
            analyst.load(FLIGHTS, [tmp_path / "a.csv"])
