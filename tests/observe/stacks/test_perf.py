"""perf shows a process at work and waiting, in functions of known names."""

import os
import subprocess

import pytest

from dbdyno.errors import RunFailed
from dbdyno.observe.stacks.perf import Recording, _switches, switches_per_sample
from helpers import need_stacks, wait_until

ENOUGH_BYTES = 200_000
"""A sample holds 16 KiB of stack."""
PROGRAM = """
#include <time.h>
volatile unsigned long sum;
__attribute__((noinline)) void burn_cycles(void) { for (int i = 0; i < 2000000; i++) sum += i; }
__attribute__((noinline)) void sleep_a_moment(void) {
    struct timespec moment = {0, 2000000};
    nanosleep(&moment, 0);
    sum++;
}
int main(void) { for (;;) { burn_cycles(); sleep_a_moment(); } }
"""


@pytest.fixture
def busy(tmp_path):
    """Run PROGRAM for the time of a test."""
    source, program = tmp_path / "busy.c", tmp_path / "busy"
    source.write_text(PROGRAM)
    subprocess.run(["cc", "-O1", "-o", program, source], check=True)
    with subprocess.Popen([program]) as process:
        yield process
        process.kill()


def test_where_it_works_and_where_it_waits(busy, tmp_path):
    need_stacks()
    folded = Recording([busy.pid], tmp_path / "data", 1).folded()
    # On a busy host the one may be short of the other, but never of both.
    assert sum(folded.on_cpu.values()) > 100_000
    assert 0.2e6 < sum((folded.on_cpu + folded.off_cpu).values()) < 3e6
    (burning,) = {s.split(";").index("burn_cycles") for s in folded.on_cpu if "burn_cycles" in s}
    assert all(s.split(";")[0] == "busy" and "main" in s.split(";")[:burning] for s in folded.on_cpu if "burn" in s)
    asleep = {stack: us for stack, us in folded.off_cpu.items() if "sleep_a_moment" in stack}
    assert asleep and all("schedule_[k]" in stack for stack in asleep)


def test_a_recording_that_is_stopped_has_what_it_saw(busy, tmp_path):
    need_stacks()
    data = tmp_path / "data"
    recording = Recording([busy.pid], data, 600)
    wait_until(lambda: data.exists() and data.stat().st_size > ENOUGH_BYTES)
    recording.stop()
    assert recording.folded().samples


def test_a_process_that_is_gone_is_said_in_perfs_words(tmp_path):
    need_stacks()
    gone = subprocess.Popen(["true"])
    gone.wait()
    with pytest.raises(RunFailed, match=r"^perf record: .+"):
        Recording([gone.pid], tmp_path / "data", 0.1).folded()


def test_every_switch_of_a_quiet_process_is_sampled_and_of_a_busy_one_an_odd_part(monkeypatch):
    counts = {1: iter([0, 10]), 2: iter([0, 60_000])}
    monkeypatch.setattr("dbdyno.observe.stacks.perf._switches", lambda pids: next(counts[pids[0]]))
    assert switches_per_sample({"quiet": [1], "busy": [2]}) == {"quiet": 1, "busy": 401}


def test_the_switches_of_all_threads_are_counted_and_of_a_process_that_is_gone_none():
    before = _switches([os.getpid()])
    for _ in range(10):
        subprocess.run(["true"], check=True)
    assert _switches([os.getpid()]) >= before + 10
    assert _switches([2**22 + 1]) == 0
