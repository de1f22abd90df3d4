"""Errands to a PostgreSQL: several statements, the largest table, and tools without a password in their arguments."""

import pytest

from dbdyno.systems.postgresql.errands import PostgreSQLStatement, on_table, tool_errand
from dbdyno.systems.postgresql.probe import connect
from helpers import running


@pytest.fixture(scope="module")
def postgresql(tmp_path_factory):
    """A server of this module's own."""
    with running("postgresql", tmp_path_factory.mktemp("logs")) as server:
        yield server


def test_a_database_without_tables_says_so(postgresql):
    with pytest.raises(ValueError, match="there is no table"):
        on_table("alter", postgresql.endpoint)()


def test_every_statement_is_executed_and_answers_in_lines(postgresql):
    sql = 'CREATE TABLE small (id INT); CREATE TABLE "Large" (id INT); INSERT INTO small VALUES (1), (2)'
    assert PostgreSQLStatement(postgresql.endpoint, sql)() == []
    assert PostgreSQLStatement(postgresql.endpoint, "SELECT id, 'a' FROM small; SELECT 7")() == ["1\ta", "2\ta", "7"]
    PostgreSQLStatement(postgresql.endpoint, 'INSERT INTO "Large" SELECT generate_series(1, 5000)')()
    assert on_table("vacuum-full", postgresql.endpoint)() == ['VACUUM (FULL) "Large"']
    assert on_table("vacuum-full", postgresql.endpoint, "small")() == ['VACUUM (FULL) "small"']
    with connect(postgresql.endpoint) as connection:
        file_before = connection.execute("""SELECT pg_relation_filepath('"Large"') AS path""").fetchone()
        on_table("alter", postgresql.endpoint)()
        assert connection.execute("""SELECT pg_relation_filepath('"Large"') AS path""").fetchone() != file_before
        # It is written anew, and has the columns that it had.
        assert connection.execute('SELECT * FROM "Large" WHERE id = 5000').fetchall() == [{"id": 5000}]


def test_a_password_is_in_a_file_that_only_the_server_reads(postgresql):
    for action in ("backup", "dump"):
        errand = tool_errand(action, "/usr/bin/tool", postgresql.endpoint, postgresql._directory)
        assert not any(postgresql.endpoint.password in word for word in errand.argv)
        login = postgresql._directory.path / "event.pgpass"
        assert login.stat().st_mode & 0o077 == 0 and postgresql.endpoint.password in login.read_text()
