"""`dbdyno systems`: what there is."""

from dbdyno.cli import systems
from dbdyno.cli.program import run
from dbdyno.systems.packages.cache import CACHE_VARIABLE


def test_every_system_version_and_scheme_is_listed(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    assert run(["systems"]) == 0
    listed = capsys.readouterr().out
    lines = {line.split()[0]: " ".join(line.split()) for line in listed.splitlines() if line}
    assert lines["mysql@5.6"] == "mysql@5.6 5.6.24, npm missing dbdyno systems install mysql@5.6 (31 MB)"
    assert lines["chdb"] == "chdb 26.9.0, pip missing dbdyno systems install chdb (182 MB)"
    assert lines["redis://"].startswith("redis:// attach only any Redis server")
    assert str(tmp_path) in listed and "cannot" not in listed.replace("a system cannot do", "")


def test_details_say_what_a_system_is_and_what_it_cannot_do(capsys):
    assert run(["systems", "--details", "--name", "memcached"]) == 0
    listed = capsys.readouterr().out
    assert (
        "a cache in memory (memory=MiB, threads=…)" in listed
        and "cannot: add to a column in place; insert a row" in listed
    )
    assert "memcached://" in listed and "sqlite" not in listed


def test_a_name_that_no_system_has_is_refused(capsys):
    assert run(["systems", "--name", "nosuch"]) == 2
    assert "no system has 'nosuch' in its name" in capsys.readouterr().err


def test_a_system_in_the_place_of_a_command_is_told_the_option(capsys):
    assert run(["systems", "mariadb"]) == 2
    assert "dbdyno systems --name mariadb" in capsys.readouterr().err


def test_a_version_that_is_broken_is_marked(capsys, monkeypatch):
    class Broken:
        def broken(self):
            return "a file is missing"

    monkeypatch.setattr(systems, "installed", lambda package: Broken())
    assert run(["systems", "--name", "chdb"]) == 0
    assert "broken  dbdyno systems install chdb\n" in capsys.readouterr().out
    assert run(["systems", "--name", "chdb", "--details"]) == 0
    assert "dbdyno systems install chdb; a file is missing" in capsys.readouterr().out


def test_every_system_is_one_whole_line_at_80_columns(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["systems"]) == 0
    table, _, _ = capsys.readouterr().out.partition("Too narrow")
    lines = table.splitlines()[1:]
    assert len(lines) == len(list(systems._entries())) and max(map(len, lines)) <= 80 and "…" not in table
