"""A run goes by its path, its name, or `last`."""

from pathlib import Path

import pytest

from dbdyno.cli.find_run import find_run, name_of_run
from dbdyno.errors import UserError


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("2026-11-20T20-30-00-a", "2026-11-20T20-31-00-b", "zzz-no-run"):
        (tmp_path / "runs" / name).mkdir(parents=True)
    for name in ("2026-11-20T20-30-00-a", "2026-11-20T20-31-00-b"):
        (tmp_path / "runs" / name / "run.json").touch()


def test_by_path_by_name_and_last(runs):
    newest = Path("runs/2026-11-20T20-31-00-b")
    assert find_run("runs/2026-11-20T20-31-00-b") == newest
    assert find_run("2026-11-20T20-31-00-b") == newest
    assert find_run("last") == newest


def test_what_is_none_is_refused(runs, tmp_path, monkeypatch):
    with pytest.raises(UserError, match="'nosuch' is not a run"):
        find_run("nosuch")
    monkeypatch.chdir(tmp_path / "runs")
    with pytest.raises(UserError, match="dbdyno run quickstart"):
        find_run("last")


def test_the_shortest_name_finds_the_run_again(runs, tmp_path):
    for name in ("last", "2026-11-20T20-30-00-a"):
        assert name_of_run(find_run(name)) == name
    elsewhere = tmp_path / "a folder" / "run"
    assert name_of_run(elsewhere) == f"'{elsewhere}'"
