"""Copies of an SQLite database: by each tool identical, and found out where they are not."""

import shutil
import sqlite3
from contextlib import closing

import pytest

from dbdyno.systems.copier import COPY_NAME
from dbdyno.systems.embedded.sqlite_copier import TOOLS, SQLiteCopier
from systems.copies import TEXTS, copy_and_spoil


@pytest.fixture
def path(tmp_path):
    """A database with the tables."""
    path = tmp_path / "original"
    with closing(sqlite3.connect(path)) as connection, connection:
        for table in "tu":
            connection.execute(f"CREATE TABLE {table} (id INT, k INT NOT NULL, c TEXT)")
            connection.execute(f"CREATE UNIQUE INDEX {table}_id ON {table} (id)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", [(n, n, text) for n, text in enumerate(TEXTS, 1)])
    return path


@pytest.mark.parametrize("tool", TOOLS)
def test_a_copy_is_the_same_until_something_is_changed(path, tmp_path, tool):
    program = shutil.which("sqlite3") or pytest.skip("sqlite3 is not installed")

    def spoil(sql):
        with closing(sqlite3.connect(tmp_path / COPY_NAME)) as connection, connection:
            connection.execute(sql)

    with closing(SQLiteCopier(path, tool, program)) as copier:
        copy_and_spoil(copier, spoil, "DROP INDEX t_id", tmp_path / "tools.log")


def test_a_number_of_another_type_is_another_value(path):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE v (id INT, c)")
        connection.execute("INSERT INTO v VALUES (1, 2), (2, 2.0), (3, '2'), (4, x'32')")
    with closing(SQLiteCopier(path, "sql", "sqlite3")) as copier:
        assert len({row[1] for row in copier.rows("v", of_copy=False)}) == 4
