"""Single keys of the experiment file, each read from what a person may write and checked by itself."""

import re
from itertools import count, takewhile
from typing import Any

from pydantic import ValidationInfo

from dbdyno.experiment.bounds import MOST_CLIENTS_OF_A_TRIAL, MOST_PIPELINE, check_whole, cut
from dbdyno.experiment.groups import Group, with_rates
from dbdyno.experiment.limit import Limit, parse_limit
from dbdyno.experiment.own_workload import OwnWorkload
from dbdyno.experiment.percent import parse_percent
from dbdyno.experiment.toml import as_list
from dbdyno.experiment.variant import NO_RESTART
from dbdyno.experiment.workload_spec import WorkloadSpec, parse_workload
from dbdyno.experiment.workloads import WORKLOADS

MOST_CLIENTS = 1024
"""The end of a sweep without one, `clients = "1.."`: servers are started for so many connections."""
MOST_FLAT = 0.5
"""Largest `until_flat`: with more, steps that double the clients are flat unless they double the throughput."""


def read_client_counts(value: Any) -> Any:
    """Read `1..64` as 1, 2, 4 … 64, `1..` as 1, 2, 4 … MOST_CLIENTS; anything else as it is."""
    match = re.fullmatch(r"\s*(\d{1,20})\s*\.\.\s*(\d{0,20})\s*", value) if isinstance(value, str) else None
    if not match:
        return as_list(value)
    first, last = int(match[1]), int(match[2] or MOST_CLIENTS)
    if not 1 <= first < last:
        most = "" if match[2] else f", and without an end up to {MOST_CLIENTS:,}"
        raise ValueError(f'{cut(value)}: a sweep rises from at least 1{most}, e.g. "1..64"')
    return [*takewhile(lambda doubled: doubled < last, (first << power for power in count())), last]


def check_client_counts(value: list[int]) -> list[int]:
    """Return the numbers of clients; raises ValueError if they are no sweep."""
    if not value or min(value) < 1:
        raise ValueError("give at least one number of clients, each at least 1, e.g. [1, 8, 64]")
    check_whole("clients", value, MOST_CLIENTS_OF_A_TRIAL)
    if len(set(value)) < len(value):
        raise ValueError("`clients` lists a value twice; `repeat` repeats trials")
    return value


def check_pipeline(value: list[int]) -> list[int]:
    """Return the numbers of requests at once; raises ValueError if one is none."""
    if not value or min(value) < 1 or len(set(value)) < len(value):
        raise ValueError("give how many requests a client sends at once, each number once and at least 1, e.g. [1, 16]")
    check_whole("requests at once", value, MOST_PIPELINE)
    return value


def read_restart(value: Any) -> Any:
    """Read the word for no restart as `None`; anything else as it is."""
    return None if value == NO_RESTART else value


def read_limit(value: Any) -> Limit:
    """Return the limit of a rate search; raises ValueError if it is none."""
    if not isinstance(value, str):
        raise ValueError('a limit is text, e.g. find_rate = "p99 < 10ms"')
    return parse_limit(value)


def read_percent(value: Any, info: ValidationInfo) -> float:
    """Return a percentage as a share; raises ValueError if it is none, or too small or large for its key."""
    if not isinstance(value, str):
        raise ValueError(f'a percentage is text, e.g. {info.field_name} = "1%"')
    if not (share := parse_percent(value)):
        why = {"until_flat": "no measured curve is flat to within 0 %"}.get(
            str(info.field_name), "no number of trials confirms a difference of 0 %"
        )
        raise ValueError(f"{why}: give a share such as 2%")
    if info.field_name == "until_flat" and share > MOST_FLAT:
        raise ValueError(
            f"at most {MOST_FLAT:.0%}: with more, every curve that does not double with its clients is flat"
        )
    return share


def check_own(own: dict[str, OwnWorkload]) -> dict[str, OwnWorkload]:
    """Return the declared workloads; raises ValueError if a name is no name, or a built-in workload has it."""
    for name in own:
        if not re.fullmatch(r"[a-z][a-z0-9-]*", name) or name in WORKLOADS:
            raise ValueError(f"'{name}': give another name, of small letters, digits and dashes, and no built-in one's")
    return own


def read_workloads(value: Any, info: ValidationInfo) -> list[WorkloadSpec]:
    """Return the workloads; raises ValueError if one is not known, or given twice."""
    names = as_list(value)
    if not all(isinstance(name, str) for name in names):
        raise ValueError('a workload is text, e.g. "point-get" or "batch-get?batch=10"')
    own: dict[str, OwnWorkload] | None = info.data.get("workloads")
    if own is None:
        return []  # The file's own workloads are wrong, and that is what its author needs to know.
    declared = {name: workload.as_workload(name) for name, workload in own.items()}
    groups: list[Group] = info.data.get("groups", [])
    definitions = {name: with_rates(workload, groups) for name, workload in (WORKLOADS | declared).items()}
    specs = [parse_workload(name, definitions, info.data.get("options", {})) for name in names]
    if not specs or len(set(specs)) < len(specs):
        raise ValueError("give at least one workload, and each once")
    return specs
