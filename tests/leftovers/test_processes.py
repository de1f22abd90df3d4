"""Processes are ended by number and start, with all that work in a directory."""

import os
import pty
import signal
import subprocess
from itertools import chain, repeat

from dbdyno.leftovers import processes
from dbdyno.leftovers.processes import end_processes, is_stopped, processes_in, processes_led_by, start_time
from helpers import wait_until

SLEEP = ["sh", "-c", "echo up; exec sleep 600"]
STUBBORN = ["sh", "-c", "trap '' TERM; echo up; exec sleep 600"]


def started(command, **options):
    process = subprocess.Popen(command, **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, **options})
    process.stdout.readline()
    return process


def test_what_does_not_end_is_killed(monkeypatch):
    monkeypatch.setattr(processes, "TERMINATE_TIMEOUT_S", 0.05)
    stubborn = started(STUBBORN)
    end_processes({stubborn.pid: start_time(stubborn.pid)}, [])
    assert stubborn.wait() == -signal.SIGKILL
    stubborn.communicate()


def test_a_pid_that_is_another_process_now_is_left_alone(monkeypatch):
    other = started(SLEEP)
    times = chain(["1"], repeat("2"))
    monkeypatch.setattr(processes, "start_time", lambda pid: next(times))
    end_processes({other.pid: "1"}, [])
    assert other.poll() is None
    other.kill()
    other.communicate()


def test_what_is_stopped_ends_as_asked(tmp_path):
    stopped = started(SLEEP, cwd=tmp_path)
    assert not is_stopped(stopped.pid)
    os.kill(stopped.pid, signal.SIGSTOP)
    wait_until(lambda: is_stopped(stopped.pid))
    assert processes_in([tmp_path]) == {stopped.pid: start_time(stopped.pid)}
    end_processes({}, [tmp_path])
    assert stopped.wait() == -signal.SIGTERM
    stopped.communicate()


def test_a_group_is_known_by_its_leader_or_by_nobody_else():
    leader = subprocess.Popen(["sh", "-c", "sleep 600 & echo $!; wait"], stdout=subprocess.PIPE, process_group=0)
    led, began = int(leader.stdout.readline()), start_time(leader.pid)
    assert processes_led_by({leader.pid: began}).keys() == {leader.pid, led}
    assert processes_led_by({leader.pid: str(int(began) - 1)}) == {}, "the number is another process's now"
    leader.kill()
    leader.wait()
    assert processes_led_by({leader.pid: began}).keys() == {led}
    assert processes_led_by({leader.pid: str(int(began) + 1000)}) == {}, "it began before"
    end_processes({leader.pid: began}, [])
    assert start_time(led)
    end_processes({leader.pid: began}, [], with_groups=True)
    assert not start_time(led)
    leader.communicate()


def test_a_persons_shell_in_a_directory_is_left_alone(tmp_path):
    """It was killed with the server whose files the person looked at."""
    keyboard, terminal = pty.openpty()
    shell, server = started(SLEEP, cwd=tmp_path, stdin=terminal), started(SLEEP, cwd=tmp_path)
    end_processes({}, [tmp_path])
    assert server.wait() == -signal.SIGTERM and shell.poll() is None
    shell.kill()
    for process in (shell, server):
        process.communicate()
    os.close(keyboard)
    os.close(terminal)


def test_a_process_that_ended_has_no_start_time():
    process = started(SLEEP)
    assert start_time(process.pid)
    process.kill()
    wait_until(lambda: start_time(process.pid) is None)
    process.communicate()
    assert start_time(process.pid) is None and not is_stopped(process.pid)
