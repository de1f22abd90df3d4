"""Errands to a MariaDB: several statements, the largest table, and tools without a password in their arguments."""

import pickle

import pytest

from dbdyno.systems.mysql.client import ask
from dbdyno.systems.mysql.errands import MySQLStatement, Rebuild, tool_errand
from helpers import running


@pytest.fixture(scope="module")
def mariadb(tmp_path_factory):
    """A server of this module's own."""
    with running("mariadb", tmp_path_factory.mktemp("logs")) as server:
        yield server


def test_every_statement_is_executed_and_answers_in_lines(mariadb):
    sql = "CREATE TABLE small (id INT); CREATE TABLE large (id INT, c TEXT); INSERT INTO small VALUES (1), (2)"
    assert MySQLStatement(mariadb.endpoint, sql)() == []
    assert MySQLStatement(mariadb.endpoint, "SELECT id, 'a' FROM small; SELECT 7")() == ["1\ta", "2\ta", "7"]
    many = "INSERT INTO large SELECT seq, REPEAT('x', 1000) FROM seq_1_to_2000; ANALYZE TABLE large"
    MySQLStatement(mariadb.endpoint, many)()
    assert Rebuild(mariadb.endpoint)()[-1] == "ALTER TABLE `large` FORCE"
    assert Rebuild(mariadb.endpoint, "small")()[-1] == "ALTER TABLE `small` FORCE"
    assert ask(mariadb.endpoint, "SELECT COUNT(*) AS rows_of FROM dbdyno.large") == [{"rows_of": 2000}]


def test_a_password_is_in_a_file_that_only_the_server_reads(mariadb):
    for action in ("backup", "dump"):
        errand = tool_errand(action, "/usr/bin/tool", mariadb.endpoint, mariadb._directory)
        assert not any(mariadb.endpoint.password in word for word in errand.argv)
        login = mariadb._directory.path / "event.cnf"
        assert login.stat().st_mode & 0o077 == 0 and mariadb.endpoint.password in login.read_text()
        assert errand.as_server and errand.leaves.is_dir()


def test_a_statement_goes_to_another_process_whole():
    statement = MySQLStatement(None, "SELECT 1")
    assert pickle.loads(pickle.dumps(statement)) == statement
