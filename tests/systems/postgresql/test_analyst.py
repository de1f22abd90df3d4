"""PostgreSQL's own ways of loading and asking; the rest is in test_analyst.py."""

from contextlib import closing

from dbdyno.analytics.table import Column, Table

TABLE = Table("dbdyno_few", (Column("a", "tiny"), Column("b", "text", 9), Column("C", "char", 3)))


def test_a_file_comes_in_without_decimals_and_empty_values(started, tmp_path):
    (tmp_path / "a.csv").write_bytes('a,b,C,\n-4.00,"Gr\xf6\xdfe, x",abc,\n,"","",\n1.00,x,abc,\n'.encode("latin-1"))
    with closing(started("postgresql").analyst()) as analyst:
        analyst.create(TABLE)
        analyst.load(TABLE, [tmp_path / "a.csv"])
        assert analyst.finish(TABLE) >= 8192
        rows = analyst.ask(f'SELECT a, b, "C" FROM {TABLE.name} ORDER BY a NULLS FIRST')
        assert rows == [(None, None, None), (-4, "Größe, x", "abc"), (1, "x", "abc")]
        assert analyst.ask("SELECT pg_column_size(a) FROM dbdyno_few WHERE a = 1") == [(2,)]
