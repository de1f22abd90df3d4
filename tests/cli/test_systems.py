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
    assert "memcached (memory=MiB, threads=…)" in listed and "cannot: add to a column in place; insert a row" in listed
    assert "memcached://" in listed and "sqlite" not in listed


def test_a_name_that_no_system_has_is_refused(capsys):
    assert run(["systems", "--name", "nosuch"]) == 2
    assert "no system has 'nosuch' in its name" in capsys.readouterr().err


def test_a_version_that_is_broken_is_marked(capsys, monkeypatch):
    class Broken:
        def broken(self):
            return "a file is missing"

    monkeypatch.setattr(systems, "installed", lambda package: Broken())
    assert run(["systems", "--name", "chdb"]) == 0
    assert "broken  a file is missing; dbdyno systems install chdb" in capsys.readouterr().out
