"""perf counts events of processes; an event that the processor does not show is not known."""

import subprocess
import sys

import psutil
import pytest

from dbdyno.observe.stacks.counters import EVENTS, Counting, _count_per_s
from helpers import need_stacks, wait_until

FAULTS = {"page_faults": "page-faults"}
"""A software event, which virtual machines show, too."""
TOUCHING = "import mmap\nwhile True: mmap.mmap(-1, 1 << 20).write(bytes(1 << 20))"
"""A program that touches new pages all the time."""


@pytest.fixture
def touching():
    with subprocess.Popen([sys.executable, "-I", "-c", TOUCHING]) as process:
        yield process
        process.kill()


def test_events_of_a_process_are_counted(touching, tmp_path):
    need_stacks()
    assert Counting([touching.pid], tmp_path / "said", 1, FAULTS).per_s()["page_faults"] > 100


def test_a_counting_that_is_stopped_has_what_it_saw(touching, tmp_path):
    need_stacks()
    counting = Counting([touching.pid], tmp_path / "said", 600, FAULTS)
    # It counts from when the program that it runs meanwhile has begun.
    wait_until(lambda: [child.name() for child in psutil.Process(counting.process.pid).children()] == ["sleep"])
    counting.stop()
    assert counting.per_s()["page_faults"] is not None


def test_of_a_process_that_is_gone_nothing_is_known(tmp_path):
    need_stacks()
    gone = subprocess.Popen(["true"])
    gone.wait()
    assert Counting([gone.pid], tmp_path / "said", 0.1).per_s() == dict.fromkeys(EVENTS)


@pytest.mark.parametrize(
    ("lines", "per_s"),
    [
        (["# started on …", "", "5000,,instructions,1000,100.00,1.2,insn per cycle"], 1000.0),
        (["5000,,instructions:u,1000,100.00,,"], 1000.0),
        (["3000,,cpu_core/instructions/,600,60.00,,", "2000,,cpu_atom/instructions/,400,40.00,,"], 1000.0),
        (["<not supported>,,instructions,0,100.00,,"], None),
        (["<not counted>,,instructions,0,0.00,,"], None),
        (["7,,branch-misses,1000,100.00,,"], None),
        ([], None),
    ],
)
def test_a_line_of_perf_is_read(lines, per_s):
    assert _count_per_s(lines, "instructions", 5) == per_s
