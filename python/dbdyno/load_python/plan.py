"""The plan (docs/contract.md), as far as this load client executes one; what it does not do is refused in words."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TextIO

from dbdyno.contract import CONTRACT, JsonObject, StoreDocument, WorkloadDocument
from dbdyno.load_python.failure import Ended

PHASES = ("run", "verify")
_NATIVE = {
    "arrivals": "arrivals (an open loop)",
    "network_delay_us": "network_delay_us",
    "think_time": "think_time",
    "transactions_per_connection": "transactions_per_connection",
    "groups": "groups of clients",
}
"""Keys that only the native load client knows, and how an error names them."""
MAX_CLIENTS = 512
"""Every client has a thread; more of them than this measure the scheduler."""


@dataclass(frozen=True)
class Plan:
    """A plan to execute.

    store: as in the plan, with its passwords in their places. library: the client library to drive it with.
    cache_library: the one for the cache, if the store is one behind a cache. c_library: the path of the C library that
    the first of these is to load, or None for the host's.
    first, count, of: this program runs clients `first` to `first + count - 1` of the trial's `of`.
    processes: how many share the clients, or None for the program's choice. cpus: they may use, or None for any.
    """

    phases: tuple[str, ...]
    library: str
    store: StoreDocument
    workload: WorkloadDocument
    seed: int
    first: int
    count: int
    of: int
    start_at_unix_s: float | None
    warmup_s: int
    duration_s: int
    operation_timeout_s: float
    processes: int | None
    cpus: tuple[int, ...] | None
    verify_reads: bool
    c_library: str | None = None
    cache_library: str | None = None


def read_plan(source: TextIO) -> Plan:
    """Read a plan and the secrets after it; raises Ended if it is not understood or asks for what is not done here."""
    plan_line, secrets_line = source.readline(), source.readline()
    try:
        plan = json.loads(plan_line)
        if not isinstance(plan, dict):
            raise TypeError("it is not an object")
        _check(plan)
        return _plan(plan, read_secrets(secrets_line))
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise Ended("refused", f"the plan cannot be parsed: {what}") from None


def read_secrets(line: str) -> list[str]:
    """Read the line after a plan; raises Ended if it holds no secrets, without quoting it."""
    if not line.strip():
        return []
    try:
        return [str(secret) for secret in json.loads(line)["secrets"]]
    except (ValueError, TypeError, LookupError):
        # The parser's own message may quote what it read.
        raise Ended("refused", 'line 2 holds no secrets: {"secrets": ["…"]}') from None


def _check(plan: JsonObject) -> None:
    """Raise Ended for what only the native load client does."""
    native = "only the native load client does that"
    if plan["contract"] != CONTRACT:
        raise Ended("refused", f"contract {plan['contract']} is not {CONTRACT}, the one this load client speaks")
    if others := [phase for phase in plan["phases"] if phase not in PHASES]:
        raise Ended("refused", f"the phase {others[0]}: {native}; this one runs and verifies")
    for key, what in _NATIVE.items():
        if plan.get(key):
            raise Ended("refused", f"{what}: {native}")
    if plan.get("pipeline", 1) != 1:
        raise Ended("refused", f"pipeline = {plan['pipeline']}: {native}")
    first, count, of = (plan["clients"][key] for key in ("first", "count", "of"))
    if not 0 < count <= of - first:
        raise Ended("refused", f"clients {first} to {first} + {count} of {of}")
    if count > MAX_CLIENTS:
        raise Ended("refused", f"{count} clients: this load client has a thread for each, at most {MAX_CLIENTS}")
    if "run" in plan["phases"] and plan["duration_s"] < 1:
        raise Ended("refused", "duration_s must be at least 1")


def _plan(plan: JsonObject, secrets: list[str]) -> Plan:
    clients = plan["clients"]
    return Plan(
        tuple(plan["phases"]),
        plan["library"],
        _with_passwords(plan["store"], secrets),
        plan["workload"],
        plan["seed"],
        clients["first"],
        clients["count"],
        clients["of"],
        plan.get("start_at_unix_s"),
        plan.get("warmup_s", 0),
        plan.get("duration_s", 0),
        float(plan["operation_timeout_s"]),
        plan.get("threads"),
        None if plan.get("cpus") is None else tuple(plan["cpus"]),
        plan.get("verify_reads", True),
        plan.get("c_library"),
        plan.get("cache_library"),
    )


def _with_passwords(store: StoreDocument, secrets: list[str]) -> StoreDocument:
    """Return a store, or a cache and the store behind it, with passwords instead of their numbers."""
    parts = {name: _with_passwords(store[name], secrets) for name in ("cache", "store") if name in store}
    secret = store.get("password")
    return {**store, **parts} | ({} if secret is None else {"password": secrets[secret["secret"]]})
