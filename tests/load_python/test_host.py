"""Processors, and a process that ends when its parent does."""

import os
import signal
import subprocess
import sys

import pytest

from dbdyno.load_python.failure import Ended
from dbdyno.load_python.host import pin, processors
from helpers import wait_until
from load_python.conftest import SOURCES

ORPHAN = """
import os, signal, sys, time
from dbdyno.load_python.host import die_with_parent
if pid := os.fork():
    sys.stdin.readline()
else:
    die_with_parent(signal.SIGKILL)
    print(os.getpid(), flush=True)
    time.sleep(60)
"""


def test_it_is_kept_on_its_processors():
    before = os.sched_getaffinity(0)
    try:
        pin((min(before),))
        assert processors() == 1
    finally:
        os.sched_setaffinity(0, before)


def test_a_processor_that_is_not_there_is_refused():
    with pytest.raises(Ended, match=r"cpus = \[9999\]"):
        pin((9999,))


def test_a_process_ends_with_its_parent():
    parent = subprocess.Popen(
        [sys.executable, "-c", ORPHAN],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
    )
    child = int(parent.stdout.readline())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    wait_until(lambda: not _runs(child))
    parent.stdin.close()
    parent.stdout.close()


def _runs(pid):
    """Return whether a process runs; one that ended and that nobody waited for does not."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
