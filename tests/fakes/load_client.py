#!/usr/bin/env python3
"""A load client without a store: speaks the contract (docs/contract.md) and does what FAKE_LOAD tells it to.

FAKE_LOAD is JSON; every key may be left out:
    second_s: how long a second of the run takes.      errors: failed operations in each second.
    mismatches: wrong rows in each second.             wrong_check: True for a check that is not right.
    refuse: a phase that ends with `refused`.          die: a phase in which it kills itself with SIGKILL.
    contract: the version it says it speaks.           only_if: a text that must be in the plan for all this to hold.
    await_file: run on until this file is there.
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


def run(plan, told):
    clients, seconds = plan["clients"]["count"], plan["warmup_s"] + plan["duration_s"]
    per_second, errors, wrong = 1000 * clients, told.get("errors", 0), told.get("mismatches", 0)
    second = 0
    while not interrupts and (second < seconds or not os.path.exists(told.get("await_file", "/"))):
        time.sleep(told.get("second_s", 0.01))
        emit(
            "interval",
            second=second,
            warmup=second < plan["warmup_s"],
            seconds=1.0,
            connected=clients,
            transactions=counted(per_second, errors, clients, 1.0),
            operations={name: counted(per_second, 0, clients, 1.0 / 3) for name in OPERATIONS},
            errors={"server": errors} if errors else {},
            reads_verified=2 * per_second,
            mismatches=wrong,
            client_cpu_s=0.25,
        )
        second += 1
    done = {"completed": per_second * second, "failed": errors * second}
    emit(
        "total",
        transactions={"scheduled": sum(done.values()), **done, "unfinished": 0},
        operations={name: {"completed": per_second * second, "failed": 0} for name in OPERATIONS},
        reads_verified=2 * per_second * second,
        mismatches=wrong * second,
        seconds=float(second),
        in_flight_mean=float(clients),
    )


def phase(name, plan, told):
    """Execute one phase; return why the plan is refused, or None."""
    if told.get("die") == name:
        print("about to die", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    if told.get("refuse") == name:
        return "a table dbdyno_player without dbdyno's marker is there"
    emit("phase", phase=name, state="begin", at_unix_s=time.time())
    if name == "run":
        run(plan, told)
    if name == "verify":
        wrong = bool(told.get("wrong_check"))
        emit("check", name="rows", expected=10, found=None, ok=None, note="this store cannot tell")
        emit("check", name="sum of k", expected=10, found=9 if wrong else 10, ok=not wrong, note=None)
    rows = {"rows": 2 * plan["workload"]["rows"], "rows_per_s": 1e5} if name == "load" else {}
    emit("phase", phase=name, state="end", at_unix_s=time.time(), seconds=0.01, **rows)
    return None


def note_interrupt(number, frame):
    interrupts.append(number)


def main():
    if sys.argv[1:] == ["--version"]:
        print("dbdyno-load 0.0.0 (fake)")
        return 0
    signal.signal(signal.SIGINT, note_interrupt)
    plan, secrets = json.loads(sys.stdin.readline()), sys.stdin.readline().strip()
    told = json.loads(os.environ.get("FAKE_LOAD", "{}"))
    if told.get("only_if", "") not in json.dumps(plan):
        told = {}
    if secrets:
        json.loads(secrets)
    emit(
        "hello",
        contract=told.get("contract", 1),
        program="fake-load",
        version="0.0.0",
        profile="release",
        pid=os.getpid(),
        transaction="request",
        operations=[{"name": name, "operation": "get", "table": "player"} for name in OPERATIONS],
        threads=1,
    )
    for name in plan["phases"]:
        if reason := phase(name, plan, told):
            emit("end", status="refused", reason=reason)
            return 2
    emit("end", status="interrupted" if interrupts else "complete", reason=None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
