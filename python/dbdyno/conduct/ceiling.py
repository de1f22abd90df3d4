"""Measure the load client alone: the same load, for a second, on null servers that answer as fast as they can.

A store that comes near to it was limited by its client (docs/statistics.md, section 5.3), so the ceiling is measured
before a network trial.
"""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from dbdyno.conduct.context import Ceiling, Context
from dbdyno.conduct.load_client import execute, find_load_client, readable, why_it_failed
from dbdyno.conduct.plan import Plan, PlannedWorkload, make_ceiling_plan
from dbdyno.contract import JsonObject, Record, StoreDocument
from dbdyno.errors import RunFailed
from dbdyno.experiment.workload_spec import WorkloadSpec
from dbdyno.experiment.workloads import DELETE, GET_ELSEWHERE, SCAN, SQL, SUM_RANGE
from dbdyno.results.write import AGAIN
from dbdyno.systems.running.guard import Guard

NULL_PROTOCOLS = ("mysql", "postgres", "redis", "memcached", "mongodb", "cassandra", "handlersocket", "tokyotyrant")
"""The kinds of store that a null server can stand for: those reached over the network (docs/contract.md, Stores)."""
LISTEN_TIMEOUT_S = 30.0
"""Time that a null server is given until it listens."""
_UNANSWERED = (DELETE, SCAN, SUM_RANGE)
_PARTS = ("cache", "store")
_NAMED = ("user", "password", "database", "auth_database", "keyspace", "table_options")
_ELSEWHERE = ("write_address", "sql", "backends")
_NO_MATTER = frozenset({*_NAMED, *_ELSEWHERE})
"""Keys of a store's plan that a null server ignores or never sees. All else is taken to change the ceiling: one
measured twice costs a second, and one of another load is a wrong verdict."""


def measure_ceiling(context: Context, workload: WorkloadSpec, plan: Plan, reached_per_s: float = 0.0) -> Ceiling | None:
    """Return the load client's ceiling under the load of a trial of `workload`, measured once in a run for equal loads.

    reached_per_s: what a trial of that load then reached. If that is more, the ceiling was measured too low:
    one second depends on the scheduler. It is measured once more, and the higher of the two counts.

    It has a reason and no figure if the workload has SQL statements of its own, or if the store is reached by TLS: null
    servers have neither. None if there is none: the store is embedded, the experiment has `ceiling = false`, or a
    client library or the user's own program drives the store. Null servers understand what the native client says, and
    no more. A ceiling that cannot be measured spoils no trial; it is not known then. Raises KeyboardInterrupt if the
    run is interrupted meanwhile.
    """
    kinds, planned = store_kinds(plan.store), plan.workload
    if planned is None or plan.library or plan.program or not context.experiment.ceiling:
        return None
    if not set(kinds) <= set(NULL_PROTOCOLS):
        return None
    if context.crew:
        return Ceiling(None, "the load clients are on other hosts")
    if plan.groups:
        return Ceiling(None, "groups of clients differ, and are not measured alone")
    if reason := _unanswered(workload) or _unspoken(plan.store):
        return Ceiling(None, reason)
    key = _load_of(plan, context)
    known = context.ceilings.get(key)
    if known is None or (known.again is False and known.per_s is not None and known.per_s < reached_per_s):
        number = context.folder.ceilings_made() + 1
        name = known.folder + AGAIN if known else f"{number:02d}-{'-'.join(kinds)}-{planned.name}-c{plan.clients}"
        measured = _try(context, plan, planned, context.folder.ceiling(name))
        context.ceilings[key] = replace(max(known, measured, key=_per_s), again=True) if known else measured
    return context.ceilings[key]


def _unanswered(workload: WorkloadSpec) -> str | None:
    """Return what of a workload null servers cannot answer, or None if they can all."""
    declaration = workload.definition.declaration
    # A statement that is declared is prepared, even if no transaction has it.
    if declaration["statements"] if declaration else SQL in workload.operations:
        return "null servers do not answer a workload's own SQL statements"
    if GET_ELSEWHERE in workload.operations:
        return "null servers keep nothing, so no write ever appears at another"
    if any(operation in workload.operations for operation in _UNANSWERED):
        return "null servers do not answer deletions, scans and sums over ranges"
    return None


def _unspoken(store: StoreDocument) -> str | None:
    """Return that a store is reached by what null servers do not speak, or None; without TLS the ceiling is higher."""
    if store.get("layout") == "columns":
        return "null servers keep no records with columns"
    parts = [store[part] for part in _PARTS if isinstance(store.get(part), Mapping)] + store.get("nodes", [])
    if store.get("tls") or any(map(_unspoken, parts)):
        return "null servers have no TLS"
    return None


def _per_s(ceiling: Ceiling) -> float:
    return ceiling.per_s or 0.0


def _try(context: Context, plan: Plan, planned: PlannedWorkload, folder: Path) -> Ceiling:
    try:
        return Ceiling(_measure(context, plan, planned, folder), folder=folder.name)
    except RunFailed as failure:
        return Ceiling(None, str(failure), folder.name)


def store_kinds(store: StoreDocument) -> list[str]:
    """Return the kinds of the stores that a plan's `store` is made of; of a pool, its own."""
    return [single["kind"] for single in _single_stores(store)]


def _single_stores(store: StoreDocument) -> list[StoreDocument]:
    if store["kind"] == "result-cache":
        return [store]
    parts = [store[part] for part in _PARTS if isinstance(store.get(part), Mapping)] + store.get("nodes", [])
    return [single for part in parts for single in _single_stores(part)] or [store]


def _load_of(plan: Plan, context: Context) -> str:
    """Return what tells apart loads that the client may reach differently much of: all of their plans but whose it is.

    The arrangement is part of it, as the same stores one behind the other and side by side are asked differently.
    """
    load = make_ceiling_plan(plan, _likeness(plan.store))
    return json.dumps(load.document() | {"run_id": None, "server_cpus": context.experiment.cpus.server}, sort_keys=True)


def _likeness(store: StoreDocument) -> StoreDocument:
    """Return a plan's `store` as null servers see it: not who asks, nor where, but by TCP or a Unix socket."""
    like = {name: value for name, value in store.items() if name not in _NO_MATTER}
    like |= {part: _likeness(store[part]) for part in _PARTS if isinstance(store.get(part), Mapping)}
    like |= {"nodes": [_likeness(node) for node in store["nodes"]]} if "nodes" in store else {}
    return like | ({"address": "unix" in store["address"]} if "address" in store else {})


def _measure(context: Context, plan: Plan, planned: PlannedWorkload, folder: Path) -> float:
    with ExitStack() as stack:
        store = _on_null_servers(plan.store, planned, context, stack)
        summary = execute(make_ceiling_plan(plan, store), [], folder, context.supervision(), _ignore)
    if context.interrupts.requested:
        raise KeyboardInterrupt
    if reason := why_it_failed(summary, folder):
        raise RunFailed(reason)
    if summary.errors or not summary.transactions:
        raise RunFailed(f"operations on the null server failed: {summary.errors or 'none was completed'}")
    return summary.transactions / summary.seconds


def _ignore(record: Record) -> None:
    """Show nothing: a second alone has nothing worth showing while it goes on."""


def _on_null_servers(
    store: StoreDocument, workload: PlannedWorkload, context: Context, stack: ExitStack
) -> StoreDocument:
    """Return a plan's `store` with its own null server, for the time of `stack`, instead of each server.

    They are reached as the servers are, over TCP or a Unix socket, but always on this host, and without a password.
    """
    parts = [part for part in _PARTS if isinstance(store.get(part), Mapping)]
    if parts:
        return {**store, **{part: _on_null_servers(store[part], workload, context, stack) for part in parts}}
    if nodes := store.get("nodes"):
        return {**store, "nodes": [_on_null_servers(node, workload, context, stack) for node in nodes]}
    unix = stack.enter_context(context.guard.scratch()) / "null.sock" if "unix" in store["address"] else None
    cpus = context.experiment.cpus.server
    address = stack.enter_context(_null_server(store["kind"], workload, context.guard, cpus, unix))
    instead: JsonObject = {
        "address": address,
        "write_address": address,
        "password": None,
        "sql": None,
        "backends": [],
    }
    return {**store, **{key: value for key, value in instead.items() if key in store}}


@contextmanager
def _null_server(
    protocol: str, workload: PlannedWorkload, guard: Guard, cpus: list[int] | None, unix: Path | None
) -> Iterator[JsonObject]:
    """Run a null server, on the processors that servers have; yields its address. Raises RunFailed if it does not."""
    arguments = ["--protocol", protocol, "--workload", workload.name, "--rows", str(workload.rows)]
    arguments += ["--options", json.dumps(dict(workload.options))]
    arguments += ["--unix", str(unix)] if unix else []
    process = subprocess.Popen(
        [str(find_load_client()), "null", *arguments], stdout=subprocess.PIPE, text=True, process_group=0
    )
    assert process.stdout is not None, "it is a pipe"
    guard.tell("pid", process.pid)
    try:
        if cpus:
            os.sched_setaffinity(process.pid, cpus)
        if not readable(process.stdout.fileno(), LISTEN_TIMEOUT_S):
            raise RunFailed(f"the null server for {protocol} did not listen within {LISTEN_TIMEOUT_S:.0f} s")
        said = process.stdout.readline()
        if not said:
            raise RunFailed(f"the null server for {protocol} ended with status {process.wait()} before it listened")
        yield {"unix": str(unix)} if unix else {"host": "127.0.0.1", "port": json.loads(said)["port"]}
    finally:
        # It has nothing to keep, and a stopped process takes no other signal.
        process.kill()
        process.wait()
        process.stdout.close()
        guard.tell("done", process.pid)
