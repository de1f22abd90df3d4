"""Shared by the tests of the commands: a directory to be in, and the commands as functions."""

from collections.abc import Callable

import pytest

from dbdyno.cli.program import run as run_command


@pytest.fixture
def dbdyno(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Be in an empty directory and run commands there; returns a function that gives status, stdout and stderr."""
    monkeypatch.chdir(tmp_path_factory.mktemp("there"))

    def command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["dbdyno", *arguments])
        capsys.readouterr()
        status = run_command(list(arguments))
        said = capsys.readouterr()
        return status, said.out, said.err

    return command


@pytest.fixture
def finished(dbdyno, fake_load, fake_system):
    """Have a run of the fake system in ./runs; returns the function that runs commands."""
    status, _, _ = dbdyno("run", "game", "--system", "fake", "--clients", "1", "--seconds", "1", "--rows", "10")
    assert status == 0
    return dbdyno
