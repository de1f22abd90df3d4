"""The clock has a step, and sleeps last longer than asked, never shorter."""

from types import SimpleNamespace

from dbdyno.observe.gauges import timers
from dbdyno.observe.gauges.timers import measure_clock, measure_oversleep


def test_the_clock_has_a_step_and_a_price():
    clock = measure_clock(0.0)
    assert clock["least_step_ns"] >= clock["resolution_ns"] >= 1
    assert clock["read_ns"] > 0 and clock["slots"] == [clock["read_ns"]]


def test_oversleeping_is_beyond_what_was_asked(monkeypatch):
    late = measure_oversleep(0.0)
    assert late["count"] == 1 and late["p50"] >= 0
    now = iter(range(0, 10**9, 150_000))
    monkeypatch.setattr(timers, "time", SimpleNamespace(monotonic_ns=lambda: next(now), sleep=lambda seconds: None))
    assert measure_oversleep(0.001)["max"] == 50.0
