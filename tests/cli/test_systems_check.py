"""`dbdyno systems check`: whether a system works here."""

import pytest

from dbdyno.cli import systems_check
from dbdyno.cli.program import run
from dbdyno.errors import RunFailed
from dbdyno.systems.packages.cache import CACHE_VARIABLE
from helpers import need


def test_a_check_loads_reads_back_and_says_so(capsys):
    need("redis")
    assert run(["systems", "check", "redis"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("redis: fine. Version ") and "1,000 rows loaded" in said


def test_a_store_that_becomes_slower_is_given_ever_more_time(monkeypatch, capsys):
    asked, checked = [], systems_check._checked

    def slow_at_first(name, seconds, whole_tables):
        asked.append(seconds)
        run, verified = checked(name, 1, whole_tables)
        return run, verified if len(asked) == 3 else 800

    monkeypatch.setattr(systems_check, "_checked", slow_at_first)
    assert run(["systems", "check", "sqlite"]) == 0
    assert asked == [1, 5, 25] and capsys.readouterr().out.startswith("sqlite: fine. ")


@pytest.mark.parametrize(
    ("name", "got"),
    [
        ("cassandra", ["cassandra@5.0"]),
        ("ferretdb?backend=postgresql", ["ferretdb@1.24"]),
        ("mysql@5.6?engine=MyISAM", ["mysql@5.6"]),
        ("cache-aside(valkey@9.1, mysql@5.6)", ["valkey@9.1", "mysql@5.6"]),
        ("chdb?threads=1", ["chdb"]),
        ("mysql://u@h/d", []),
        ("redis", []),
    ],
)
def test_what_a_check_may_get_is_what_the_configuration_needs(name, got, monkeypatch, tmp_path):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    asked = []
    monkeypatch.setattr(systems_check, "install_package", lambda package: asked.append(package.name))
    # Nothing was installed, so that is as far as it comes.
    monkeypatch.setattr(systems_check, "_checked", lambda *_: (_ for _ in ()).throw(RunFailed("as far as it comes")))
    assert run(["systems", "check", name, "--install"]) == 1
    assert asked == got


def test_what_is_no_system_is_refused_by_a_check(capsys):
    assert run(["systems", "check", "a b"]) == 2
    assert "is not a system" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["duckdb", "duckdb?threads=1"])
def test_a_check_of_a_store_for_whole_tables_loads_and_scans_one(name, capsys):
    need("duckdb")
    assert run(["systems", "check", name]) == 0
    assert "1,000 rows loaded, and counted, durability D2" in capsys.readouterr().out
