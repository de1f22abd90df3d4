"""The loop's speed is given by slot, and the hypervisor's share as one of all processors."""

from collections import namedtuple

from dbdyno.observe.gauges import processor
from dbdyno.observe.gauges.processor import measure_processor

Times = namedtuple("Times", "user idle steal")


def test_every_slot_has_its_speed(monkeypatch):
    monkeypatch.setattr(processor, "SLOT_S", 0.01)
    measured = measure_processor(0.03)
    assert len(measured["slots"]) == 3
    assert min(measured["slots"]) == measured["steps_per_s"]["slowest"] > 0
    assert 0 < measured["cpu_share"] <= 1


def test_steal_is_a_share_of_all_time(monkeypatch):
    seen = iter([Times(1.0, 1.0, 0.0), Times(1.5, 1.25, 0.25)])
    monkeypatch.setattr(processor.psutil, "cpu_times", lambda: next(seen))
    measured = measure_processor(0.0)
    assert measured["steal_share"] == 0.25 and measured["steal_slots"] == [0.25]
