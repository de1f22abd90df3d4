"""Copies of a PostgreSQL server: by each tool identical, and found out where they are not."""

from contextlib import closing
from dataclasses import replace

import pytest

from dbdyno.systems.copier import COPY_NAME
from dbdyno.systems.postgresql.copier import TOOLS
from dbdyno.systems.postgresql.probe import connect
from helpers import need, system
from systems.copies import TEXTS, copy_and_spoil


@pytest.mark.parametrize("transport", ["tcp", "socket"])
def test_a_copy_is_the_same_until_something_is_changed(launch, transport):
    need("postgresql")
    server = system(f"postgresql?connect={transport}")
    try:
        server.start(launch)
        with connect(server.endpoint) as connection:
            connection.execute("CREATE TABLE t (id INT PRIMARY KEY, k INT NOT NULL DEFAULT 3, c VARCHAR(120))")
            connection.execute("CREATE TABLE u (LIKE t INCLUDING ALL)")
            connection.execute("CREATE INDEX t_k ON t (k)")
            for key, text in enumerate(TEXTS, 1):
                connection.execute("INSERT INTO t VALUES (%s, %s, %s)", [key, key, text])
        for tool in TOOLS:
            if reason := server.missing_tool(tool):
                pytest.skip(reason)
            with closing(server.copier(tool, 2)) as copier:

                def spoil(sql):
                    with connect(replace(server.endpoint, database=COPY_NAME)) as connection:
                        connection.execute(sql)

                copy_and_spoil(copier, spoil, "ALTER TABLE t DROP CONSTRAINT t_pkey", launch.log_folder / "tools.log")
        with closing(server.copier("files", 3)) as copier:
            (stage,) = copier.dump(["t"], copier.create())
            assert "--jobs=3" in stage.calls[0].argv
            # A password is in a file that only the server reads.
            assert not any(server.endpoint.password in word for word in stage.calls[0].argv)
            assert copier._login.stat().st_mode & 0o077 == 0
            assert server.endpoint.password in copier._login.read_text()
    finally:
        server.stop()


def test_tools_connect_with_tls_where_the_server_has_it(launch):
    need("postgresql")
    server = system("postgresql?tls=on")
    try:
        server.start(launch)
        with closing(server.copier("sql", 1)) as copier:
            connection_text = copier._to(COPY_NAME)
        assert f"sslmode=verify-full sslrootcert={server.endpoint.tls.ca}" in connection_text
    finally:
        server.stop()
