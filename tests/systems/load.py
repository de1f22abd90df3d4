"""The real load client, given plans for a started system."""

import json
import subprocess
from dataclasses import dataclass

from dbdyno.conduct.load_client import find_load_client

ROWS = 200
ONE_CLIENT = {"clients": {"first": 0, "count": 1, "of": 1}}


@dataclass(frozen=True)
class Outcome:
    """A load client's records, and its exit status."""

    records: list
    status: int

    def of(self, kind):
        return [record for record in self.records if record["record"] == kind]

    def errors(self):
        return {kind for interval in self.of("interval") for kind in interval["errors"]}


def plan_of(store, workload, phases, rows=ROWS, options=None, **more):
    return {
        "contract": 1,
        "phases": phases,
        "store": store,
        "workload": {"name": workload, "rows": rows, "options": options or {}},
        "clients": {"first": 0, "count": 2, "of": 2},
        "duration_s": 1,
        "operation_timeout_s": 10,
        "run_id": "conformance",
        **more,
    }


def rows_read(store):
    """Make dbdyno's table there, read its rows and remove it; return how many were read, each as it was written."""
    done = execute(store, "point-get", ["prepare", "load", "run", "cleanup"])
    (total,) = done.of("total")
    assert (done.status, done.errors(), total["mismatches"]) == (0, set(), 0)
    return total["reads_verified"]


def begin(store, plan, secrets=None):
    known = []
    plan["store"] = store.store_plan(known)
    process = subprocess.Popen([find_load_client(), "run"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    process.stdin.write(f"{json.dumps(plan)}\n{json.dumps({'secrets': secrets or known})}\n")
    process.stdin.close()
    return process


def until_completed(process, records):
    """Read records up to an interval in which something was completed."""
    for line in process.stdout:
        records.append(json.loads(line))
        if records[-1]["record"] == "interval" and records[-1]["transactions"]["completed"]:
            return


def until_loading(process):
    """Read records up to the one that says that rows are being loaded."""
    for line in process.stdout:
        record = json.loads(line)
        if (record["record"], record.get("phase"), record.get("state")) == ("phase", "load", "begin"):
            return


def end(process, records=()):
    records = [*records, *map(json.loads, process.stdout)]
    process.stdout.close()
    return Outcome(records, process.wait())


def execute(store, *arguments, secrets=None, **more):
    return end(begin(store, plan_of(None, *arguments, **more), secrets))
