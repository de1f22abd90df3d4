"""Processes put together: every client once, intervals added up, and what goes wrong said."""

import io
import json
import os
import signal
import time

import pytest

from dbdyno.load_python import signals
from dbdyno.load_python.failure import Ended, Failure
from dbdyno.load_python.plan import read_plan
from dbdyno.load_python.records import Records
from dbdyno.load_python.run import Run, _slices, processes_for
from dbdyno.load_python.workloads import make_workload
from fakes.session import FakeSession
from load_python.conftest import plan_of


def plan(count=3, first=0, **keys):
    clients = {"first": first, "count": count, "of": first + count}
    document = plan_of({"kind": "mysql"}, "point-get", library="pymysql", clients=clients, threads=2) | keys
    return read_plan(io.StringIO(json.dumps(document) + "\n\n"))


def execute(asked, open_session=None):
    """Run a plan on sessions without a store; returns the records, and the exception if one was raised."""
    workload, out, raised = make_workload("point-get", 50, {}), io.StringIO(), None
    run = Run(asked, workload, open_session or (lambda: FakeSession(workload.steps)), Records(out))
    try:
        run.execute()
    except Ended as ended:
        raised = ended
    return [json.loads(line) for line in out.getvalue().splitlines()], raised


def of_kind(records, kind):
    return [record for record in records if record["record"] == kind]


def test_every_client_belongs_to_one_process():
    assert list(_slices(plan(count=5, first=10))) == [range(10, 15, 2), range(11, 15, 2)]
    assert processes_for(plan(count=1)) == 1
    assert processes_for(plan(count=100, threads=None)) == 4 * len(os.sched_getaffinity(0))


def test_a_run_is_recorded_and_adds_up():
    asked = time.time()
    records, raised = execute(plan(warmup_s=1))
    intervals, (total,) = of_kind(records, "interval"), of_kind(records, "total")
    assert raised is None
    # Records from elsewhere are laid beside the seconds by when the first second begins.
    (started,) = of_kind(records, "phase")
    assert (started["phase"], started["state"]) == ("run", "start")
    assert asked < started["at_unix_s"] < time.time() - 1.9
    assert [(interval["second"], interval["warmup"], interval["seconds"]) for interval in intervals] == [
        (0, True, 1.0),
        (1, False, 1.0),
    ]
    assert intervals[0]["connected"] == 3
    transactions = total["transactions"]
    assert sum(interval["transactions"]["completed"] for interval in intervals) == transactions["completed"] > 0
    assert transactions["scheduled"] == transactions["completed"] + transactions["unfinished"]
    # A transaction that straddles the end has read its row before it.
    assert 0 <= total["reads_verified"] - transactions["completed"] <= 3
    assert total["seconds"] == 2.0
    assert 0 < total["in_flight_mean"] <= 3
    assert all(interval["client_cpu_s"] > 0 for interval in intervals)


def test_clients_that_cannot_connect_end_the_run_before_it_began():
    def refuse():
        raise Failure("connect", "nobody is at home")

    records, raised = execute(plan(), refuse)
    assert (raised.status, raised.reason) == ("failed", "3 of 3 clients could not connect: nobody is at home")
    assert not of_kind(records, "interval") and of_kind(records, "error")


def test_a_process_that_is_killed_ends_the_run():
    _, raised = execute(plan(), lambda: os.kill(os.getpid(), signal.SIGKILL))
    assert raised.status == "failed" and "a load process ended" in raised.reason


@pytest.mark.parametrize("begun", [True, False])
def test_a_signal_ends_the_run_with_what_was_recorded(monkeypatch, begun):
    workload = make_workload("point-get", 50, {})
    until = time.monotonic() + 1.5
    monkeypatch.setattr("dbdyno.load_python.run.stop_requested", lambda: not begun or time.monotonic() > until)
    monkeypatch.setattr(signals, "_came", [])
    records, raised = execute(plan(duration_s=100), lambda: FakeSession(workload.steps))
    assert raised is None
    if begun:
        (total,) = of_kind(records, "total")
        assert total["seconds"] == sum(interval["seconds"] for interval in of_kind(records, "interval")) < 10
    else:
        assert not of_kind(records, "interval")
