"""The plan (docs/contract.md), as far as sysbench executes one; what it does not do is refused in words."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from typing import TextIO

from dbdyno.contract import CONTRACT, JsonObject, StoreDocument
from dbdyno.load_python.failure import Ended
from dbdyno.load_python.plan import read_secrets

DRIVERS = {"mysql": "mysql", "postgres": "pgsql"}
"""sysbench's driver for each kind of store."""


@dataclass(frozen=True)
class Plan:
    """A plan to execute.

    store: as in the plan. password: of the store, or None. script: a shipped one's name, or a path; None: no workload,
    and what an earlier run left there is to be removed.
    given: more options, as a person wrote them. clients: sysbench's threads.
    operation_timeout_s: for a connection of dbdyno's own; sysbench itself waits for ever.
    """

    phases: tuple[str, ...]
    store: StoreDocument
    password: str | None
    script: str | None
    given: tuple[str, ...]
    tables: str | None
    prewarm: bool
    rows: int
    clients: int
    warmup_s: int
    duration_s: int
    cpus: tuple[int, ...] | None
    operation_timeout_s: float


def read_plan(source: TextIO) -> Plan:
    """Read a plan and the secrets after it; raises Ended if it is not understood or asks for what is not done here."""
    plan_line, secrets_line = source.readline(), source.readline()
    try:
        plan = json.loads(plan_line)
        _check(plan)
        return _plan(plan, read_secrets(secrets_line))
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise Ended("refused", f"the plan cannot be parsed: {what}") from None


def _check(plan: JsonObject) -> None:
    """Raise Ended for what sysbench does not do, or is not told to."""
    store = plan["store"]
    if plan["contract"] != CONTRACT:
        raise Ended("refused", f"contract {plan['contract']} is not {CONTRACT}, the one this load client speaks")
    if store["kind"] not in DRIVERS:
        raise Ended("refused", f"sysbench has no driver for a store of the kind {store['kind']}")
    if store.get("tls") and plan["workload"]:
        raise Ended("refused", "sysbench is driven without TLS: leave tls out")
    if store.get("access", "sql") != "sql":
        raise Ended("refused", f"sysbench sends SQL: leave access={store['access']} out")
    if plan.get("arrivals") is not None or plan.get("pipeline", 1) != 1 or plan.get("network_delay_us"):
        raise Ended("refused", "sysbench is driven in a closed loop, without pipeline and network_delay_us")
    for key in ("think_time", "transactions_per_connection", "groups"):
        if plan.get(key):
            raise Ended("refused", f"{key}: only the native load client does that")


def _plan(plan: JsonObject, secrets: list[str]) -> Plan:
    secret, workload = plan["store"].get("password"), plan["workload"] or {}
    options = workload["options"] if workload else {}
    given = shlex.split(options.get("sysbench", ""))
    if plan["store"].get("protocol") == "text":
        given.insert(0, "--db-ps-mode=disable")
    return Plan(
        tuple(plan["phases"]),
        plan["store"],
        None if secret is None else secrets[secret["secret"]],
        options.get("script", "oltp_read_write") if workload else None,
        tuple(given),
        options.get("tables"),
        options.get("prewarm") == "yes",
        workload.get("rows", 0),
        plan["clients"]["count"],
        plan.get("warmup_s", 0),
        plan.get("duration_s", 0),
        None if plan.get("cpus") is None else tuple(plan["cpus"]),
        plan.get("operation_timeout_s", 10.0),
    )
