"""The guard ends what dbdyno leaves, and nothing else."""

import io
import signal
import subprocess
import sys
from itertools import chain, repeat
from pathlib import Path

import pytest

from dbdyno.systems.running import guard as guard_module
from dbdyno.systems.running.guard import Guard, start_time
from helpers import wait_until

SLEEP = ["sh", "-c", "echo up; exec sleep 600"]
STUBBORN = ["sh", "-c", "trap '' TERM; echo up; exec sleep 600"]
OWNER = """
import os, subprocess, sys
from pathlib import Path

import pytest
from dbdyno.systems.running.guard import Guard
directory = Path(sys.argv[1])
with Guard() as guard:
    guard.tell("dir", directory)
    registered = subprocess.Popen(["sleep", "600"])
    guard.tell("pid", registered.pid)
    unregistered = subprocess.Popen(["sleep", "600"], cwd=directory)
    print(registered.pid, unregistered.pid, flush=True)
    sys.stdin.read()
"""


def started(command, **options):
    process = subprocess.Popen(command, stdout=subprocess.PIPE, **options)
    process.stdout.readline()
    return process


def test_at_the_end_what_is_registered_ends_and_what_is_done_stays():
    ours, done = started(SLEEP), started(SLEEP)
    try:
        with Guard() as guard:
            guard.tell("pid", ours.pid)
            guard.tell("pid", done.pid)
            guard.tell("done", done.pid)
        assert ours.wait() == -signal.SIGTERM
        assert done.poll() is None
    finally:
        for process in (ours, done):
            process.kill()
            process.communicate()


def test_what_was_switched_on_is_switched_off(tmp_path):
    setting = tmp_path / "task_delayacct"
    setting.write_text("1")
    guard_module.watch(io.StringIO(f"switched-on {setting}\nswitched-on {tmp_path / 'gone' / 'too'}\n"))
    assert setting.read_text() == "0"


def test_what_does_not_end_is_killed(monkeypatch):
    monkeypatch.setattr(guard_module, "TERMINATE_TIMEOUT_S", 0.05)
    stubborn = started(STUBBORN)
    guard_module.watch(io.StringIO(f"pid {stubborn.pid}\n"))
    assert stubborn.wait() == -signal.SIGKILL
    stubborn.communicate()


def test_a_pid_that_is_another_process_now_is_left_alone(monkeypatch):
    other = started(SLEEP)
    times = chain(["1"], repeat("2"))
    monkeypatch.setattr(guard_module, "start_time", lambda pid: next(times))
    guard_module.watch(io.StringIO(f"pid {other.pid}\n"))
    assert other.poll() is None
    other.kill()
    other.communicate()


def test_directories_go_unless_they_were_removed(tmp_path):
    left, kept = tmp_path / "left", tmp_path / "kept"
    for directory in (left, kept):
        directory.mkdir()
        (directory / "data").touch()
    with Guard() as guard:
        guard.tell("dir", left)
        guard.tell("dir", kept)
        guard.tell("removed", kept)
    assert not left.exists() and kept.exists()


def test_a_scratch_directory_is_there_inside_and_known():
    with Guard() as guard:
        with guard.scratch() as directory:
            assert directory.is_dir()
        assert not directory.exists()
    with pytest.raises(ZeroDivisionError), Guard() as guard, guard.scratch() as directory:
        raise ZeroDivisionError
    assert not directory.exists()


def test_kill_minus_nine_of_the_owner_leaves_nothing(tmp_path):
    directory = tmp_path / "data"
    directory.mkdir()
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(directory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": str(Path(__file__).parents[3] / "python"), "PATH": "/usr/bin:/bin"},
    )
    pids = [int(pid) for pid in owner.stdout.readline().split()]
    assert len(pids) == 2 and all(start_time(pid) for pid in pids)
    owner.kill()
    owner.communicate()
    wait_until(lambda: not any(start_time(pid) for pid in pids))
    wait_until(lambda: not directory.exists())


def test_a_guard_that_was_killed_does_not_end_the_run():
    with Guard() as guard:
        guard._process.kill()
        guard._process.wait()
        guard.tell("dir", Path("/nowhere"))


def test_a_process_that_ended_has_no_start_time():
    process = started(SLEEP)
    assert start_time(process.pid)
    process.kill()
    wait_until(lambda: start_time(process.pid) is None)
    process.communicate()
    assert start_time(process.pid) is None
