"""Memory is really copied, and never more than there is room for."""

from types import SimpleNamespace

from dbdyno.observe.gauges import memory
from dbdyno.observe.gauges.memory import FEWEST, measure_memory


def test_copies_have_a_rate():
    measured = measure_memory(0.0)
    assert measured["count"] == FEWEST
    assert measured["best_bytes_per_s"] >= measured["median_bytes_per_s"] > 0


def test_little_memory_is_not_taken(monkeypatch):
    monkeypatch.setattr(memory.psutil, "virtual_memory", lambda: SimpleNamespace(available=16 << 20))
    assert measure_memory(0.0)["copied_bytes"] == 1 << 20
