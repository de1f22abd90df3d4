"""Tables of one server copied into another, both real ones."""

from contextlib import closing

import pytest

from dbdyno.errors import UserError
from dbdyno.systems.mysql.mariadb import MariaDB
from helpers import need, system
from systems.copies import TEXTS, differences, run_stages

COLUMNS = (
    "id INT PRIMARY KEY AUTO_INCREMENT, k INT NOT NULL DEFAULT 0, c VARCHAR(120), "
    "d CHAR(3) CHARACTER SET utf8 DEFAULT '', KEY few (k), KEY head (c(9))"
)


def fill(copier):
    """Make the table `t` in the server that is copied."""
    original = copier._original
    original._ask(f"CREATE TABLE t ({COLUMNS}) CHARSET utf8mb4 COLLATE utf8mb4_general_ci")
    for key, text in enumerate(TEXTS, 1):
        value = "NULL" if text is None else f"CONVERT(x'{text.encode().hex()}' USING utf8mb4)"
        original._ask(f"INSERT INTO t VALUES ({key}, {key}, {value}, 'ü')")


@pytest.mark.parametrize(
    ("pair", "tool"),
    [
        ("copy(mariadb, mariadb)", "files"),
        ("copy(mariadb, mysql@5.6)", "sql"),
        ("copy(mysql@5.6, mariadb)", "mydumper"),
    ],
)
def test_a_copy_in_another_server_is_the_same_until_something_is_changed(launch, pair, tool):
    need("mariadb")
    need("mysql@5.6")
    both = system(pair)
    if reason := both.missing_tool(tool):
        pytest.skip(reason)
    try:
        both.start(launch)
        assert both.server_pids().keys() == {"copy-1", "copy-2"}
        with closing(both.copier(tool, 2)) as copier:
            fill(copier)
            folder, log_path = copier.create(), launch.log_folder / "tools.log"
            run_stages(copier, copier.dump(["t"], folder), log_path)
            assert copier.tables(of_copy=True) == [] and copier._original.tables(of_copy=False) == ["t"]
            run_stages(copier, copier.restore(["t"], folder), log_path)
            assert copier.tables(of_copy=True) == ["t"] and copier.count("t") == len(TEXTS)
            assert len(list(copier.rows("t", of_copy=True))) == len(TEXTS)
            assert differences(copier, "t") == []
            copier._into._connection.select_db("dbdyno_copy")
            copier._into._ask("UPDATE t SET c = 'b' WHERE id = 2")
            (differing,) = differences(copier, "t")
            assert differing.startswith("row 2, column 3: ")
            copier._into._ask("ALTER TABLE t DROP KEY few, MODIFY k BIGINT NOT NULL DEFAULT 0")
            lost = "'column 2 k int not null default '0'' is missing"
            assert differences(copier, "t")[:2] == [lost, "'index few 1 k' is missing"]
            copier.drop()
            assert not folder.exists()
    finally:
        both.stop()


def test_two_postgresql_servers_have_every_tool(launch):
    need("postgresql")
    both = system("copy(postgresql, postgresql?fsync=off)")
    try:
        both.start(launch)
        assert both.durability().level == "D0" and "copied into" in both.durability().reason
        for tool in both.copy_tools:
            with closing(both.copier(tool, 2)) as copier:
                original = copier._original._connection
                original.execute("DROP TABLE IF EXISTS t")
                original.execute("CREATE TABLE t (id INT PRIMARY KEY, c TEXT)")
                original.execute("INSERT INTO t SELECT i, 'x' || i FROM generate_series(1, 50) AS i")
                folder, log_path = copier.create(), launch.log_folder / "tools.log"
                run_stages(copier, copier.dump(["t"], folder), log_path)
                run_stages(copier, copier.restore(["t"], folder), log_path)
                assert differences(copier, "t") == [] and len(list(copier.rows("t", of_copy=True))) == 50
                copier.drop()
    finally:
        both.stop()


def test_the_tools_are_those_of_the_server_that_is_copied_into_if_it_has_them(monkeypatch):
    need("mariadb")
    both = system("copy(mariadb, mariadb)")
    for node, programs in ((both.original, {"mariadb": "old"}), (both.into, {"mariadb": "new"})):
        monkeypatch.setattr(node, "tool_programs", lambda tool, programs=programs: programs)
        monkeypatch.setattr(node, "missing_tool", lambda tool: None)
    assert both.tool_programs("sql") == {"mariadb": "new"} and both.missing_tool("sql") is None
    monkeypatch.setattr(both.into, "missing_tool", lambda tool: "it comes without")
    assert both.tool_programs("sql") == {"mariadb": "old"} and both.missing_tool("sql") is None
    monkeypatch.setattr(both.original, "missing_tool", lambda tool: "not installed")
    assert both.missing_tool("sql") == "it comes without"


def test_it_has_the_tools_of_both_and_the_room_of_one():
    both = system("copy(mariadb, mysql@5.6)")
    assert both.copy_tools.keys() == {"sql", "mydumper"} < MariaDB.copy_tools.keys()
    alone = system("mariadb")
    assert both.space(1e6, 1e9).disk_bytes < 1.5 * alone.space(1e6, 1e9).disk_bytes


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("copy(mariadb)", "copy takes two servers"),
        ("copy(mariadb*3)", "copy takes two servers"),
        ("copy(mariadb, postgresql)", "speak one protocol"),
        ("copy(sqlite, sqlite)", "copy takes two servers"),
        ("copy(mariadb, mysql://u@h/d)", "that dbdyno starts"),
        ("copy(mariadb*2)?sync_binlog=1", "settings follow a part"),
    ],
)
def test_what_cannot_be_is_refused(text, said):
    with pytest.raises(UserError, match=said):
        system(text)
