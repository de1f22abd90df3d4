"""The words of real programs."""

from pathlib import Path

import pytest

from dbdyno.systems.builds import words
from systems.builds.scripts import script


def test_a_program_is_asked_and_its_words_are_kept(folder):
    path = script(folder / "it", "echo version 1; echo more >&2")
    assert words.words_of([str(path)], path).splitlines() == ["version 1", "more"]


def test_a_program_that_does_not_end_is_ended(folder, monkeypatch):
    monkeypatch.setattr(words, "ANSWER_TIMEOUT_S", 0.2)
    path = script(folder / "it", "exec sleep 1000")
    assert words.words_of([str(path)], path) == ""


def test_a_program_that_writes_without_end_is_cut(folder):
    path = script(folder / "it", "exec yes")
    assert len(words.words_of([str(path)], path)) <= words.MOST_BYTES


def test_a_program_that_may_not_be_run_is_an_error_of_the_system(folder):
    path = script(folder / "it", "echo 1")
    path.chmod(0o644)
    with pytest.raises(PermissionError):
        words.words_of([str(path)], path)


def test_the_libraries_of_a_program_are_found():
    needed = words.needed_libraries(Path("/bin/ls"))
    assert all(Path(path).exists() for path in needed.values()) and "libc.so.6" in needed
