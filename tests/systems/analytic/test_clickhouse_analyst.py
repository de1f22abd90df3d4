"""The ClickHouse server's own ways of loading and asking; the rest is in test_analyst.py."""

from contextlib import closing

import pytest

from dbdyno.analytics.table import Column, Table
from dbdyno.systems.analytic.clickhouse_analyst import ClickHouseAnalyst, ClickHouseError
from dbdyno.systems.running.endpoint import Endpoint

TABLE = Table("dbdyno_few", (Column("a", "tiny"), Column("b", "text", 3)))


@pytest.mark.systems
def test_nothing_but_the_table_is_left_of_loading(started, tmp_path):
    (tmp_path / "a.csv").write_text('a,b,\n1,x,\n,,\n-2.00,"y,z",\n')
    with closing(started("clickhouse").analyst()) as analyst:
        analyst.create(TABLE)
        for _ in range(2):
            analyst.load(TABLE, [tmp_path / "a.csv"])
        assert analyst.ask("SHOW TABLES") == [(TABLE.name,)]
        rows = [tuple(row) for row in analyst.ask(f"SELECT a, b FROM {TABLE.name} WHERE a IS NOT NULL ORDER BY a")]
        assert rows == [(-2, "y,z")] * 2 + [(1, "x")] * 2
        with pytest.raises(ClickHouseError, match="nowhere"):
            analyst.ask("SELECT * FROM nowhere")


def test_a_server_that_is_not_there_is_an_error_it_names():
    analyst = ClickHouseAnalyst(Endpoint("127.0.0.1", 1))
    with pytest.raises(analyst.error):
        analyst.ask("SELECT 1")
