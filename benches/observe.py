"""Measures the cost of observing: the same load with and without observers (`python -m benches.observe [STORE …]`).

Of each store: throughput, as `dbdyno compare` compares it, as it was and at the same speed of the processors
(`benches.core_speed`); the processor time of client, server and observers together per transaction; and, at a rate so
low that hardly anything else runs, what observers and the server use to ask and to answer, which other work on the
machine moves least. Variables as in benches/README.md.
"""

import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import psutil
from numpy.typing import NDArray
from scipy.stats import quantile_test

from benches import load, servers, split_load
from benches.__main__ import FOLDER, chosen, setting, warn_of_company
from benches.core_speed import SpeedGauge, gauging, speed
from benches.measured import HANG_S, Placement, placements
from benches.servers import Bench, Started
from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.order import abba_order
from dbdyno.observe.observer import Observed, Observer
from dbdyno.stats.comparison import CONFIDENCE, Comparison, compare
from dbdyno.systems.running.guard import Guard

LIMIT = 0.01
CLIENTS = setting("BENCH_CLIENTS", 64)
PACE_PER_S, PACED_PAIRS = 64, 10
SETTLE_S = 0.5
"""After observing has begun or ended, before it counts: connecting and asking for the first time costs more."""
CHANGE_OVER_S, SPARE, SPARE_S = 1, 1.1, 10
"""How much longer than what counts a stretch takes, to the next whole second; and how much longer all may take, on a
machine where changing over takes longer now and then."""
CONNECT_S = 3
"""After which the load begins, on a whole second, so that stretches can begin and end where its intervals do."""
ON, OFF = "observed", "alone"
SPLIT = "split"
"""The placement of `benches.split_load`."""
FIGURES = {
    "throughput": "rate_per_s",
    "speed of the processors": "speed",
    "throughput at the same speed": "rate_at_speed",
    "processor time of all per transaction at the same speed": "cpu_at_speed",
}
"""The figures to compare, and the property of `Rated` that holds each."""
MEDIAN_BLOCKS = 6
"""Below, all blocks together may lie on one side of the median with more than 5 % probability."""
STORES = {"mariadb": servers.mariadb, "postgresql": servers.postgresql, "redis": servers.redis_server}


def cpu_s_of(pid: int) -> float:
    """Return the processor time of a process, all its threads, in s: clock_getcpuclockid(3), to the nanosecond."""
    return time.clock_gettime((~pid << 3) | 2)


@contextmanager
def observed(started: Started, client_pid: int, folder: Path) -> Iterator[Observer]:
    """Observe a server and its client meanwhile."""
    system = started.watched or started.system
    watched = Observed(system.server_pids(), system.forking(), system.data_directories(), system.probes())
    observer = Observer(watched, folder)
    with observer.watching(client_pid, False):
        yield observer


@dataclass(frozen=True)
class Stretch:
    """Some seconds of one load, begin_unix_s to end_unix_s, observed all the while or not at all.

    server_cpu, client_cpu, observer_cpu: s of processor time per s. waits_per_s: how often the server said its waits.
    speed: of the processors meanwhile.
    """

    begin_unix_s: float
    end_unix_s: float
    server_cpu: float
    client_cpu: float
    observer_cpu: float
    waits_per_s: float
    speed: float


@dataclass(frozen=True)
class Rated:
    """A stretch and what was done in it."""

    stretch: Stretch
    rate_per_s: float

    @property
    def speed(self) -> float:
        """The speed of the processors."""
        return self.stretch.speed

    @property
    def rate_at_speed(self) -> float:
        """Throughput, as it would be were the processors as fast in every stretch."""
        return self.rate_per_s / self.speed

    @property
    def cpu_at_speed(self) -> float:
        """Processor time of client, server and observers per transaction, the same."""
        of = self.stretch
        return (of.server_cpu + of.client_cpu + of.observer_cpu) / self.rate_at_speed


def sleep_until(at_unix_s: float) -> None:
    """Sleep until then; not at all if that is past."""
    time.sleep(max(0.0, at_unix_s - time.time()))


@dataclass(frozen=True)
class SoFar:
    """Usage until a moment: s of processor time, how often waits were read, and the gauges."""

    at_unix_s: float
    server_s: Mapping[int, float]
    client_s: float
    own_s: float
    waits: int
    gauged: NDArray[np.float64]

    def until(self, later: "SoFar") -> Stretch:
        """Return the stretch from this moment to a later one; what a process used that ended meanwhile is left out."""
        lasted_s = later.at_unix_s - self.at_unix_s
        both = self.server_s.keys() & later.server_s.keys()
        used_s = (
            sum(later.server_s[pid] - self.server_s[pid] for pid in both),
            later.client_s - self.client_s,
            later.own_s - self.own_s,
            later.waits - self.waits,
        )
        per_s = (used / lasted_s for used in used_s)
        return Stretch(self.at_unix_s, later.at_unix_s, *per_s, speed=speed(self.gauged, later.gauged))


def watch_stretch(side: str, started: Started, gauge: SpeedGauge, clients: Sequence[int], seconds: int) -> Stretch:
    """Let the load run on for whole seconds of the clock, observed or alone; what changing over costs is left out.

    clients: the pids of the load clients. Only one of several is observed: a run has one.
    """
    (server_pid,) = started.system.server_pids().values()

    def so_far() -> SoFar:
        # This process does nothing else meanwhile: what it uses is the observers'.
        now, own_s, waits = time.time(), time.process_time(), observer.waits_seen if observer else 0
        server_s: dict[int, float] = {}
        for pid in pids:
            with suppress(OSError):
                server_s[pid] = cpu_s_of(pid)
        return SoFar(now, server_s, sum(map(cpu_s_of, clients)), own_s, waits, gauge.so_far())

    observer: Observer | None = None
    with ExitStack() as stack:
        if side == ON:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            observer = stack.enter_context(observed(started, clients[0], Path(folder)))
        begin = math.ceil(time.time() + SETTLE_S)
        # PostgreSQL's backends; to list them costs more than a second of observing, so before it counts.
        pids = [server_pid, *(child.pid for child in psutil.Process(server_pid).children(recursive=True))]
        sleep_until(begin)
        before = so_far()
        sleep_until(begin + seconds)
        return before.until(so_far())


def run_both(
    bench: Bench, started: Started, placement: Placement, pairs: int, seed: str, rate_per_s: int | None = None
) -> dict[str, list[Rated]]:
    """Run one load, in a closed loop or at a rate, and observe it now and then.

    Two loads one after the other differ by where the scheduler happens to have put the threads of each, on processors
    that nobody is pinned to by several per cent; stretches of one load do not.
    """
    order = [side for block in abba_order((ON, OFF), pairs, seed=seed) for side in block]
    duration_s = math.ceil(len(order) * (bench.seconds + CHANGE_OVER_S) * SPARE) + SPARE_S
    cpus = sorted({*(placement.client_cpus or ()), *(placement.server_cpus or ())} or os.sched_getaffinity(0))
    parts = [Placement(placement.name, (cpu,), (cpu,)) for cpu in cpus] if placement.name == SPLIT else [placement]
    begin = math.ceil(time.time()) + CONNECT_S
    paced = {
        "kind": "constant",
        "segments": [{"seconds": duration_s, "from_per_s": rate_per_s, "to_per_s": rate_per_s}],
    }
    more = {"arrivals": paced} if rate_per_s else {}
    wanted = load.plan(
        started.store, bench.rows, load.MEASURE, clients=CLIENTS, duration_s=duration_s, start_at_unix_s=begin, **more
    )
    stretches: list[Stretch] = []

    def watch(pids: Sequence[int]) -> None:
        with ExitStack() as stack:
            if len(parts) > 1:
                cpu_of = dict(zip(pids, cpus, strict=True))
                stack.enter_context(split_load.kept_apart(started, cpu_of, CLIENTS, begin))
            sleep_until(begin)
            gauge = stack.enter_context(gauging(cpus))
            stretches.extend(watch_stretch(side, started, gauge, pids, bench.seconds) for side in order)

    recorded = split_load.execute(wanted, parts, watch)
    rated = [Rated(stretch, sum(_rate_per_s(stretch, records) for records in recorded)) for stretch in stretches]
    return {
        which: [stretch for side, stretch in zip(order, rated, strict=True) if side == which] for which in (ON, OFF)
    }


def run_loads(
    bench: Bench, started: Started, placement: Placement, pairs: int, rate_per_s: int | None = None
) -> dict[str, list[Rated]]:
    """Run as many loads, one after the other, as so many pairs take: none may run for longer than `HANG_S`."""
    fit = int((HANG_S - CONNECT_S - SPARE_S - 1) / (2 * (bench.seconds + CHANGE_OVER_S) * SPARE)) // 2 * 2
    if not fit:
        raise UserError(f"two pairs of {bench.seconds} s take more than the {HANG_S:.0f} s a load may run")
    both: dict[str, list[Rated]] = {ON: [], OFF: []}
    while missing := pairs - len(both[ON]):
        for side, rated in run_both(
            bench, started, placement, min(fit, missing), str(len(both[ON])), rate_per_s
        ).items():
            both[side] += rated
    return both


def _rate_per_s(of: Stretch, records: list[dict[str, Any]]) -> float:
    """The throughput within a stretch; of an interval that lies partly outside, as on a busy machine, that part."""
    started = ("phase", "run", "start")
    (at,) = (
        record["at_unix_s"]
        for record in records
        if (record["record"], record.get("phase"), record.get("state")) == started
    )
    done, lasted_s = 0.0, 0.0
    for interval in (record for record in records if record["record"] == "interval"):
        seconds = interval["seconds"]
        within_s = max(0.0, min(of.end_unix_s, at + seconds) - max(of.begin_unix_s, at))
        done += interval["transactions"]["completed"] * within_s / seconds
        lasted_s += within_s
        at += seconds
    if not done or at < of.end_unix_s - CHANGE_OVER_S:
        raise RunFailed("the load ended before all of it was watched")
    return float(done / lasted_s)


def compare_sides(run: Callable[..., dict[str, list[Rated]]], pairs: int) -> Iterator[str]:
    """Run the load as fast as it goes and at a low rate, and yield the lines that say what differed."""
    loaded = run(pairs)
    for what, of in FIGURES.items():
        alone, watched = (_blocks([getattr(rated, of) for rated in loaded[side]]) for side in (OFF, ON))
        yield f"{what} {_words(compare(alone, watched, LIMIT))}; {_median_in_words(np.log(watched) - np.log(alone))}"
    asked = f"asking for waits {_mean(loaded[ON], 'waits_per_s'):.1f} times a second"
    yield f"observers, under load: {_mean(loaded[ON], 'observer_cpu'):.2%} of one processor, {asked}"
    paced = run(min(pairs, PACED_PAIRS), PACE_PER_S)
    answered = median(
        on.stretch.server_cpu - off.stretch.server_cpu for on, off in zip(paced[ON], paced[OFF], strict=True)
    )
    own = _mean(paced[ON], "observer_cpu")
    yield f"at {PACE_PER_S}/s: observers {own:.2%} of one processor, and {answered:.2%} the server, to answer them"


def _blocks(figures: Sequence[float]) -> list[float]:
    """Return the geometric means of the ABBA blocks: whatever rises or falls steadily is as much in A as in B."""
    return [math.sqrt(first * second) for first, second in zip(figures[::2], figures[1::2], strict=True)]


def _mean(rated: list[Rated], of: str) -> float:
    return sum(getattr(rating.stretch, of) for rating in rated) / len(rated)


def _words(comparison: Comparison) -> str:
    if comparison.low is None or comparison.high is None:
        return f"{comparison.ratio - 1:+.2%}, one block: no interval"
    interval = f"95 % interval {comparison.low - 1:+.2%} to {comparison.high - 1:+.2%} of {comparison.pairs} blocks"
    return f"{comparison.ratio - 1:+.2%}, {interval}, {comparison.verdict} by ±{comparison.margin:.0%}"


def _median_in_words(log_ratios: NDArray[np.float64]) -> str:
    """The median of the blocks, whose interval (of the sign test) no block moves by being far off.

    A neighbour on the machine that comes or goes within a block changes that block by tens of per cent, and with it the
    interval of the mean.
    """
    if len(log_ratios) < MEDIAN_BLOCKS:
        return f"{math.expm1(float(np.median(log_ratios))):+.2%} in the median block, too few blocks for an interval"
    low, high = quantile_test(log_ratios, q=0, p=0.5).confidence_interval(CONFIDENCE)
    words = [f"{math.expm1(log_ratio):+.2%}" for log_ratio in (float(np.median(log_ratios)), low, high)]
    return f"{words[0]} in the median block, 95 % interval {words[1]} to {words[2]}"


def main() -> int:
    """Compare each store with and without observers; the exit status says nothing of what was found."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    pairs, seconds, rows = setting("BENCH_PAIRS", 60), setting("BENCH_SECONDS", 3), setting("BENCH_TABLE_ROWS", 100_000)
    pairs += pairs % 2
    there = placements() | {SPLIT: Placement(SPLIT, None, None)}
    placement = there[chosen("BENCH_PLACEMENTS", list(there))[0]]
    names = sys.argv[1:] or list(STORES)
    if placement.name == SPLIT and not {*names} <= {*split_load.STORES}:
        raise UserError(f"placement {SPLIT} is of {' and '.join(split_load.STORES)}, who say whom they answer")
    # The observers are threads of this process. A run leaves them to the kernel, wherever client and server are.
    beside = placement.client_cpus if os.environ.get("BENCH_OBSERVERS") == "beside" else None
    where = "beside the client" if beside else "anywhere"
    print(f"{pairs} pairs of {seconds} s, {CLIENTS} clients, placement {placement.name}, observers {where}", flush=True)
    warn_of_company()
    if beside:
        os.sched_setaffinity(0, beside)
    with Guard() as guard:
        bench = Bench(guard, FOLDER, seconds, rows, rows)
        for name in names:
            with STORES[name](bench, placement) as given:
                started = given[0] if isinstance(given, tuple) else given
                if placement.name == SPLIT:
                    started = started.by_tcp()
                if name == "mariadb":
                    servers.fill(started, rows, placement)
                for line in compare_sides(partial(run_loads, bench, started, placement), pairs):
                    print(f"{name}: {line}", flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (UserError, RunFailed) as error:
        sys.exit(f"benches.observe: {error}")
