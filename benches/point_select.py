"""dbdyno-load beside sysbench: point-get on one MariaDB, client and server on one processor, in alternation."""

import json
import os
import re
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benches.measured import Sample, placements, run, run_well
from dbdyno.conduct.load_client import find_load_client
from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.system_spec import parse_system
from dbdyno.systems import build
from dbdyno.systems.base import Launch
from dbdyno.systems.guard import Guard

ROWS = 20_000
CLIENTS = 64
SECONDS = int(os.environ.get("BENCH_SECONDS", "5"))
PAIRS = int(os.environ.get("BENCH_PAIRS", "5"))
CPU_LIMIT = 0.8
"""Of sysbench's client CPU per query."""
MEMORY_LIMIT_MB = 100


def watch_memory(pid: int, peak_mb: list[float]) -> None:
    """Keep the largest resident size in `peak_mb[0]` until the process ends, looking five times a second."""
    status = Path(f"/proc/{pid}/status")
    while peak := re.search(r"VmHWM:\s+(\d+) kB", status.read_text()):
        peak_mb[0] = int(peak[1]) / 1024
        time.sleep(0.2)


def dbdyno(store: dict[str, Any], secrets: list[str], phases: list[str]) -> tuple[Sample | None, float]:
    """Execute phases of point-get; return what the run phase cost and the peak memory in MB, if it was one of them."""
    plan = {
        "contract": 1,
        "phases": phases,
        "store": store,
        "workload": {"name": "point-get", "rows": ROWS, "options": {}},
        "clients": {"first": 0, "count": CLIENTS, "of": CLIENTS},
        "duration_s": SECONDS,
        "verify_reads": True,
        "run_id": "bench",
    }
    cpus = placements()["same"].client_cpus
    peak = [0.0]
    given = f"{json.dumps(plan)}\n{json.dumps({'secrets': secrets})}\n"
    outcome = run([find_load_client(), "run"], cpus, given, lambda pid: watch_memory(pid, peak))
    records = [json.loads(line) for line in outcome.output.splitlines() if line.startswith("{")]
    if outcome.status != 0:
        raise RunFailed(f"dbdyno-load: {records[-1] if records else outcome.output[-300:]}")
    total = next((record for record in records if record["record"] == "total"), None)
    if total is None:
        return None, 0.0
    completed = total["transactions"]["completed"]
    if total["reads_verified"] != completed:
        raise RunFailed(f"dbdyno-load verified {total['reads_verified']} of {completed} reads")
    return outcome.sample(completed, total["seconds"]), peak[0]


def sysbench(store: dict[str, Any], password: str, command: str) -> Sample | None:
    """Run `oltp_point_select prepare` or `run` on the same server, uniform keys, as many rows."""
    address = store["address"]
    outcome = run_well(
        [
            "sysbench",
            "oltp_point_select",
            "--db-driver=mysql",
            f"--mysql-host={address['host']}",
            f"--mysql-port={address['port']}",
            f"--mysql-user={store['user']}",
            f"--mysql-password={password}",
            f"--mysql-db={store['database']}",
            "--tables=1",
            f"--table-size={ROWS}",
            "--rand-type=uniform",
            f"--threads={CLIENTS}",
            f"--time={SECONDS}",
            command,
        ],
        placements()["same"].client_cpus,
    )
    queries = re.search(r"read:\s+(\d+)", outcome.output)
    return outcome.sample(int(queries[1]), SECONDS) if queries else None


def compare(store: dict[str, Any], secrets: list[str]) -> tuple[list[tuple[Sample, Sample]], float]:
    """Return the pairs, dbdyno's run first in each, and dbdyno-load's peak memory in MB."""
    dbdyno(store, secrets, ["prepare", "load"])
    sysbench(store, secrets[0], "prepare")
    pairs, peak_mb = [], 0.0
    for _ in range(PAIRS):
        ours, memory_mb = dbdyno(store, secrets, ["run"])
        theirs = sysbench(store, secrets[0], "run")
        if ours is None or theirs is None:
            raise RunFailed("a run said nothing of its queries")
        pairs.append((ours, theirs))
        peak_mb = max(peak_mb, memory_mb)
    return pairs, peak_mb


def show(pairs: list[tuple[Sample, Sample]], peak_mb: float) -> bool:
    """Print the table; return whether every limit is met."""
    table = Table("dbdyno against sysbench", "median", "least", "most", "must be", "met")
    rows = [
        ("client CPU per query", [a.cpu_us / b.cpu_us for a, b in pairs], CPU_LIMIT),
        ("its user part", [a.user_us / b.user_us for a, b in pairs], None),
        ("queries/s", [a.rate_per_s / b.rate_per_s for a, b in pairs], None),
    ]
    met = peak_mb < MEMORY_LIMIT_MB
    for name, ratios, limit in rows:
        middle = statistics.median(ratios)
        is_met = limit is None or middle <= limit
        met = met and is_met
        wanted = "" if limit is None else f"<= {limit}"
        figures = (f"{ratio:.3f}" for ratio in (middle, min(ratios), max(ratios)))
        table.add_row(name, *figures, wanted, "" if limit is None else ("yes" if is_met else "NO"))
    console = Console(width=100)
    console.print(
        f"point-get, {ROWS} rows, {CLIENTS} clients, one CPU for client and server, {PAIRS} pairs of {SECONDS} s"
    )
    console.print(table)
    console.print(f"client CPU per query, medians: dbdyno {median_us(pairs, 0)}, sysbench {median_us(pairs, 1)}")
    console.print(f"peak memory of dbdyno-load: {peak_mb:.0f} MB (must be < {MEMORY_LIMIT_MB})")
    return met


def median_us(pairs: list[tuple[Sample, Sample]], side: int) -> str:
    """Return one side's client CPU per query in words."""
    of_side = [pair[side] for pair in pairs]
    user = statistics.median(sample.user_us for sample in of_side)
    system = statistics.median(sample.cpu_us - sample.user_us for sample in of_side)
    return f"{user:.2f} user + {system:.2f} system µs"


def main() -> int:
    """Start a private MariaDB, compare, print; return the exit status."""
    if shutil.which("sysbench") is None:
        raise UserError("sysbench is not installed: apt install sysbench")
    system = build(parse_system("mariadb"))
    with Guard() as guard, tempfile.TemporaryDirectory() as logs:
        try:
            system.start(Launch(guard, Path(logs), 2 * CLIENTS, ROWS, placements()["same"].server_cpus))
            secrets: list[str] = []
            store = system.store_plan(secrets)
            return 0 if show(*compare(store, secrets)) else 1
        finally:
            system.stop()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        sys.exit(f"bench: {error}")
