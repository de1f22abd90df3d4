"""The plan a load client is given (docs/contract.md), from an experiment, a system and a number of clients."""

from typing import Any

from dbdyno.experiment.model import Experiment

CONTRACT = 1
PREPARE, MEASURE, CLEAN_UP = ("prepare", "load"), ("run", "verify"), ("cleanup",)


def make_plan(
    experiment: Experiment, run_id: str, phases: tuple[str, ...], store: dict[str, Any], workload: str, clients: int
) -> dict[str, Any]:
    """Return the plan for `phases` of one trial, or of a preparation, on one host."""
    return {
        "contract": CONTRACT,
        "phases": list(phases),
        "store": store,
        "workload": {"name": workload, "rows": experiment.rows, "options": experiment.options},
        "seed": experiment.seed,
        "clients": {"first": 0, "count": clients, "of": clients},
        "start_at_unix_s": None,
        "warmup_s": experiment.warmup_seconds,
        "duration_s": experiment.seconds,
        "operation_timeout_s": experiment.operation_timeout_seconds,
        "threads": None,
        "cpus": experiment.cpus.client,
        "verify_reads": True,
        "run_id": run_id,
    }


def make_cleaning_plan(store: dict[str, Any], run_id: str) -> dict[str, Any]:
    """Return the plan that removes every leftover of dbdyno from a store."""
    return {
        "contract": CONTRACT,
        "phases": list(CLEAN_UP),
        "store": store,
        "workload": None,
        "seed": 1,
        "clients": {"first": 0, "count": 1, "of": 1},
        "start_at_unix_s": None,
        "warmup_s": 0,
        "duration_s": 1,
        "operation_timeout_s": 60,
        "threads": None,
        "cpus": None,
        "verify_reads": True,
        "run_id": run_id,
    }
