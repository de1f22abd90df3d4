#!/usr/bin/env python3
"""A load client without a store: speaks the contract (docs/contract.md) and does what FAKE_LOAD tells it to.

FAKE_LOAD is JSON; every key may be left out:
    second_s: how long a second of the run takes.      errors: failed operations in each second.
    mismatches: wrong rows in each second.             wrong_check: True for a check that is not right.
    refuse: phases that end with `refused`.            die: a phase in which it kills itself with SIGKILL.
    contract: the version it says it speaks.           only_if: a text that must be in the plan for all this to hold.
    await_file: run on until this file is there.
    capacity_per_s: the most an open loop achieves, 1000 a client if left out; response times grow towards it.
    most_per_s: a closed loop never does more, however many clients.
    extra: a closed loop does this share more.
    slow_seconds: so many of them at first do half.
    noise: with `noisy_clients` clients every other run does this share more; `noise_count`: the file it counts them in.
    ceiling_per_s: reached by a plan with only `run`, as on a null server.
    null_ends: True for a null server that does not come up.
It uses the standard library alone, so that any Python can run it.
"""

import json
import os
import signal
import sys
import time

OPERATIONS = ("read_player", "update_player", "find_account")
interrupts = []


def emit(record, **keys):
    print(json.dumps({"record": record, **keys}), flush=True)


def histogram(count, value_ns):
    exponent = max(0, value_ns.bit_length() - 8)
    index = 128 * exponent + (value_ns >> exponent)
    buckets = [index, count] if count else []
    return {"count": count, "sum_ns": count * value_ns, "min_ns": value_ns, "max_ns": value_ns, "buckets": buckets}


def counted(completed, failed, clients, seconds):
    """Return one kind's numbers of a second, so that N = throughput x time holds."""
    mean_ns = int(clients * seconds * 1e9 / completed) if completed else 0
    return {"completed": completed, "failed": failed, "service_time": histogram(completed, mean_ns)}


def rate_at(arrivals, at_s):
    """Return the rate at a time of the run: linear within a segment, the last one held."""
    for segment in arrivals["segments"]:
        if at_s < segment["seconds"]:
            share = at_s / segment["seconds"]
            return segment["from_per_s"] + share * (segment["to_per_s"] - segment["from_per_s"])
        at_s -= segment["seconds"]
    return arrivals["segments"][-1]["to_per_s"]


def open_second(plan, behaviour, second, backlog):
    """Return what a second of an open loop adds to its transactions and operations, and how many were completed."""
    due = round(rate_at(plan["arrivals"], second + 0.5))
    capacity = behaviour.get("capacity_per_s", 1000 * plan["clients"]["count"])
    completed = min(due + backlog, capacity)
    wait_s = backlog / capacity + 0.001 / max(0.001, 1 - due / capacity)
    times = {
        "service_time": histogram(completed, 1_000_000),
        "response_time": histogram(completed, int(wait_s * 1e9)),
        "send_lag": histogram(completed, max(1, int((wait_s - 0.001) * 1e9))),
    }
    return due, completed, times


def run_open(plan, behaviour):
    """An open loop on a store that a queue stands before: never more than its capacity, what is left waits."""
    scheduled = backlog = done = 0
    seconds = plan["warmup_s"] + plan["duration_s"]
    for second in range(seconds):
        due, completed, times = open_second(plan, behaviour, second, backlog)
        scheduled, backlog, done = scheduled + due, backlog + due - completed, done + completed
        each = {"completed": completed, "failed": 0, **times}
        emit(
            "interval",
            second=second,
            warmup=second < plan["warmup_s"],
            seconds=1.0,
            connected=plan["clients"]["count"],
            transactions={**each, "scheduled": due},
            operations={name: each for name in OPERATIONS},
            errors={},
            reads_verified=2 * completed,
            mismatches=0,
            client_cpu_s=0.25,
        )
    emit(
        "total",
        transactions={"scheduled": scheduled, "completed": done, "failed": 0, "unfinished": backlog}
        | {"never_begun": max(0, backlog - plan["clients"]["count"]), "late": backlog},
        operations={name: {"completed": done, "failed": 0} for name in OPERATIONS},
        reads_verified=2 * done,
        mismatches=0,
        seconds=float(seconds),
        in_flight_mean=1.0,
    )


def run(plan, behaviour):
    if plan["arrivals"]:
        run_open(plan, behaviour)
        return
    clients, seconds = plan["clients"]["count"], plan["warmup_s"] + plan["duration_s"]
    per_second = min(1000 * clients, behaviour.get("most_per_s", 1000 * clients))
    per_second += int(per_second * behaviour.get("extra", 0))
    errors, wrong = behaviour.get("errors", 0), behaviour.get("mismatches", 0)
    await_file = behaviour.get("await_file", "/")
    if "noise" in behaviour and clients == behaviour["noisy_clients"] and "verify" in plan["phases"]:
        with open(behaviour["noise_count"], "a+") as count:
            per_second += int(per_second * behaviour["noise"] * (count.tell() % 2))
            count.write(".")
    if plan["phases"] == ["run"]:
        per_second, await_file = behaviour.get("ceiling_per_s", 10 * per_second), "/"
    second = completed = 0
    while not interrupts and (second < seconds or not os.path.exists(await_file)):
        time.sleep(behaviour.get("second_s", 0.01))
        done_now = per_second // (1 + (second < behaviour.get("slow_seconds", 0)))
        emit(
            "interval",
            second=second,
            warmup=second < plan["warmup_s"],
            seconds=1.0,
            connected=clients,
            transactions=counted(done_now, errors, clients, 1.0),
            operations={name: counted(done_now, 0, clients, 1.0 / 3) for name in OPERATIONS},
            errors={"server": errors} if errors else {},
            reads_verified=2 * done_now,
            mismatches=wrong,
            client_cpu_s=0.25,
        )
        second += 1
        completed += done_now
    done = {"completed": completed, "failed": errors * second}
    emit(
        "total",
        transactions={"scheduled": sum(done.values()), **done, "unfinished": 0},
        operations={name: {"completed": completed, "failed": 0} for name in OPERATIONS},
        reads_verified=2 * completed,
        mismatches=wrong * second,
        seconds=float(second),
        in_flight_mean=float(clients),
    )


def phase(name, plan, behaviour):
    """Execute one phase; return why the plan is refused, or None."""
    if behaviour.get("die") == name:
        print("about to die", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    if name in behaviour.get("refuse", "").split():
        return "a table dbdyno_player without dbdyno's marker is there"
    emit("phase", phase=name, state="begin", at_unix_s=time.time())
    if name == "run":
        run(plan, behaviour)
        if plan["clients"]["count"] < plan["clients"]["of"]:
            unknown = dict.fromkeys(("maybe_added", "maybe_subtracted", "maybe_inserted", "maybe_deleted"), 0)
            emit("changes", before=[None, 5], added=3, inserted=0, deleted=0, **unknown)
    if name == "verify":
        wrong = bool(behaviour.get("wrong_check"))
        emit("check", name="rows", expected=10, found=None, ok=None, note="this store cannot tell")
        emit("check", name="sum of k", expected=10, found=9 if wrong else 10, ok=not wrong, note=None)
    rows = {"rows": 2 * plan["workload"]["rows"], "rows_per_s": 1e5} if name == "load" else {}
    emit("phase", phase=name, state="end", at_unix_s=time.time(), seconds=0.01, **rows)
    return None


def note_interrupt(number, frame):
    interrupts.append(number)


def serve_null(behaviour):
    """Say that a null server listens, and wait to be ended; nobody connects."""
    if behaviour.get("null_ends"):
        return 2
    unix = sys.argv[sys.argv.index("--unix") + 1] if "--unix" in sys.argv else None
    emit("listening", port=None if unix else 1, unix=unix)
    signal.pause()
    return 0


def main():
    behaviour = json.loads(os.environ.get("FAKE_LOAD", "{}"))
    if sys.argv[1] == "null":
        return serve_null(behaviour)
    if sys.argv[1:] == ["--version"]:
        print("dbdyno-load 0.0.0 (fake)")
        return 0
    signal.signal(signal.SIGINT, note_interrupt)
    plan, secrets = json.loads(sys.stdin.readline()), sys.stdin.readline().strip()
    if behaviour.get("only_if", "") not in json.dumps(plan):
        behaviour = {}
    if secrets:
        json.loads(secrets)
    emit(
        "hello",
        contract=behaviour.get("contract", 1),
        program="fake-load",
        version="0.0.0",
        profile="release",
        pid=os.getpid(),
        transaction="request",
        operations=[{"name": name, "operation": "get", "table": "player"} for name in OPERATIONS],
        threads=1,
    )
    for name in plan["phases"]:
        if reason := phase(name, plan, behaviour):
            emit("end", status="refused", reason=reason)
            return 2
    emit("end", status="interrupted" if interrupts else "complete", reason=None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
