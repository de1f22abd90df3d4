"""The benches are run by hand, so that one whose imports have moved, or that reckons wrongly, would be noticed late."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from dbdyno.errors import RunFailed
from helpers import wait_until

ROOT = Path(__file__).parent.parent
MODULES = sorted(path.stem for path in (ROOT / "benches").glob("*.py") if path.stem not in ("__init__", "__main__"))


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Import a bench anew, by its name."""
    monkeypatch.syspath_prepend(str(ROOT))

    def imported(name: str) -> ModuleType:
        module = f"benches.{name}"
        monkeypatch.delitem(sys.modules, module, raising=False)
        return importlib.import_module(module)

    return imported


@pytest.mark.parametrize("name", [*MODULES, "__main__"])
def test_a_bench_can_be_imported(name: str, bench: Callable[[str], ModuleType]) -> None:
    assert bench(name).__doc__


def test_throughput_is_that_of_the_seconds_that_were_watched(bench: Callable[[str], ModuleType]) -> None:
    observe = bench("observe")
    records = [
        {"record": "phase", "phase": "run", "state": "begin", "at_unix_s": 96.0},
        {"record": "phase", "phase": "run", "state": "start", "at_unix_s": 100.0},
        *({"record": "interval", "seconds": 1.0, "transactions": {"completed": 10**n}} for n in range(5)),
    ]
    used = {"server_cpu": 0.6, "client_cpu": 0.2, "observer_cpu": 0.01, "waits_per_s": 10.0, "speed": 2.0}
    of_two = observe.Stretch(102.0, 103.0, **used)
    assert observe._rate_per_s(of_two, records) == 100
    assert observe._rate_per_s(observe.Stretch(102.5, 103.5, **used), records) == pytest.approx(550)
    assert observe.Rated(of_two, 100.0).rate_at_speed == 50
    assert observe.Rated(of_two, 100.0).cpu_at_speed == pytest.approx(0.81 / 50)
    with pytest.raises(RunFailed, match="ended before"):
        observe._rate_per_s(observe.Stretch(109.0, 110.0, **used), records)


def test_the_speed_is_known_work_over_the_processor_time_it_took(bench: Callable[[str], ModuleType]) -> None:
    core_speed = bench("core_speed")
    earlier, later = np.array([[7.0, 9.0], [1.0, 2.0]]), np.array([[17.0, 49.0], [2.0, 3.0]])
    assert core_speed.speed(earlier, later) == pytest.approx(20)
    with core_speed.gauging(sorted(os.sched_getaffinity(0))) as gauge:
        processes = multiprocessing.active_children()
        wait_until(lambda: gauge.so_far().all())
        first = gauge.so_far()
        wait_until(lambda: np.all(gauge.so_far() > first))
        assert core_speed.speed(first, gauge.so_far()) > 0
    assert len(processes) == len(os.sched_getaffinity(0))
    assert not multiprocessing.active_children()
