"""The cost of several hosts: `python -m benches.hosts [ROW …]` as root, with network namespaces as hosts.

`conductor-10`, `conductor-200`: processor time of the conductor while as many simulated hosts run a trial.
`skew`: how late the hosts of a trial begin. `merge`: one trial's records of 200 hosts and 600 s.
`remote`: processor time of the load client per operation, as a host of a run and without hosts, on the same path.
"""

import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import psutil
from tests.hosts.namespaces import CONDUCTOR, Hosts

from benches import load, servers
from benches.__main__ import setting, warn_of_company
from benches.measured import placements
from benches.servers import Bench
from dbdyno.hosts.certificates import make_certificates
from dbdyno.systems.running.guard import Guard

DBDYNO = (sys.executable, "-P", "-m", "dbdyno")
SETTLE_S, WATCHED_S = 3.0, 10.0
"""After a trial began: until the conductor's processor time counts, and for how long."""
TRIALS = 34
"""Trials of `skew`, each with three hosts: the 99th percentile of 102 starts is the second largest."""
MERGED_HOSTS, MERGED_S = 200, 600
RECORDED_S = 10
"""Seconds that are recorded for `merge`, and repeated until there are enough."""
JOIN_S = 300.0


@dataclass(frozen=True)
class Figure:
    """A line of the table: what was measured, and the most that it may be."""

    row: str
    what: str
    value: float
    limit: float
    unit: str

    @property
    def met(self) -> bool:
        """Return whether the limit is kept."""
        return self.value <= self.limit

    def __str__(self) -> str:
        met = "met" if self.met else "**not met**"
        return f"| {self.row} | {self.what} | {self.value:.3g} {self.unit} | ≤ {self.limit:g} {self.unit} | {met} |"


def conductor(count: int, limit: float) -> list[Figure]:
    """Return the conductor's share of a processor while a trial runs on so many simulated hosts.

    The store is on a host of its own, so of it only its own figures are observed. What that costs has a limit of its
    own (`benches.observe`) and is left out.
    """
    names = [f"h{number}" for number in range(count)]
    with _folder() as folder, Hosts(["store"]) as hosts:
        url = _redis(hosts, "store")
        _table(folder, f"tls://{hosts.addresses[CONDUCTOR]}:8786", names)
        simulated = [sys.executable, "-m", "benches.simulated_hosts", hosts.addresses[CONDUCTOR], str(folder), *names]
        seconds = int(SETTLE_S + WATCHED_S) + 7
        run = [*DBDYNO, "run", "point-get", "--hosts", str(folder / "hosts.toml"), "--system", url, "--rows", "1000"]
        run += ["--clients", str(count), "--seconds", str(seconds), "--warmup", "0", "--out", str(folder / "runs")]
        run += ["--set", f"rate={10 * count}", "--set", "host=false", "--set", "ceiling=false", "--quiet"]
        hosts.start(CONDUCTOR, *simulated)
        conducting = hosts.start(CONDUCTOR, *run, env=_environment(folder, CONDUCTOR))
        _wait_for_trial(folder, names[-1], conducting)
        time.sleep(SETTLE_S)
        before_s, begun_s = _cpu_s(conducting.pid), time.monotonic()
        time.sleep(WATCHED_S)
        share = (_cpu_s(conducting.pid) - before_s) / (time.monotonic() - begun_s)
        _end_well(conducting)
        (file,) = folder.glob("runs/*/trials/*/trial.json")
        trial = json.loads(file.read_text())
        share -= trial["observer_cpu_s"] / (trial["ended_unix_s"] - trial["started_unix_s"])
    return [Figure(f"conductor-{count}", "processor time of the conductor", 100 * share, 100 * limit, "% of one")]


def skew() -> list[Figure]:
    """Return how late a host begins, the 99th percentile over hosts and trials."""
    names = ["c1", "c2", "c3"]
    with _folder() as folder, Hosts(names) as hosts:
        url = _redis(hosts, CONDUCTOR)
        _join(hosts, folder, names)
        run = ["--clients", "6", "--seconds", "1", "--warmup", "0", "--repeat", str(TRIALS), "--set", "rate=600"]
        trials = _run(hosts, CONDUCTOR, folder, url, "--hosts", str(folder / "hosts.toml"), *run)
    late_ms = sorted(1000 * abs(host["start_skew_s"]) for trial in trials for host in trial["hosts"])
    p99_ms = late_ms[math.ceil(0.99 * len(late_ms)) - 1]
    return [Figure("skew", f"99th percentile of {len(late_ms)} starts, late or early", p99_ms, 2.0, "ms")]


def merge() -> list[Figure]:
    """Return how long the records of many hosts take to merge, and the memory of all processes that do it."""
    with _folder() as folder:
        records = _recorded()
        for number in range(MERGED_HOSTS):
            (folder / f"{number:03}.jsonl").write_text(records)
        merging = [sys.executable, "-m", "benches.merge_hosts", str(folder)]
        out = json.loads(subprocess.run(merging, check=True, stdout=subprocess.PIPE, text=True).stdout)
    what = f"{MERGED_HOSTS} hosts, {MERGED_S} s, {MERGED_HOSTS * len(records) / 1e6:.0f} MB of records"
    return [
        Figure("merge", f"time, {what}", out["seconds"], 10.0, "s"),
        Figure("merge", "peak resident memory of all processes", out["peak_mb"], 500.0, "MB"),
    ]


def remote() -> list[Figure]:
    """Return how much more processor time a transaction costs a client that is the host of a run."""
    first, *others = sorted(os.sched_getaffinity(0))
    ratios = []
    with _folder() as folder, Hosts(["c1"]) as hosts:
        url = _redis(hosts, CONDUCTOR, first)
        _join(hosts, folder, ["c1"])
        run = ["--clients", "16", "--seconds", str(setting("BENCH_SECONDS", 5)), "--warmup", "1"]
        run += ["--set", f"cpus.client=[{(others or [first])[0]}]"]
        for _ in range(setting("BENCH_PAIRS", 5)):
            (there,) = _run(hosts, CONDUCTOR, folder, url, "--hosts", str(folder / "hosts.toml"), *run)
            (here,) = _run(hosts, "c1", folder, url, *run)
            ratios.append(there["cost"]["client_cpu_us"] / here["cost"]["client_cpu_us"])
    spread = f"{min(ratios):.3f} to {max(ratios):.3f}"
    return [Figure("remote", f"client CPU per operation, {len(ratios)} pairs, {spread}", median(ratios), 1.03, "×")]


ROWS: Mapping[str, Callable[[], list[Figure]]] = {
    "conductor-10": lambda: conductor(10, 0.02),
    "conductor-200": lambda: conductor(200, 0.10),
    "skew": skew,
    "merge": merge,
    "remote": remote,
}


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="dbdyno-bench-") as folder:
        yield Path(folder)


def _redis(hosts: Hosts, name: str, cpu: int | None = None) -> str:
    """Start a Redis without a password on a host, on one processor or any, and return its URL.

    It ends with the hosts.
    """
    address, pinned = hosts.addresses[name], [] if cpu is None else ["taskset", "-c", str(cpu)]
    server = [*pinned, "redis-server", "--bind", address, "--port", "6379", "--save", "", "--protected-mode", "no"]
    hosts.start(name, *server, stdout=subprocess.DEVNULL)
    return f"redis://{address}:6379"


def _table(folder: Path, address: str, names: list[str]) -> None:
    """Make the certificates and the file of the hosts of a run."""
    certificates = folder / "certificates"
    make_certificates(certificates, names)
    table = {"address": address, "client": names, "certificates": str(certificates)}
    table |= {"wait_seconds": int(JOIN_S), "link_seconds": 0}
    (folder / "hosts.toml").write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in table.items()))


def _join(hosts: Hosts, folder: Path, names: list[str]) -> None:
    """Start a worker on each host."""
    address = f"tls://{hosts.addresses[CONDUCTOR]}:8786"
    _table(folder, address, names)
    for name in names:
        worker = [*DBDYNO, "worker", address, "--name", name, "--role", "client"]
        worker += ["--certificates", str(folder / "certificates")]
        hosts.start(name, *worker, env=_environment(folder, name))


def _environment(folder: Path, name: str) -> dict[str, str]:
    return {**os.environ, "DBDYNO_STATE_DIR": str(folder / "state" / name)}


def _run(hosts: Hosts, name: str, folder: Path, url: str, *options: str) -> list[dict[str, Any]]:
    """Run `point-get` on a host, and return its trials as `show --json` has them."""
    out = folder / "runs" / str(time.monotonic_ns())
    command = [*DBDYNO, "run", "point-get", "--system", url, "--rows", "10000", "--out", str(out)]
    command += ["--set", "host=false", "--set", "ceiling=false", "--quiet", *options]
    running = hosts.start(name, *command, env=_environment(folder, f"{name}-conducts"))
    _end_well(running)
    (run,) = out.iterdir()
    document = subprocess.run([*DBDYNO, "show", str(run), "--json"], check=True, stdout=subprocess.PIPE)
    trials = json.loads(document.stdout)["trials"]
    for trial, file in zip(trials, sorted(run.glob("trials/*/trial.json")), strict=True):
        trial["hosts"] = json.loads(file.read_text()).get("hosts", [])
    return list(trials)


def _end_well(running: subprocess.Popen[bytes]) -> None:
    if status := running.wait():
        sys.exit(f"benches.hosts: dbdyno ended with {status}")


def _wait_for_trial(folder: Path, name: str, conducting: subprocess.Popen[bytes]) -> None:
    """Wait until a host has told of its first second."""
    end = time.monotonic() + JOIN_S
    while not any('"interval"' in file.read_text() for file in folder.glob(f"runs/*/trials/*/hosts/{name}/live.jsonl")):
        if conducting.poll() is not None or time.monotonic() > end:
            sys.exit("benches.hosts: no trial began")
        time.sleep(0.5)


def _cpu_s(pid: int) -> float:
    """Return the processor time of a process and all that it started, so far."""
    first = psutil.Process(pid)
    times = [process.cpu_times() for process in (first, *first.children(recursive=True))]
    return sum(time.user + time.system for time in times)


def _recorded() -> str:
    """Return the records of one host over MERGED_S seconds: those of a short load, its seconds repeated."""
    with Guard() as guard, _folder() as folder:
        bench, placement = Bench(guard, folder, RECORDED_S, 10_000, 0), placements()["free"]
        with servers.redis_server(bench, placement) as (started, _):
            wanted = load.plan(started.store, bench.rows, load.MEASURE, clients=16, duration_s=RECORDED_S)
            _, records = load.execute(wanted, placement)
    seconds = [record for record in records if record["record"] == "interval"]
    first, last = records.index(seconds[0]), records.index(seconds[-1])
    repeated = [seconds[number % len(seconds)] | {"second": number} for number in range(MERGED_S)]
    every = [*records[:first], *repeated, *records[last + 1 :]]
    return "".join(json.dumps(record) + "\n" for record in every)


def main() -> int:
    """Measure the rows, print the table, and return 1 if a limit is not kept."""
    names = sys.argv[1:] or list(ROWS)
    if unknown := [name for name in names if name not in ROWS]:
        sys.exit(f"there is no {unknown[0]}; there are {', '.join(ROWS)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    warn_of_company()
    print("| row | measured | figure | must be | met |\n|---|---|---:|---:|---|", flush=True)
    all_met = True
    for name in names:
        for figure in ROWS[name]():
            print(figure, flush=True)
            all_met = all_met and figure.met
    return int(not all_met)


if __name__ == "__main__":
    sys.exit(main())
