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
ON, OFF = "observed", "alone"
STORES = {"mariadb": servers.mariadb, "redis": servers.redis_server}


def cpu_s_of(pid: int) -> float:
    """Return the processor time of a process, all its threads, in s: clock_getcpuclockid(3), to the nanosecond."""
    return time.clock_gettime((~pid << 3) | 2)


@contextmanager
def observed(started: Started, folder: Path):
    """Yield what begins to observe a client, given its pid, and the observer; it ends with the context."""
    system = started.system
    pids, directories, probes = system.server_pids(), system.data_directories(), system.probes()
    with ExitStack() as stack:
        observer = Observer(Observed(pids, system.forking(), directories, probes), folder)
        yield lambda pid: stack.enter_context(observer.watching(pid, False)), observer


@dataclass(frozen=True)
class Run:
    """One run. cpu_us: of all processes, per transaction. server_cpu, observer_cpu: s of processor time per s."""

    rate_per_s: float
    cpu_us: float
    server_cpu: float
    observer_cpu: float


def run_once(bench: Bench, started: Started, placement: Placement, side: str, rate_per_s: int | None = None) -> Run:
    """Run the load, in a closed loop or at a rate."""
    paced = {
        "kind": "constant",
        "segments": [{"seconds": bench.seconds, "from_per_s": rate_per_s, "to_per_s": rate_per_s}],
    }
    more = {"arrivals": paced} if rate_per_s else {}
    wanted = load.plan(started.store, bench.rows, load.MEASURE, clients=CLIENTS, duration_s=bench.seconds, **more)
    (pid,) = started.system.server_pids().values()
    server_cpu_s = cpu_s_of(pid)
    cpu_s = 0.0
    if side == ON:
        with tempfile.TemporaryDirectory() as folder, observed(started, Path(folder)) as (begin, observer):
            outcome, records = load.execute(wanted, placement, begin)
        cpu_s = observer.cpu_s
    else:
        outcome, records = load.execute(wanted, placement)
    server_cpu_s = cpu_s_of(pid) - server_cpu_s
    intervals = [record for record in records if record["record"] == "interval"]
    done = sum(record["transactions"]["completed"] for record in intervals)
    seconds = sum(record["seconds"] for record in intervals)
    all_cpu_s = outcome.user_s + outcome.system_s + server_cpu_s + cpu_s
    return Run(done / seconds, all_cpu_s / done * 1e6, server_cpu_s / seconds, cpu_s / seconds)


def compare_sides(run: Callable[..., Run], pairs: int) -> Iterator[str]:
    """Run both sides in ABBA blocks, and yield the lines that say what differed."""
    loaded, paced = _both(run, pairs, None), _both(run, pairs, PACE_PER_S)
    for what, of in (("throughput", "rate_per_s"), ("processor time of all per transaction", "cpu_us")):
        found = compare(*([getattr(one, of) for one in loaded[side]] for side in (OFF, ON)), LIMIT)
        yield f"{what} {_words(found)}"
    yield f"observers, under load: {_mean(loaded[ON], 'observer_cpu'):.2%} of one processor"
    asked = median(on.server_cpu - off.server_cpu for on, off in zip(paced[ON], paced[OFF], strict=True))
    own = _mean(paced[ON], "observer_cpu")
    yield f"at {PACE_PER_S}/s: observers {own:.2%} of one processor, and {asked:.2%} the server, to answer them"


def _both(run: Callable[..., Run], pairs: int, rate_per_s: int | None) -> dict[str, list[Run]]:
    runs: dict[str, list[Run]] = {ON: [], OFF: []}
    for block in abba_order((ON, OFF), pairs, seed="1"):
        for side in block:
            runs[side].append(run(side, rate_per_s))
    return runs


def _mean(runs: list[Run], of: str) -> float:
    return sum(getattr(one, of) for one in runs) / len(runs)


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
                for line in compare_sides(partial(run_once, bench, started, placement), pairs):
                    print(f"{name}: {line}", flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (UserError, RunFailed) as error:
        sys.exit(f"benches.observe: {error}")
