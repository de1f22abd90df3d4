"""An analyst in a child process: what it says comes through, and whatever becomes of it, dbdyno goes on."""

import os
import signal
import threading
import time
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from dbdyno.analytics.table import Column, Table
from dbdyno.systems.analytic.child_analyst import ChildAnalyst, ChildFailed
from helpers import wait_until

TABLE = Table("t", (Column("a", "tiny"),))


class Fake:
    """The part that runs in the child."""

    by = "hand"

    def __init__(self, folder: Path, word: str) -> None:
        if word == "refuse":
            raise ValueError("not with me")
        self._folder, self._word = folder, word

    def create(self, table: Table) -> None:
        (self._folder / table.name).touch()

    def load(self, table: Table, paths: list[Path]) -> None:
        (self._folder / table.name).write_text(str(len(paths)))

    def finish(self, table: Table) -> int:
        return int((self._folder / table.name).read_text())

    def ask(self, sql: str) -> list[tuple[object, ...]]:
        match sql:
            case "crash":
                os.kill(os.getpid(), signal.SIGSEGV)
            case "wait":
                (self._folder / "waiting").touch()
                time.sleep(60)
            case "print":
                print("noise", flush=True)
            case "wrong":
                raise ValueError("no such\n  table")
        return [(self._word, os.getpid())]

    def close(self) -> None:
        (self._folder / "closed").touch()


def child(folder, word="hello"):
    return ChildAnalyst("systems.analytic.test_child_analyst", "Fake", folder, word)


def test_it_does_in_another_process_what_it_is_told(tmp_path, capfd):
    with closing(child(tmp_path)) as analyst:
        assert analyst.by == "hand"
        analyst.create(TABLE)
        analyst.load(TABLE, [tmp_path / "a", tmp_path / "b"])
        assert analyst.finish(TABLE) == 2
        ((word, pid),) = analyst.ask("print")
        assert word == "hello" and os.getpid() != pid == analyst.pid
        # The guard looks for this when dbdyno is gone.
        assert Path(f"/proc/{pid}/cwd").readlink() == tmp_path
    assert (tmp_path / "closed").exists() and not psutil.pid_exists(pid)
    assert "noise" not in capfd.readouterr().out


def test_what_it_raises_comes_through_and_it_goes_on(tmp_path):
    with closing(child(tmp_path)) as analyst:
        with pytest.raises(ChildFailed, match="no such table"):
            analyst.ask("wrong")
        assert analyst.ask("again")[0][0] == "hello"


def test_one_that_cannot_be_made_says_why(tmp_path):
    with pytest.raises(ChildFailed, match="not with me"):
        child(tmp_path, "refuse")


def test_a_crash_is_its_own(tmp_path):
    analyst = child(tmp_path)
    with pytest.raises(ChildFailed, match="its process was killed by SIGSEGV"):
        analyst.ask("crash")
    analyst.close()


def test_it_can_be_cancelled(tmp_path):
    analyst = child(tmp_path)
    raised = []

    def ask():
        try:
            analyst.ask("wait")
        except ChildFailed as error:
            raised.append(str(error))

    asking = threading.Thread(target=ask)
    asking.start()
    wait_until((tmp_path / "waiting").exists)
    analyst.cancel()
    asking.join(20)
    assert raised == ["its process was killed by SIGKILL"]
    analyst.close()
