"""Copies of a server of the MySQL protocol: by each tool identical, and found out where they are not."""

from contextlib import closing
from dataclasses import replace

import pytest

from dbdyno.systems.copier import COPY_NAME
from dbdyno.systems.mysql.copier import TOOLS
from helpers import need, system
from systems.copies import TEXTS, copy_and_spoil, run_stages


@pytest.fixture
def mariadb(launch):
    """A server with the tables."""
    need("mariadb")
    server = system("mariadb")
    try:
        server.start(launch)
        with closing(server.copier("sql", 1)) as copier:
            copier._ask("CREATE TABLE t (id INT PRIMARY KEY, k INT NOT NULL, c VARCHAR(120), KEY (k)) CHARSET utf8mb4")
            copier._ask("CREATE TABLE u LIKE t")
            for key, text in enumerate(TEXTS, 1):
                value = "NULL" if text is None else f"CONVERT(x'{text.encode().hex()}' USING utf8mb4)"
                copier._ask(f"INSERT INTO t VALUES ({key}, {key}, {value})")
        yield server
    finally:
        server.stop()


def spoiler(server):
    """Return what executes SQL in the copy."""

    def spoil(sql):
        with closing(server.copier("sql", 1)) as copier:
            copier._connection.select_db(COPY_NAME)
            copier._ask(sql)

    return spoil


def test_a_copy_by_each_tool_is_the_same_until_something_is_changed(mariadb, launch):
    for tool in TOOLS:
        if mariadb.missing_tool(tool) is None:
            with closing(mariadb.copier(tool, 2)) as copier:
                log_path = launch.log_folder / f"{tool}.log"
                copy_and_spoil(copier, spoiler(mariadb), "ALTER TABLE t DROP PRIMARY KEY", log_path)
    # A password is in a file that only the server reads, and where a socket is given tools connect there.
    mariadb.endpoint = replace(mariadb.endpoint, socket=str(mariadb._directory.path / "s.sock"))
    with closing(mariadb.copier("files", 3)) as copier:
        folder = copier.create()
        stages = [*copier.dump("tu", folder), *copier.restore("tu", folder)]
        calls = [call for stage in stages for call in stage.calls]
        assert not any(mariadb.endpoint.password in word for call in calls for word in call.argv)
        assert copier._login.stat().st_mode & 0o077 == 0
        assert f"socket={mariadb.endpoint.socket}" in copier._login.read_text()
        assert "--use-threads=3" in calls[-1].argv and stages[0].at_once == 3


def test_tools_connect_with_tls_where_the_server_has_it(launch):
    need("mariadb")
    # A server that lets nobody else in.
    server = system("mariadb?tls=on&require_secure_transport=ON")
    try:
        server.start(launch)
        for tool in TOOLS:
            if server.missing_tool(tool) is None:
                with closing(server.copier(tool, 1)) as copier:
                    copier._ask("CREATE TABLE IF NOT EXISTS t (id INT PRIMARY KEY)")
                    folder, log_path = copier.create(), launch.log_folder / f"{tool}.log"
                    run_stages(copier, copier.dump(["t"], folder), log_path)
                    run_stages(copier, copier.restore(["t"], folder), log_path)
                    assert copier.tables(of_copy=True) == ["t"]
                    assert f"ssl-ca={server.endpoint.tls.ca}" in copier._login.read_text()
    finally:
        server.stop()
