"""Rows against the programs that two published loads are known from: go-ycsb's six mixes, and mutilate's Facebook ETC.

No distribution has these programs. A row whose program is not on the path is left out, and says so.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pymemcache

from benches import servers
from benches.measured import Outcome, Placement, Sample, run_well
from benches.rows import Measure, Row, difference
from benches.servers import Bench, Started
from dbdyno.errors import RunFailed, UserError

CLIENTS = 16
OPERATIONS_PER_S = 20_000
"""Operations of go-ycsb for each second of a run, so that it takes about as long."""
NODE = "memcached?memory=1024&threads=4"
"""Room for the rows of both programs."""
SETS = 1 / 31
"""The share of sets of the published load: 30 gets to a set."""
_ZIPFIAN = {"requestdistribution": "zipfian"}
_READ_MOST = {"readproportion": "0.95"}
MIXES: dict[str, dict[str, str]] = {
    "a": {"readproportion": "0.5", "updateproportion": "0.5", **_ZIPFIAN},
    "b": {**_READ_MOST, "updateproportion": "0.05", **_ZIPFIAN},
    "c": {"readproportion": "1", **_ZIPFIAN},
    "d": {**_READ_MOST, "insertproportion": "0.05", "requestdistribution": "latest"},
    "e": {"scanproportion": "0.95", "insertproportion": "0.05", "maxscanlength": "100", **_ZIPFIAN},
    "f": {"readproportion": "0.5", "readmodifywriteproportion": "0.5", **_ZIPFIAN},
}
"""The proportions of YCSB's core workloads, as its property files have them; what is not named is 0."""
_PROPORTIONS = ("read", "update", "insert", "scan", "readmodifywrite")
MIX_NAMES = tuple(f"go-ycsb-{mix}" for mix in MIXES)
ETC_NAME = f"mutilate-{CLIENTS}"


@contextmanager
def ycsb(bench: Bench, placement: Placement) -> Iterator[list[Row]]:
    """Yield a row for each mix on one MariaDB, in which go-ycsb has a table of its own."""
    need("go-ycsb")
    with servers.mariadb(bench, placement) as started:
        yield [_mix(bench, placement, started, mix) for mix in MIXES]


def need(program: str) -> None:
    """Raise UserError if a program is not on the path."""
    if not shutil.which(program):
        raise UserError(f"{program} is not on the path")


def _mix(bench: Bench, placement: Placement, started: Started, mix: str) -> Row:
    endpoint = started.system.endpoint
    url = f"mysql://{endpoint.user}@{endpoint.host}:{endpoint.port}/{endpoint.database}"
    return Row(
        f"go-ycsb-{mix}",
        f"go-ycsb, {CLIENTS} clients, an operation at a time",
        (_RATE, _CLIENT_CPU, _share("reads or scans")),
        lambda: dbdyno(bench, placement, "ycsb", url, f"workload=ycsb-{mix}"),
        lambda: _go_ycsb_mix(bench, placement, endpoint, mix),
    )


def _go_ycsb_mix(bench: Bench, placement: Placement, endpoint: Any, mix: str) -> Sample:
    """Load go-ycsb's table anew and run a mix: it stops after a number of operations, never after a time."""
    _go_ycsb(bench, placement, endpoint, mix, "load", dropdata="true")
    operations = OPERATIONS_PER_S * bench.seconds
    return go_ycsb_sample(_go_ycsb(bench, placement, endpoint, mix, "run", operationcount=str(operations)), operations)


def _go_ycsb(bench: Bench, placement: Placement, endpoint: Any, mix: str, command: str, **more: str) -> Outcome:
    given = {f"{part}proportion": "0" for part in _PROPORTIONS} | MIXES[mix] | more
    given |= {"recordcount": str(bench.rows), "threadcount": str(CLIENTS), "mysql.user": endpoint.user}
    given |= {"mysql.host": endpoint.host, "mysql.port": str(endpoint.port), "mysql.db": endpoint.database}
    properties = (word for item in given.items() for word in ("-p", "=".join(item)))
    return run_well(["go-ycsb", command, "mysql", *properties], placement.client_cpus)


def go_ycsb_sample(outcome: Outcome, operations: int) -> Sample:
    """Return what go-ycsb says of so many operations; what is neither an update nor an insert reads.

    Raises RunFailed if an operation failed, or if it says something else.
    """
    took = re.search(r"^Run finished, takes (?:(\d+)m)?([\d.]+)(m?)s$", outcome.output, re.MULTILINE)
    counts = {name: int(count) for name, count in re.findall(_GO_YCSB, outcome.output, re.MULTILINE)}
    if not took or not counts or any(name.endswith("_ERROR") for name in counts):
        raise RunFailed(f"go-ycsb said what make bench does not understand: {outcome.output[-300:]}")
    seconds = 60 * int(took[1] or 0) + float(took[2]) / (1000 if took[3] else 1)
    written = counts.get("UPDATE", 0) + counts.get("INSERT", 0)
    return outcome.sample(operations, seconds, read_share=1 - written / operations)


_GO_YCSB = r"^(\w+) +- Takes\(s\): [\d.]+, Count: (\d+)"
"""A kind of operation and its count; the last one of several says all."""


@contextmanager
def etc(bench: Bench, placement: Placement) -> Iterator[list[Row]]:
    """Yield the row against mutilate; each side has a memcached just started."""
    need("mutilate")

    def ours() -> Sample:
        with servers.empty(bench, NODE, placement) as started:
            endpoint = started.system.endpoint
            url = f"memcached://{endpoint.host}:{endpoint.port}"
            return dbdyno(bench, placement, "facebook-etc", url, "workloads.facebook-etc.access=uniform")

    def theirs() -> Sample:
        with servers.empty(bench, NODE, placement) as started:
            endpoint = started.system.endpoint
            at = ("mutilate", "-s", f"{endpoint.host}:{endpoint.port}", "-r", bench.rows, "-K", "fb_key")
            at += ("-V", "fb_value")
            run_well([str(word) for word in (*at, "--loadonly")], placement.client_cpus)
            before = _gets_and_sets(started)
            load = ("--noload", "-u", f"{SETS:.6f}", "-c", CLIENTS, "-t", bench.seconds)
            outcome = run_well([str(word) for word in (*at, *load)], placement.client_cpus)
            gets, sets = (after - then for after, then in zip(_gets_and_sets(started), before, strict=True))
            sample = mutilate_sample(outcome)
            sample.details["read_share"] = gets / (gets + sets)
            return sample

    times = (_time("mean of a get", "mean_us"), _time("99th percentile of a get", "p99_us"))
    measures = (_RATE, _CLIENT_CPU, _share("gets"), *times)
    yield [Row(ETC_NAME, f"mutilate, {CLIENTS} clients, uniform", measures, ours, theirs)]


def mutilate_sample(outcome: Outcome) -> Sample:
    """Return what mutilate says of its operations; raises RunFailed if a get missed, or if it says something else."""
    heads = re.search(r"^#type +(.+)$", outcome.output, re.MULTILINE)
    reads = re.search(r"^read +(.+)$", outcome.output, re.MULTILINE)
    total = re.search(r"^Total QPS = [\d.]+ \((\d+) / ([\d.]+)s\)", outcome.output, re.MULTILINE)
    misses = re.search(r"^Misses = (\d+)", outcome.output, re.MULTILINE)
    if not (heads and reads and total and misses) or int(misses[1]):
        raise RunFailed(f"mutilate said what make bench does not understand: {outcome.output[-300:]}")
    times = dict(zip(heads[1].split(), map(float, reads[1].split()), strict=True))
    return outcome.sample(int(total[1]), float(total[2]), mean_us=times["avg"], p99_us=times["99th"])


def _gets_and_sets(started: Started) -> tuple[int, int]:
    """Return how many memcached has answered."""
    endpoint = started.system.endpoint
    with closing(pymemcache.Client((endpoint.host, endpoint.port))) as client:
        said = client.stats()
    return int(said[b"cmd_get"]), int(said[b"cmd_set"])


def dbdyno(bench: Bench, placement: Placement, experiment: str, url: str, *settings: str) -> Sample:
    """Run an experiment on a server as anyone would, and return its trial.

    Raises RunFailed if it does not end well, or if a row that it read was wrong.
    """
    program = (sys.executable, "-P", "-m", "dbdyno")
    given = (word for setting in ("host=false", *settings) for word in ("--set", setting))
    load = ("--rows", bench.rows, "--clients", CLIENTS, "--seconds", bench.seconds, "--warmup", 0)
    with TemporaryDirectory(dir=bench.folder) as folder:
        run = (*program, "run", experiment, "--system", url, *load, *given, "--out", folder)
        run_well([str(word) for word in run], placement.client_cpus)
        (there,) = Path(folder).iterdir()
        document = subprocess.run([*program, "show", there, "--json"], capture_output=True, text=True, check=True)
    (trial,) = json.loads(document.stdout)["trials"]
    if trial["failed"] or trial["mismatches"]:
        raise RunFailed(f"dbdyno: {trial['failed']} operations failed, {trial['mismatches']} rows were wrong")
    return _sample(trial)


def _sample(trial: dict[str, Any]) -> Sample:
    operations, done = trial["operations"], trial["transaction"]["count"]
    reads = next((operations[name] for name in ("read", "get", "scan") if name in operations), trial["transaction"])
    times, cpu_s = reads["service_time_us"], trial["cost"]["client_cpu_us"] * done / 1e6
    details = {"read_share": reads["count"] / done, "mean_us": times["mean"], "p99_us": times["p99"]}
    return Sample(done, trial["seconds"], cpu_s, 0.0, details)


def _share(of: str) -> Measure:
    shares: Callable[[Sample], float] = lambda sample: sample.details["read_share"] * 100  # noqa: E731
    return Measure(f"share of {of}", "%", shares, combine=difference, figure_unit="points")


def _time(what: str, key: str) -> Measure:
    return Measure(what, "µs", lambda sample: sample.details[key])


_RATE = Measure("operations/s", "/s", lambda sample: sample.rate_per_s)
_CLIENT_CPU = Measure("client CPU per operation", "µs", lambda sample: sample.cpu_us)
