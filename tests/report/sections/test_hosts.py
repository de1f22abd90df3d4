"""A host in a line, and two hosts that differ told apart in what they differ in."""

from copy import deepcopy

from dbdyno.report.sections.hosts import GAUGES, SKETCHED, course, host_differences, host_in_words, sketch, worsened

HOST = {
    "clock": {"resolution_ns": 1, "read_ns": 60},
    "oversleep_us": {"p50": 60.0, "p99": 90.0},
    "memory": {"best_bytes_per_s": 20e9},
    "loopback_us": {"unpinned": {"p50": 20.0}, "same_cpu": {"p50": 16.0}, "two_cpus": None},
    "disk": {"read_us": {"p50": 50.0, "p99": 90.0}, "flush_us": {"p50": 200.0, "p99": 4000.0}},
    "processor": {"steps_per_s": {"median": 13e6, "slowest": 11e6}, "steps_per_cpu_s": 13.5e6, "steal_share": 0.0},
}


def test_a_host_is_told_in_a_line():
    assert host_in_words(None) is None
    said = host_in_words(HOST)
    assert "fixed loop 13.0 million steps/s" in said and "flush 200 µs" in said and "memory copy 20.0 GB/s" in said
    assert "flush" not in host_in_words({**HOST, "disk": None})


def test_equal_hosts_differ_in_nothing():
    assert list(host_differences(HOST, deepcopy(HOST))) == []
    assert list(host_differences(HOST, None)) == []


def test_a_throttled_processor_and_a_slower_disk_are_named():
    other = deepcopy(HOST)
    other["processor"] |= {"steps_per_s": {"median": 9e6, "slowest": 3e6}, "steal_share": 0.05}
    other["disk"]["flush_us"]["p50"] = 2000.0
    flush, loop, stolen = host_differences(HOST, other)
    assert "write and flush of 4 KiB, median: 200 µs against 2,000 µs, a factor of 10.0" in flush
    assert "13.0 million steps/s against 9.00 million steps/s" in loop
    assert "0.0% of the processors before the first run, 5.0% before the second" in stolen


def test_what_was_measured_of_one_alone_is_not_compared():
    assert list(host_differences(HOST, {**HOST, "disk": None})) == []


def test_a_course_is_sketched_from_zero():
    assert sketch([]) == "" and sketch([0.0, 0.0]) == "▁▁"
    assert sketch([7.0, 3.5, None, 0.0]) == "█▅ ▁"
    assert sketch([1.0] * 10 * SKETCHED) == "█" * SKETCHED


def test_a_figure_of_an_older_run_has_no_course():
    gauges = {gauge.name: gauge for gauge in GAUGES}
    assert all(course(HOST, gauge) == [] for gauge in GAUGES)
    flushed = {"disk": {"flush_us": {"p50": 200.0, "slots": [190.0, 210.0]}}}
    assert course(flushed, gauges["write and flush of 4 KiB, median"]) == [190.0, 210.0]


def read(*slots):
    return {"memory": {"slots": list(slots)}, "processor": {"steal_slots": [0.5] * 9}}


def test_what_got_worse_by_more_than_it_varied_is_named():
    steady = read(20e9, 19e9, None, 21e9, 20e9)
    assert list(worsened(steady, read(9e9, 10e9, 11e9, None))) == [
        "copying memory: 10.0 GB/s against 20.0 GB/s before the run"
    ]
    assert list(worsened(read(9e9, 10e9, 11e9), steady)) == []


def test_what_varies_as_before_is_not():
    assert list(worsened(read(20e9, 5e9, 20e9, 5e9), read(5e9, 6e9, 20e9, 5e9))) == []
    assert list(worsened(read(20e9, 20e9, 20e9), read(19e9, 19e9, 19e9))) == []
    assert list(worsened(HOST, HOST)) == [] and list(worsened(HOST, None)) == []
