"""The peers of dbdyno-load: sysbench, redis-benchmark, and bare loops in C that are compiled here."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import redis

from benches.measured import Outcome, Placement, Sample, run, run_well
from dbdyno.errors import RunFailed, UserError
from dbdyno.systems.postgresql.postgresql import programs
from dbdyno.systems.running.endpoint import Endpoint

SOURCES = Path(__file__).parent / "bare"
CONNECTED_PER_S = 32
"""Connections that PostgreSQL accepts in a second at the very least, as it starts a process for each."""
PROGRAMS_OF = {
    **{name: (f"{name}.c", "loop.c", "epoll.c") for name in ("mysql", "postgres", "redis", "memcached")},
    "postgres-uring": ("postgres.c", "loop.c", "uring.c", "-luring"),
    "postgres-uring-first": ("postgres.c", "loop.c", "uring.c", "-luring", "-DFIRST_ANSWER"),
    "postgres-uring-work": ("postgres.c", "loop.c", "uring.c", "-luring", "-DWORK"),
    "lmdb": ("lmdb.c", "-llmdb"),
    "timer": ("timer.c",),
}
"""The bare loops, with the sources and libraries of each."""
HEADERS = ("lmdb.h", "liburing.h")
INSTALL = (
    "apt-get install -y --no-install-recommends sysbench postgresql redis-tools redis-server memcached "
    "mariadb-server-core mariadb-client-core gcc libc6-dev liblmdb-dev liburing-dev"
)
PROGRAMS = ("sysbench", "redis-benchmark", "redis-server", "memcached", "mariadbd", "taskset", "cc")


def check_tools() -> None:
    """Raise UserError, with the line that installs everything, if a program or header is missing."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin"
    missing = [name for name in PROGRAMS if not shutil.which(name, path=path)]
    if (folder := programs()) is None or not (folder / "pgbench").exists():
        missing.append("pgbench")
    missing += [header for header in HEADERS if "cc" not in missing and not _includes(header)]
    if missing:
        raise UserError(f"missing: {', '.join(missing)}. To install everything make bench uses:\n    {INSTALL}")


def _includes(header: str) -> bool:
    only_read = ["cc", "-E", "-include", header, "-x", "c", os.devnull]
    return subprocess.run(only_read, capture_output=True, check=False).returncode == 0


def build(folder: Path) -> None:
    """Compile the bare loops into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, parts in PROGRAMS_OF.items():
        of = [SOURCES / part if part.endswith(".c") else part for part in parts]
        run_well(["cc", "-O2", "-Wall", "-o", folder / f"bare-{name}", *of])


def bare_loop(program: Path, port: int, clients: int, seconds: int, rows: int, placement: Placement) -> Sample:
    """Run a bare epoll loop over `rows` rows, a power of ten."""
    return _counted(run_well([program, str(port), str(clients), str(seconds), str(rows)], placement.client_cpus))


def bare_lmdb(program: Path, directory: Path, seconds: int, rows: int, mode: str, placement: Placement) -> Sample:
    """Run a bare loop of gets; mode: `begin`, `renew`, `touch`, `work` or `held`."""
    return _counted(run_well([program, directory, str(seconds), str(rows), mode], placement.client_cpus))


def bare_timer(program: Path, rate: int, seconds: int, placement: Placement) -> Sample:
    """Run a loop that only wakes up `rate` times a second."""
    count, wall_s, p99_us = run_well([program, str(rate), str(seconds)], placement.client_cpus).output.split()
    return Sample(int(count), float(wall_s), 0, 0, {"send_lag_p99_us": float(p99_us)})


def pymongo_gets(port: int, seconds: int, rows: int, placement: Placement) -> Sample:
    """Run a loop of gets through pymongo; start-up is not in its CPU."""
    program = [sys.executable, Path(__file__).parent / "pymongo_gets.py"]
    said = run_well([*program, str(port), str(rows), str(seconds)], placement.client_cpus).output.split()
    return Sample(int(said[0]), float(said[1]), float(said[2]), float(said[3]))


def _counted(outcome: Outcome) -> Sample:
    operations, seconds = outcome.output.split()
    return outcome.sample(int(operations), float(seconds))


def _sysbench(endpoint: Endpoint, script: str | Path, placement: Placement, *options: str) -> Outcome:
    where = (f"--mysql-host={endpoint.host}", f"--mysql-port={endpoint.port}", f"--mysql-user={endpoint.user}")
    return run_well(["sysbench", script, *where, f"--mysql-db={endpoint.database}", *options], placement.client_cpus)


def sysbench(
    endpoint: Endpoint, command: str, rows: int, placement: Placement, *options: str, script: str = "oltp_point_select"
) -> Outcome:
    """Run a command of a script of sysbench: `prepare` (which makes a secondary index after the rows), `run`."""
    size = ("--tables=1", f"--table-size={rows}", "--rand-type=uniform")
    return _sysbench(endpoint, script, placement, *size, *options, command)


def copy_in_server(endpoint: Endpoint, placement: Placement) -> Outcome:
    """Have MariaDB fill a copy of dbdyno's table for `secondary-get` by itself, and then make its index.

    No row comes from a client, and none is parsed: the least that a server does to load these rows.
    """
    statements = (
        "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",  # no locks on the rows that are read
        "CREATE TABLE alone LIKE dbdyno_bm",
        "DROP INDEX dbdyno_bm_sid ON alone",
        "INSERT INTO alone SELECT * FROM dbdyno_bm",
        "CREATE UNIQUE INDEX alone_sid ON alone (sid)",
    )
    where = ("-h", endpoint.host, "-P", str(endpoint.port), "-u", endpoint.user or "", endpoint.database)
    return run_well(["mariadb", *where, "-e", "; ".join(statements)], placement.client_cpus)


def sysbench_tpcc(endpoint: Endpoint, command: str, warehouses: int, placement: Placement, *options: str) -> Outcome:
    """Run a command of `tpcc.lua`: `tables`, `prepare`, `indexes`, `run`."""
    script = Path(__file__).parent / "tpcc.lua"
    return _sysbench(endpoint, script, placement, f"--warehouses={warehouses}", *options, command)


def sysbench_tpcc_run(endpoint: Endpoint, clients: int, seconds: int, warehouses: int, placement: Placement) -> Sample:
    """Measure its transactions, those that a deadlock restarts counted once, as dbdyno does."""
    load = (f"--threads={clients}", f"--time={seconds}", "--mysql-ignore-errors=1213,1020,1205")
    return _reported(sysbench_tpcc(endpoint, "run", warehouses, placement, *load), "total number of events")


def sysbench_run(endpoint: Endpoint, clients: int, seconds: int, rows: int, placement: Placement) -> Sample:
    """Measure point selects, which sysbench prepares, as dbdyno does."""
    return _reported(sysbench(endpoint, "run", rows, placement, f"--threads={clients}", f"--time={seconds}"), "queries")


def sysbench_oltp(endpoint: Endpoint, clients: int, seconds: int, rows: int, placement: Placement) -> Sample:
    """Measure transactions of oltp_read_write."""
    load = (f"--threads={clients}", f"--time={seconds}")
    return _reported(sysbench(endpoint, "run", rows, placement, *load, script="oltp_read_write"), "transactions")


def _reported(outcome: Outcome, counted: str) -> Sample:
    done = re.search(rf"{counted}: +(\d+)", outcome.output)
    elapsed = re.search(r"total time: +([\d.]+)s", outcome.output)
    if not done or not elapsed:
        raise RunFailed(f"sysbench said what make bench does not understand: {outcome.output[-300:]}")
    return outcome.sample(int(done[1]), float(elapsed[1]))


def pgbench(endpoint: Endpoint, placement: Placement, *options: str) -> Outcome:
    """Run pgbench; `-i` makes its tables. On the path Debian has a script that looks for it: it would be in the CPU."""
    program = (programs() or Path()) / "pgbench"
    # To libpq a socket is its directory and the port in its name.
    host = str(Path(endpoint.socket).parent) if endpoint.socket else endpoint.host
    where = ("-h", host, "-p", str(endpoint.port), "-U", endpoint.user or "")
    return run_well([program, *where, *options, endpoint.database], placement.client_cpus)


def pgbench_seconds(clients: int, seconds: int) -> int:
    """Return how long a run of pgbench must be: it connects within its time."""
    return seconds + clients // CONNECTED_PER_S


def pgbench_run(endpoint: Endpoint, clients: int, seconds: int, placement: Placement) -> Sample:
    """Measure its selects of one number by primary key, prepared as dbdyno's are; one thread, as there is one CPU.

    It connects within its time, so it is given more; the rate it tells is without.
    """
    time_s = pgbench_seconds(clients, seconds)
    load = ("-n", "-S", "-M", "prepared", "-c", str(clients), "-j", "1", "-T", str(time_s))
    outcome = pgbench(endpoint, placement, *load)
    done = re.search(r"transactions actually processed: (\d+)", outcome.output)
    rate_per_s = re.search(r"tps = ([\d.]+) \(without", outcome.output)
    if not done or not rate_per_s:
        raise RunFailed(f"pgbench completed nothing in {time_s} s, set BENCH_SECONDS higher: {outcome.output[-300:]}")
    return outcome.sample(int(done[1]), int(done[1]) / float(rate_per_s[1]))


def fill_for_redis_benchmark(client: redis.Redis, rows: int, size_bytes: int) -> None:
    """Make every key that `-t get -r rows` can ask for, each with a value as long as a row."""
    for first in range(0, rows, 1000):
        client.mset({f"key:{key:012d}": b"x" * size_bytes for key in range(first, min(first + 1000, rows))})


def redis_benchmark(
    client: redis.Redis, port: int, pipeline: int, seconds: int, rows: int, placement: Placement
) -> Sample:
    """Measure GETs at 64 connections. It takes no duration: it is stopped; the server's own count of hits counts."""
    command = ["redis-benchmark", "-p", port, "-t", "get", "-r", rows, "-c", 64, "-P", pipeline, "-n", 2_000_000_000]
    before = client.info("stats")
    outcome = run(["timeout", "--foreground", str(seconds), *map(str, command), "-q"], placement.client_cpus)
    after = client.info("stats")
    hits, misses = (after[key] - before[key] for key in ("keyspace_hits", "keyspace_misses"))
    if hits == 0 or misses:
        raise RunFailed(f"redis-benchmark: {hits} hits and {misses} misses: {outcome.output[-300:]}")
    return outcome.sample(hits, outcome.wall_s)
