"""Runs are summarized once, and again only if they changed; a broken one takes no other with it."""

import shutil

import pytest

from dbdyno.serve import runs as module
from dbdyno.serve.runs import Runs
from serve.conftest import change


@pytest.fixture
def copied(folder, tmp_path):
    return shutil.copytree(folder, tmp_path / "runs")


def test_the_newest_comes_first_and_a_half_written_one_last(folder):
    summaries = Runs(folder).summaries()
    assert [summary.entry.name for summary in summaries] == ["third", "second", "first", "half"]
    assert "is not JSON" in summaries[-1].entry.broken and summaries[-1].cells == ()
    assert summaries[0].entry.link == "/report/third" and summaries[1].entry.systems == "sqlite, lmdb"


def test_only_what_changed_is_read_again(copied, monkeypatch):
    read, runs = [], Runs(copied)
    original = module.read_run
    monkeypatch.setattr(module, "read_run", lambda run: read.append(run.name) or original(run))
    runs.summaries()
    assert sorted(read) == ["first", "half", "second", "third"]
    change(copied / "second" / "run.json", question="another one?")
    read.clear()
    assert [summary.entry.question for summary in runs.summaries() if summary.entry.name == "second"] == [
        "another one?"
    ]
    assert read == ["second"]
    shutil.rmtree(copied / "second")
    assert [summary.entry.name for summary in runs.summaries()] == ["third", "first", "half"]


def test_a_run_is_found_by_its_name_and_nothing_else_is(folder):
    runs = Runs(folder)
    assert runs.find("first") == folder / "first"
    assert [runs.find(name) for name in ("..", "", ".", "secret.txt", "first/trials", "none")] == [None] * 6


def test_the_newest_is_the_one_that_is_written_to(copied):
    change(copied / "first" / "run.json", state="running")
    assert Runs(copied).newest() == copied / "first"


def test_a_folder_that_is_not_there_yet_has_no_run(tmp_path):
    runs = Runs(tmp_path / "runs")
    assert list(runs.summaries()) == [] and runs.newest() is None
