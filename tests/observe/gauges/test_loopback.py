"""Round trips are timed where they were said to be, and the processors are everybody's again afterwards."""

import os

import pytest

from dbdyno.observe.gauges import loopback
from dbdyno.observe.gauges.loopback import measure_loopback


def test_each_place_has_its_times():
    usable = os.sched_getaffinity(0)
    measured = measure_loopback(0.0)
    assert measured["unpinned"]["p50"] > 0 and measured["same_cpu"]["p50"] > 0
    assert (measured["two_cpus"] is None) is (len(usable) == 1)
    assert os.sched_getaffinity(0) == usable


def test_one_processor_has_no_second(monkeypatch):
    only = {min(os.sched_getaffinity(0))}
    before = os.sched_getaffinity(0)
    monkeypatch.setattr(loopback.os, "sched_getaffinity", lambda pid: only)
    try:
        assert measure_loopback(0.0)["two_cpus"] is None
    finally:
        os.sched_setaffinity(0, before)


def test_an_echo_that_does_not_begin_is_said(monkeypatch, tmp_path):
    (tmp_path / "echo.py").write_text("raise SystemExit(3)")
    monkeypatch.setattr(loopback.echo, "__file__", str(tmp_path / "echo.py"))
    with pytest.raises(OSError, match="status 3"):
        measure_loopback(0.0)
