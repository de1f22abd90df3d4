"""CPU and memory are the operating system's own figures."""

import os
import subprocess

from dbdyno.observe.processes import ProcessSampler


def test_each_process_has_a_line():
    lines = ProcessSampler({"client": os.getpid(), "server": os.getppid()}).sample()
    assert [line["process"] for line in lines] == ["client", "server"]
    own = lines[0]
    times = os.times()
    assert 0 < own["cpu_s"] <= times.user + times.system + 0.02
    with open("/proc/self/statm") as statm:
        pages = int(statm.read().split()[1])
    assert abs(own["resident_bytes"] - pages * os.sysconf("SC_PAGE_SIZE")) < 64 << 20
    assert own["threads"] >= 1


def test_a_process_that_ended_is_left_out():
    process = subprocess.Popen(["sleep", "600"])
    sampler = ProcessSampler({"server": process.pid})
    assert len(sampler.sample()) == 1
    process.kill()
    process.wait()
    assert sampler.sample() == []
    assert ProcessSampler({"server": process.pid}).sample() == []


def test_children_count_with_their_parent_where_that_is_asked_for():
    children = [subprocess.Popen(["sleep", "600"]) for _ in range(2)]
    alone, together = (ProcessSampler({"client": os.getpid()}, name).sample()[0] for name in (None, "client"))
    for child in children:
        child.kill()
        child.wait()
    assert together["threads"] >= alone["threads"] + 2
    assert together["resident_bytes"] > alone["resident_bytes"]
    assert together["cpu_s"] >= alone["cpu_s"]
