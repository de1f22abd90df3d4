"""The benches are run by hand, so that one whose imports have moved, or that reckons wrongly, would be noticed late."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from dbdyno.errors import RunFailed
from dbdyno.systems.running.guard import Guard
from helpers import need, wait_until

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


def test_against_nothing_a_ratio_is_infinite(bench: Callable[[str], ModuleType]) -> None:
    ratio = bench("rows").ratio
    assert (ratio(3.0, 2.0), ratio(3.0, 0.0)) == (1.5, float("inf"))


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
    assert core_speed.speed(earlier, later) == pytest.approx(25)
    with core_speed.gauging(sorted(os.sched_getaffinity(0))) as gauge:
        processes = multiprocessing.active_children()
        wait_until(lambda: gauge.so_far().all())
        first = gauge.so_far()
        wait_until(lambda: np.all(gauge.so_far() > first))
        assert core_speed.speed(first, gauge.so_far()) > 0
    assert len(processes) == len(os.sched_getaffinity(0))
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("store", ["mariadb", "postgresql"])
def test_parts_of_a_split_load_and_the_threads_that_answer_them_stay_on_their_processors(
    store: str, bench: Callable[[str], ModuleType], guard: Guard, tmp_path: Path
) -> None:
    need(store)
    split_load, servers, load, measured = map(bench, ("split_load", "servers", "load", "measured"))
    cpus, rows = sorted(os.sched_getaffinity(0)), 100
    clients = 4 * len(cpus) + 1
    anywhere = measured.Placement("free", None, None)
    seen: dict[int, set[int]] = {}

    def watch(pids: Sequence[int]) -> None:
        with split_load.kept_apart(started, dict(zip(pids, cpus, strict=True)), clients, wanted["start_at_unix_s"]):
            threads = split_load._answering(started, dict(zip(pids, pids, strict=True)))
            for thread, pid in threads.items():
                assert os.sched_getaffinity(thread) == os.sched_getaffinity(pid)
                seen.setdefault(pid, set()).add(thread)
        assert all(os.sched_getaffinity(thread) == set(cpus) for thread in threads)

    with getattr(servers, store)(servers.Bench(guard, tmp_path, 1, rows, rows), anywhere) as given:
        started = given.by_tcp()
        if store == "mariadb":
            servers.fill(started, rows, anywhere)
        begin = round(time.time()) + 8
        wanted = load.plan(started.store, rows, load.MEASURE, clients=clients, duration_s=1, start_at_unix_s=begin)
        parts = [measured.Placement("split", (cpu,), (cpu,)) for cpu in cpus]
        recorded = split_load.execute(wanted, parts, watch)
    assert sorted(map(len, seen.values())) == [4] * (len(cpus) - 1) + [5]
    for records in recorded:
        assert sum(record["transactions"]["completed"] for record in records if record["record"] == "interval") > 0


def test_the_table_of_startup_has_the_processor_time_of_hyperfine(bench: Callable[[str], ModuleType]) -> None:
    startup = bench("startup")
    exported = '{"results": [{"command": "x", "mean": 9, "user": 0.04, "system": 0.01}]}'
    assert startup.cpu_ms(exported) == pytest.approx(50)
    table = startup.table([(startup.Case(("list",), 300), 50.0)], 20.0)
    assert table.splitlines()[-1] == "| `dbdyno list` | 50 ms | 2.5 × | 300 ms |"
