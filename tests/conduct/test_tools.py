"""Tools run side by side, are timed, and all end when a signal comes."""

import os
import signal
import sys
import threading
from pathlib import Path

import psutil
import pytest

from dbdyno.conduct.tools import Tools, server_cpu_s
from dbdyno.errors import RunFailed
from dbdyno.systems.copier import Call, Stage
from helpers import system, wait_until


class Copier:
    """The part of a copier that tools need."""

    as_server = False

    def __init__(self, home: Path) -> None:
        self.home = home


@pytest.fixture
def tools(context, tmp_path, fake_system):
    """Tools of a system that has no server."""
    fake = fake_system(system("sqlite").spec)
    return Tools(context(), fake, Copier(tmp_path), tmp_path / "tools.log")


def python(program, *arguments, **more):
    return Call([sys.executable, "-c", program, *map(str, arguments)], **more)


def test_files_are_read_and_written_and_calls_timed_by_table(tools, tmp_path):
    read, written = tmp_path / "in", tmp_path / "out"
    read.write_text("text")
    copy = "import sys; sys.stdout.write(sys.stdin.read() * 2); print('said', file=sys.stderr)"
    spin = "import time\nwhile time.process_time() < 0.2: pass"
    calls = [python(copy, table="one", reads=read, writes=written), python(spin)]
    ran = tools.run([Stage(calls)])
    assert written.read_text() == "texttext"
    assert (tmp_path / "tools.log").read_text() == "said\n"
    assert ran.table_s.keys() == {"one"} and 0 < ran.table_s["one"] <= ran.seconds
    assert ran.tool_cpu_s >= 0.2 and ran.server_cpu_s is None


def test_as_many_run_side_by_side_as_there_are_workers(tools, tmp_path):
    # Each waits for the other, so that alone it would never end.
    meet = "import pathlib, sys, time\npathlib.Path(sys.argv[1]).touch()\n"
    meet += "while not pathlib.Path(sys.argv[2]).exists(): time.sleep(0.01)"
    first, other = tmp_path / "one", tmp_path / "other"
    tools.run([Stage([python(meet, first, other), python(meet, other, first)], at_once=2)])


def test_a_tool_that_fails_is_quoted(tools):
    with pytest.raises(RunFailed, match=r"python\S* ended with status 1: .*cannot do that"):
        tools.run([Stage([python("raise SystemExit('error: cannot do that')")])])


def test_a_signal_ends_all_tools_and_begins_no_other(tools, tmp_path):
    pid, never = tmp_path / "pid", tmp_path / "never"
    sleep = "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(600)"
    calls = [python(sleep, pid), python("open(__import__('sys').argv[1], 'w')", never)]

    def interrupt():
        wait_until(lambda: pid.exists() and pid.read_text())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        tools.run([Stage(calls)])
    thread.join()
    assert not psutil.pid_exists(int(pid.read_text())) and not never.exists()


def test_processor_time_of_servers_has_their_children_in_it(fake_system):
    fake = fake_system(system("sqlite").spec)
    assert server_cpu_s(fake) is None
    fake.server_pids = lambda: {"fake": os.getpid()}
    assert server_cpu_s(fake) >= psutil.Process().cpu_times().user
    fake.server_pids = lambda: {"fake": 2**22 + 1}
    assert server_cpu_s(fake) == 0.0
