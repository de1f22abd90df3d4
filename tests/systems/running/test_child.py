"""A child process that asks: its answers come back, and whatever becomes of it, dbdyno goes on."""

import os
import signal
import time
from pathlib import Path

import psutil
import pytest

from dbdyno.errors import UserError
from dbdyno.systems.running.child import MEMORY_BYTES, Child, Unbounded


class Subject:
    """The part that runs in the child."""

    def __init__(self):
        self.word = "hello"

    def say(self, word):
        return self.word, word, os.getpid()

    def password(self):
        return os.environ.get("DBDYNO_PASSWORD")

    def refuse(self):
        raise UserError("no such\ndatabase")

    def break_down(self):
        return self.break_down()

    def fill(self):
        return len(bytes(b"x" * (MEMORY_BYTES + (4 << 20))))

    def wait(self):
        time.sleep(600)

    def crash(self):
        os.kill(os.getpid(), signal.SIGSEGV)
        time.sleep(600)


@pytest.fixture(autouse=True)
def _the_child_finds_this_module(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))


@pytest.fixture
def child():
    started_child = Child(Subject(), timeout_s=20, lines=2)
    yield started_child
    started_child.end()
    assert not psutil.pid_exists(started_child.pid)


def test_it_does_what_it_is_told_in_another_process_on_each_line(child):
    assert child.call("say", 1) == ("hello", 1, child.pid)
    assert child.call("say", 2, line=1) == ("hello", 2, child.pid)


def test_it_is_not_given_the_password(monkeypatch):
    monkeypatch.setenv("DBDYNO_PASSWORD", "secret")
    child = Child(Subject(), timeout_s=20)
    assert child.call("password") is None
    child.end()


def test_what_is_for_a_person_comes_back_as_it_was_raised(child):
    with pytest.raises(UserError, match="no such\ndatabase"):
        child.call("refuse")
    assert child.call("say", 1)[0] == "hello"


def test_what_a_library_raises_is_told_and_does_no_harm(child):
    with pytest.raises(Exception, match=r"the answer was not understood .RecursionError"):
        child.call("break_down")
    assert child.call("say", 1)[0] == "hello"


def test_an_answer_that_takes_too_much_memory_ends_it(child):
    with pytest.raises(Unbounded, match="an answer takes more than 32 MiB"):
        child.call("fill")
    with pytest.raises(Unbounded, match="an answer takes more than 32 MiB"):
        child.call("say", 1)


def test_an_answer_that_does_not_come_ends_it(child):
    with pytest.raises(Unbounded, match=r"no answer was complete within 0.2 s"):
        child.call("wait", timeout_s=0.2)
    assert not psutil.pid_exists(child.pid)


def test_a_library_that_crashes_is_told_as_that(child):
    with pytest.raises(Unbounded, match="the process that asked it was killed by SIGSEGV"):
        child.call("crash", line=1)


def test_it_ends_when_nobody_asks_any_more():
    child = Child(Subject(), timeout_s=20)
    process = psutil.Process(child.pid)
    for line in child._lines:
        line.close()
    process.wait(10)
