"""The guards remove what dbdyno leaves, and nothing else, whoever of them is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dbdyno.leftovers.journal import journals
from dbdyno.leftovers.processes import start_time
from dbdyno.leftovers.removal import sweep
from dbdyno.systems.running import guard as guard_module
from dbdyno.systems.running.guard import Guard, GuardProcess
from helpers import need, wait_until

SLEEP = ["sh", "-c", "echo up; exec sleep 600"]
OWNER = """
import subprocess, sys
from dbdyno.systems.running.guard import Guard
with Guard() as guard:
    directory = guard.new_directory()
    registered = subprocess.Popen(["sleep", "600"])
    guard.tell("pid", registered.pid)
    unregistered = subprocess.Popen(["sleep", "600"], cwd=directory)
    guards = [process.pid for process in guard.processes]
    print(directory, registered.pid, unregistered.pid, *guards, flush=True)
    sys.stdin.read()
"""
LEADING = """
import subprocess, sys
from dbdyno.systems.running.guard import Guard
with Guard() as guard:
    script = "sleep 600 & echo $!; wait"
    leader = subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, text=True, process_group=0)
    guard.tell("pid", leader.pid)
    print("/", leader.pid, leader.stdout.readline().strip(), flush=True)
    sys.stdin.read()
"""
BEGINNING = """
import sys
from dbdyno.systems.running import guard as module

started, moment = [], sys.argv[1]

def pause(now):
    if now == moment:
        print(*(process.pid for process in started), flush=True)
        sys.stdin.read()

class Process(module.GuardProcess):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        started.append(self)
        pause(f"{len(started)} started")

class Journal(module.Journal):
    @classmethod
    def create(cls, *arguments):
        journal = super().create(*arguments)
        pause("journal created")
        return journal

module.GuardProcess, module.Journal = Process, Journal
module.Guard().__enter__()
"""
SERVED = """
import sys
from pathlib import Path
from dbdyno.experiment.system_spec import parse_system
from dbdyno.systems import build
from dbdyno.systems.base import Launch
from dbdyno.systems.running.guard import Guard
with Guard() as guard:
    system = build(parse_system(sys.argv[1]))
    system.start(Launch(guard, Path(sys.argv[2]), clients=1, rows=1))
    guards = [process.pid for process in guard.processes]
    print(system.data_directories()[0], *system.server_pids().values(), *guards, flush=True)
    sys.stdin.read()
"""


def started(command, **options):
    process = subprocess.Popen(command, stdout=subprocess.PIPE, **options)
    process.stdout.readline()
    return process


def owner(script, *arguments):
    """A dbdyno that has something; returns it, its directory, and the numbers of its processes."""
    process = subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    directory, *pids = process.stdout.readline().split()
    return process, Path(directory), [int(pid) for pid in pids]


def kill(*pids):
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def kill_together(owner, *guards):
    """Kill dbdyno and its guards as if at one instant: a stopped dbdyno replaces no guard."""
    os.kill(owner, signal.SIGSTOP)
    wait_until(lambda: Path(f"/proc/{owner}/stat").read_text().rpartition(")")[2].split()[0] == "T")
    kill(*guards, owner)


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


def test_directories_go_unless_they_were_removed():
    with Guard() as guard:
        left, kept = guard.new_directory(), guard.new_directory()
        (left / "data").touch()
        guard.tell("removed", kept)
    assert not left.exists() and kept.exists()
    kept.rmdir()


def test_a_directory_that_cannot_be_made_is_not_looked_after(tmp_path):
    with Guard() as guard, pytest.raises(OSError, match="No such file"):
        guard.new_directory(tmp_path / "none")


def test_a_scratch_directory_is_there_inside_and_known():
    with Guard() as guard:
        with guard.scratch() as directory:
            assert directory.is_dir()
        assert not directory.exists()
    with pytest.raises(ZeroDivisionError), Guard() as guard, guard.scratch() as directory:
        raise ZeroDivisionError
    assert not directory.exists()


def test_a_run_that_is_over_leaves_no_guard_and_no_journal():
    with Guard() as guard:
        pids = [process.pid for process in guard.processes]
        assert len(pids) == 2 and all(map(start_time, pids)) and len(journals()) == 1
    assert not any(map(start_time, pids)) and not journals()


@pytest.mark.parametrize("with_guard", [None, 0, 1])
def test_kill_minus_nine_leaves_nothing_with_a_guard_or_without(with_guard):
    process, directory, (registered, unregistered, *guards) = owner(OWNER)
    assert directory.is_dir() and start_time(registered) and start_time(unregistered)
    kill(process.pid, *([] if with_guard is None else [guards[with_guard]]))
    process.communicate()
    wait_until(lambda: not any(map(start_time, (registered, unregistered, *guards))))
    assert not directory.exists() and not journals()


@pytest.mark.parametrize("is_killed_too", [False, True])
def test_what_a_registered_process_leads_ends_with_it(is_killed_too):
    """The command of an event, and sysbench, ran on: nobody else knew them."""
    process, _, (leader, led) = owner(LEADING)
    kill(process.pid, *([leader] if is_killed_too else []))
    process.communicate()
    wait_until(lambda: not any(map(start_time, (leader, led))))


@pytest.mark.parametrize(
    ("moment", "with_guard"),
    [("1 started", 0), ("2 started", 0), ("2 started", 1), ("journal created", 0), ("journal created", 1)],
)
def test_a_kill_with_one_guard_while_the_run_begins_leaves_no_journal(moment, with_guard):
    """A journal stayed if there was no second guard yet."""
    process = subprocess.Popen(
        [sys.executable, "-c", BEGINNING, moment], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    guards = [int(pid) for pid in process.stdout.readline().split()]
    kill_together(process.pid, guards[with_guard])
    process.communicate()
    wait_until(lambda: not any(map(start_time, guards)))
    assert not journals()


def test_guards_end_where_no_journal_can_be_made(monkeypatch):
    started = []

    def refuse(path):
        raise PermissionError(path)

    def start(*arguments):
        started.append(GuardProcess(*arguments))
        return started[-1]

    monkeypatch.setattr(guard_module.Journal, "create", refuse)
    monkeypatch.setattr(guard_module, "GuardProcess", start)
    with pytest.raises(PermissionError):
        Guard().__enter__()
    assert len(started) == 2
    wait_until(lambda: not any(start_time(process.pid) for process in started))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_guard_that_is_killed_or_stopped_is_replaced(number):
    with Guard() as guard:
        before = [process.pid for process in guard.processes]
        for pid in before:
            os.kill(pid, number)
        wait_until(lambda: not set(before) & {process.pid for process in guard.processes})
        assert all(start_time(process.pid) for process in guard.processes)
        assert not any(map(start_time, before))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_guard_takes_no_signal_that_asks(number):
    with Guard() as guard:
        process = guard.processes[0]
        pid = process.pid
        # At once, while it is still being started, and again once it waits for the lock.
        os.kill(pid, number)
        wait_until(lambda: process.pid != pid or waits(pid))
        os.kill(process.pid, number)
        time.sleep(0.05)
        assert process.pid == pid and start_time(pid)


def waits(pid):
    """Return whether a process waits in flock, which is number 73 on x86-64 and 32 on ARM."""
    return Path(f"/proc/{pid}/syscall").read_text().split()[0] in ("73", "32")


@pytest.mark.parametrize("name", ["redis", "memcached", "mariadb", "postgresql", "postgresql?shared_memory_type=sysv"])
def test_what_was_killed_with_all_its_guards_ends_and_the_next_run_removes_the_rest(name, tmp_path):
    need(name)
    process, directory, (server, *guards) = owner(SERVED, name, tmp_path)
    kill_together(process.pid, *guards)
    process.communicate()
    wait_until(lambda: not any(map(start_time, (server, *guards))))
    sweep()
    assert not directory.exists() and not journals()


def test_runs_that_go_on_are_not_swept():
    with Guard() as guard:
        directory = guard.new_directory()
        with Guard():
            assert directory.exists()
        sweep()
        assert directory.exists()


def test_a_setting_is_on_until_the_last_run_ends(tmp_path):
    setting = tmp_path / "task_delayacct"
    setting.write_text("0")
    with Guard() as first:
        first.switch_on(setting)
        with Guard() as second:
            second.switch_on(setting)
            assert setting.read_text() == "1"
        assert setting.read_text() == "1"
        second.__enter__()
        second.switch_on(setting)
    assert setting.read_text() == "1"
    second.__exit__()
    assert setting.read_text() == "0"
