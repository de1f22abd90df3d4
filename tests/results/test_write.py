"""A run's folder is never half written, and never another run's."""

import json

import pytest

from dbdyno.errors import UserError
from dbdyno.results.facts import RunFacts
from dbdyno.results.write import Lines, RunFolder, write_object, write_whole


def test_a_file_is_replaced_whole(tmp_path):
    path = tmp_path / "run.json"
    write_object(path, {"state": "running"})
    write_object(path, {"state": "complete"})
    assert json.loads(path.read_text()) == {"state": "complete"}
    assert list(tmp_path.iterdir()) == [path]


def test_what_was_there_stays_if_the_new_cannot_be_written(tmp_path):
    path = tmp_path / "run.json"
    write_whole(path, "old")
    (tmp_path / "run.json.partial").mkdir()
    with pytest.raises(OSError):
        write_whole(path, "new")
    assert path.read_text() == "old"


def test_a_line_is_in_the_file_at_once(tmp_path):
    lines = Lines(tmp_path / "records.jsonl")
    lines.append(b'{"record": "hello"}')
    lines.append_object({"record": "end"})
    written = (tmp_path / "records.jsonl").read_text().splitlines()
    lines.close()
    assert [json.loads(line)["record"] for line in written] == ["hello", "end"]


def test_two_runs_of_one_second_have_two_folders(tmp_path):
    first, second = (RunFolder.create(tmp_path / "runs", "game", 1_795_206_600.0) for _ in range(2))
    assert first.path != second.path
    assert first.name.endswith("-game")
    assert second.name == first.name + "-2"


def test_a_folder_that_cannot_be_made_is_an_error_with_the_way_out(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="--out"):
        RunFolder.create(tmp_path / "file", "game", 0.0)


def test_the_parts_of_a_folder(tmp_path):
    folder = RunFolder.create(tmp_path, "game", 0.0)
    folder.write_run(RunFacts(format=1))
    folder.write_experiment("seconds = 1\n")
    folder.write_environment({"cpus": 2})
    assert folder.trial("001-a").is_dir() and folder.preparation("01-a").is_dir()
    assert {path.name for path in folder.path.iterdir()} == {
        "run.json",
        "experiment.toml",
        "environment.json",
        "trials",
        "preparations",
    }
