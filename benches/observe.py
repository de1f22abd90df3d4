"""What observing costs: the same load with observers and without, in pairs (`python -m benches.observe`).

Of each store: throughput, as `dbdyno compare` compares it; the processor time of client, server and observers together
per transaction; and, at a rate so low that hardly anything else runs, what observers and the server use to ask and to
answer, which other work on the machine moves least. Variables as in benches/README.md.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from benches import load, servers
from benches.__main__ import FOLDER, setting, warn_of_company
from benches.measured import Placement, placements
from benches.servers import Bench, Started
from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.order import abba_order
from dbdyno.observe.observer import Observed, Observer
from dbdyno.stats.comparison import Comparison, compare
from dbdyno.systems.guard import Guard

LIMIT = 0.01
CLIENTS = setting("BENCH_CLIENTS", 64)
PACE_PER_S = 64
SETTLE_S = 1.0
"""After observing has begun or ended, before it counts: connecting and asking for the first time costs more."""
CHANGE_OVER_S = 2
"""How much longer than what counts a stretch takes at most."""
ON, OFF = "observed", "alone"
STORES = {"mariadb": servers.mariadb, "redis": servers.redis_server}


def cpu_s_of(pid: int) -> float:
    """Return the processor time of a process, all its threads, in s: clock_getcpuclockid(3), to the nanosecond."""
    return time.clock_gettime((~pid << 3) | 2)


@contextmanager
def observed(started: Started, client_pid: int, folder: Path) -> Iterator[None]:
    """Observe a server and its client meanwhile."""
    system = started.system
    watched = Observed(system.server_pids(), system.forking(), system.data_directories(), system.probes())
    with Observer(watched, folder).watching(client_pid, False):
        yield


@dataclass(frozen=True)
class Stretch:
    """Some seconds of one load, begin_unix_s to end_unix_s, observed all the while or not at all.

    server_cpu, client_cpu, observer_cpu: s of processor time per s.
    """

    begin_unix_s: float
    end_unix_s: float
    server_cpu: float
    client_cpu: float
    observer_cpu: float


@dataclass(frozen=True)
class Rated:
    """A stretch and what was done in it. cpu_us: of client, server and observers, per transaction."""

    stretch: Stretch
    rate_per_s: float

    @property
    def cpu_us(self) -> float:
        """Processor time of all, per transaction."""
        of = self.stretch
        return (of.server_cpu + of.client_cpu + of.observer_cpu) / self.rate_per_s * 1e6


def watch_stretch(side: str, started: Started, client_pid: int, seconds: int) -> Stretch:
    """Let the load run on, observed or alone; what changing over costs is left out."""
    (server_pid,) = started.system.server_pids().values()

    def used_s() -> tuple[float, float, float]:
        # This process does nothing else meanwhile: what it uses is the observers'.
        return cpu_s_of(server_pid), cpu_s_of(client_pid), time.process_time()

    with ExitStack() as stack:
        if side == ON:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            stack.enter_context(observed(started, client_pid, Path(folder)))
        time.sleep(SETTLE_S)
        began, before_s = time.time(), used_s()
        time.sleep(seconds)
        ended, after_s = time.time(), used_s()
    shares = ((after - before) / (ended - began) for before, after in zip(before_s, after_s, strict=True))
    return Stretch(began, ended, *shares)


def run_both(
    bench: Bench, started: Started, placement: Placement, pairs: int, rate_per_s: int | None = None
) -> dict[str, list[Rated]]:
    """Run one load, in a closed loop or at a rate, and observe it now and then.

    Two loads one after the other differ by where the scheduler happens to have put the threads of each, on processors
    that nobody is pinned to by several per cent; stretches of one load do not.
    """
    order = [side for block in abba_order((ON, OFF), pairs, seed="1") for side in block]
    duration_s = len(order) * (bench.seconds + CHANGE_OVER_S) + CHANGE_OVER_S
    paced = {
        "kind": "constant",
        "segments": [{"seconds": duration_s, "from_per_s": rate_per_s, "to_per_s": rate_per_s}],
    }
    more = {"arrivals": paced} if rate_per_s else {}
    wanted = load.plan(started.store, bench.rows, load.MEASURE, clients=CLIENTS, duration_s=duration_s, **more)
    stretches: list[Stretch] = []

    def watch(pid: int) -> None:
        time.sleep(SETTLE_S)
        stretches.extend(watch_stretch(side, started, pid, bench.seconds) for side in order)

    _, records = load.execute(wanted, placement, watch)
    rated = [Rated(one, _rate_per_s(one, records)) for one in stretches]
    return {which: [one for side, one in zip(order, rated, strict=True) if side == which] for which in (ON, OFF)}


def _rate_per_s(of: Stretch, records: list[dict[str, Any]]) -> float:
    """The throughput of the seconds that lie within a stretch."""
    begun = ("phase", "run", "begin")
    (at,) = (one["at_unix_s"] for one in records if (one["record"], one.get("phase"), one.get("state")) == begun)
    done, lasted_s = 0, 0.0
    for interval in (one for one in records if one["record"] == "interval"):
        if of.begin_unix_s <= at and at + interval["seconds"] <= of.end_unix_s:
            done, lasted_s = done + interval["transactions"]["completed"], lasted_s + interval["seconds"]
        at += interval["seconds"]
    if not done:
        raise RunFailed("the load ended before all of it was watched")
    return float(done / lasted_s)


def compare_sides(run: Callable[..., dict[str, list[Rated]]]) -> Iterator[str]:
    """Run the load as fast as it goes and at a low rate, and yield the lines that say what differed."""
    loaded = run()
    for what, of in (("throughput", "rate_per_s"), ("processor time of all per transaction", "cpu_us")):
        found = compare(*([getattr(one, of) for one in loaded[side]] for side in (OFF, ON)), LIMIT)
        yield f"{what} {_words(found)}"
    yield f"observers, under load: {_mean(loaded[ON], 'observer_cpu'):.2%} of one processor"
    paced = run(PACE_PER_S)
    asked = median(
        on.stretch.server_cpu - off.stretch.server_cpu for on, off in zip(paced[ON], paced[OFF], strict=True)
    )
    own = _mean(paced[ON], "observer_cpu")
    yield f"at {PACE_PER_S}/s: observers {own:.2%} of one processor, and {asked:.2%} the server, to answer them"


def _mean(rated: list[Rated], of: str) -> float:
    return sum(getattr(one.stretch, of) for one in rated) / len(rated)


def _words(found: Comparison) -> str:
    if found.low is None or found.high is None:
        return f"{found.ratio - 1:+.2%}, one pair: no interval"
    return f"{found.ratio - 1:+.2%}, 95 % interval {found.low - 1:+.2%} to {found.high - 1:+.2%} ({found.pairs} pairs)"


def main() -> int:
    """Compare each store with and without observers; the exit status says nothing of what was found."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    pairs, seconds, rows = setting("BENCH_PAIRS", 10), setting("BENCH_SECONDS", 5), setting("BENCH_TABLE_ROWS", 100_000)
    placement = placements()[os.environ.get("BENCH_PLACEMENTS") or "same"]
    print(f"{pairs} pairs of {seconds} s, {CLIENTS} clients, placement {placement.name}", flush=True)
    warn_of_company()
    if placement.client_cpus:
        # The observers are threads of this process; they are to compete with what they observe.
        os.sched_setaffinity(0, placement.client_cpus)
    with Guard() as guard:
        bench = Bench(guard, FOLDER, seconds, rows, rows)
        for name, start in STORES.items():
            with start(bench, placement) as given:
                started = given[0] if isinstance(given, tuple) else given
                if name == "mariadb":
                    servers.fill(started, rows, placement)
                for line in compare_sides(partial(run_both, bench, started, placement, pairs)):
                    print(f"{name}: {line}", flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (UserError, RunFailed) as error:
        sys.exit(f"benches.observe: {error}")
