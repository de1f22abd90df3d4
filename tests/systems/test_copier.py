"""The tools that a system is copied by, and what is said if one is not there."""

import shutil

import pytest

from dbdyno.systems import SYSTEMS
from dbdyno.systems.copier import Tool
from helpers import need, system


def test_every_system_that_can_be_copied_has_tools():
    for name, made in SYSTEMS.items():
        # An arrangement has those that its parts have.
        assert made.copy_tools or made.takes_parts or "copy" not in made.operations, name


def test_a_program_that_is_not_there_is_named_with_its_package(monkeypatch):
    sqlite = system("sqlite")
    monkeypatch.setattr(type(sqlite), "copy_tools", {"sql": Tool(("sh", "no-such-program"), "the-package")})
    assert sqlite.missing_tool("sql") == "no-such-program is not installed: apt install the-package"
    monkeypatch.setattr(type(sqlite), "copy_tools", {"sql": Tool(("sh",), "the-package")})
    assert sqlite.missing_tool("sql") is None
    assert sqlite.tool_programs("sql") == {"sh": shutil.which("sh")}


def test_postgresql_is_dumped_by_the_programs_of_its_own_version(monkeypatch, tmp_path):
    need("postgresql")
    server = system("postgresql")
    assert server.tool_program("postgres") == server.program("postgres")[0]
    other = system("postgresql@18")
    monkeypatch.setattr(type(other), "program", lambda self, name: [str(tmp_path / name)])
    assert other.missing_tool("sql") == "postgresql@18 comes without pg_dump and psql"
    (tmp_path / "pg_dump").touch()
    (tmp_path / "psql").touch()
    assert other.missing_tool("sql") is None


def test_a_server_of_mysql_is_not_asked_to_write_files():
    assert "files" in system("mariadb").copy_tools and "files" not in system("mysql@8.0").copy_tools


def test_what_cannot_be_copied_says_so():
    with pytest.raises(NotImplementedError, match="lmdb"):
        system("lmdb").copier("sql", 1)
