"""dbdyno-load, given plans directly (docs/contract.md)."""

import json
import os
from collections.abc import Callable
from typing import Any

from benches.measured import Outcome, Placement, Sample, run
from dbdyno.conduct.load_client import find_load_client
from dbdyno.errors import RunFailed
from dbdyno.stats.histogram import Histogram

PREPARE, MEASURE, CHECK, CLEAN_UP = ["prepare", "load"], ["run"], ["verify"], ["cleanup"]


class NotSupported(Exception):
    """dbdyno-load refused the plan: it does not know something the row needs."""


def plan(store: dict[str, Any], rows: int, phases: list[str], **keys: Any) -> dict[str, Any]:
    """Return the plan for phases. keys: `workload` (else point-get), its `options`, `clients` (how many), others."""
    clients, workload, options = keys.pop("clients", 1), keys.pop("workload", "point-get"), keys.pop("options", {})
    if threads := os.environ.get("BENCH_THREADS"):
        keys = {"threads": int(threads)} | keys
    return {
        "contract": 1,
        "phases": phases,
        "store": store,
        "workload": {"name": workload, "rows": rows, "options": options},
        "clients": {"first": 0, "count": clients, "of": clients},
        "verify_reads": True,
        "run_id": "bench",
        **keys,
    }


def execute(
    wanted: dict[str, Any], placement: Placement, watch: Callable[[int], None] | None = None
) -> tuple[Outcome, list[dict[str, Any]]]:
    """Have a plan executed; return what the process cost and its records.

    Raises NotSupported if it was refused, RunFailed if it did not end well or any answer was wrong.
    """
    command = [find_load_client(), "run"]
    outcome = run(command, placement.client_cpus, f"{json.dumps(wanted)}\n\n", watch)
    records = [json.loads(line) for line in outcome.output.splitlines() if line.startswith("{")]
    end = next((record for record in records if record["record"] == "end"), None)
    if end and end["status"] == "refused":
        raise NotSupported(end["reason"])
    wrong = [record for record in records if record["record"] in ("error", "mismatch") or record.get("ok") is False]
    if outcome.status != 0 or wrong:
        raise RunFailed(f"dbdyno-load: {wrong[0] if wrong else end or outcome.output[-300:]}")
    return outcome, records


def adding_s(records: list[dict[str, Any]]) -> float:
    """Return how long a load took to add the rows and make the indexes, without counting and checking them."""
    ends = [
        record
        for record in records
        if (record["record"], record.get("phase"), record.get("state")) == ("phase", "load", "end")
    ]
    return float(ends[0]["rows"] / ends[0]["rows_per_s"] + ends[0]["index_s"])


def measure(wanted: dict[str, Any], placement: Placement) -> Sample:
    """Have a plan's run phase executed, every read verified; the CPU is that of the whole process."""
    outcome, records = execute(wanted, placement)
    intervals = [record for record in records if record["record"] == "interval"]
    completed = sum(record["transactions"]["completed"] for record in intervals)
    verified = sum(record["reads_verified"] for record in intervals)
    # Reads of transactions that time ran out on are verified too.
    if completed == 0 or verified < completed:
        raise RunFailed(f"dbdyno-load verified {verified} of {completed} reads")
    load_threads_s = sum(record["client_cpu_s"] for record in intervals)
    seconds = sum(record["seconds"] for record in intervals)
    lags = [record["transactions"]["send_lag"] for record in intervals if "send_lag" in record["transactions"]]
    lag_ns = Histogram.merged(map(Histogram.from_record, lags)).percentile_ns(99)
    open_loop = {"send_lag_p99_us": lag_ns / 1000} if lag_ns is not None else {}
    return outcome.sample(completed, seconds, load_threads_cpu_us=load_threads_s / completed * 1e6, **open_loop)
