"""One process's clients, and what it tells its parent."""

import io
import json
import os
import threading
import time
from multiprocessing import Pipe

import pytest

from dbdyno.load_python.events import SECOND_NS
from dbdyno.load_python.failure import Failure
from dbdyno.load_python.plan import read_plan
from dbdyno.load_python.worker import Worker, fork, load_cpu_s
from dbdyno.load_python.workloads import make_workload
from fakes.session import FakeSession
from load_python.conftest import plan_of


@pytest.fixture
def begun():
    """Return a function that starts a worker's work in a thread; returns the parent's end of its pipe."""
    started = []

    def begin(refuse=()):
        workload = make_workload("point-get", 50, {})
        plan = read_plan(io.StringIO(json.dumps(plan_of({"kind": "mysql"}, "point-get", library="pymysql")) + "\n\n"))
        mine, theirs = Pipe()
        worker = Worker(plan, workload, lambda: FakeSession(workload.steps, refuse=refuse), range(2), theirs)
        started.append(threading.Thread(target=worker.work))
        started[-1].start()
        return mine

    yield begin
    for thread in started:
        thread.join()


def hear_until(pipe, kind):
    heard = [pipe.recv()]
    while heard[-1][0] != kind:
        heard.append(pipe.recv())
    return heard


def test_it_connects_runs_and_tells_what_was_counted(begun):
    parent = begun()
    assert [parent.recv(), parent.recv()] == [("connected",)] * 2
    start_ns = time.monotonic_ns()
    parent.send(("start", start_ns, start_ns + SECOND_NS // 2))
    *intervals, (_, totals) = hear_until(parent, "done")
    ((_, interval),) = intervals
    assert interval.seconds == 0.5 and interval.connected <= 2 and interval.client_cpu_s > 0
    assert interval.transactions.service_time.count == totals.completed > 0
    assert totals.reads_verified == totals.operations[0][0] == interval.reads_verified
    # A read may end just before time is up and its transaction, which looks at the clock once more, just after.
    assert totals.completed <= totals.reads_verified <= totals.completed + totals.unfinished <= totals.completed + 2


def test_it_stops_when_told_to(begun):
    parent = begun()
    hear_until(parent, "connected")
    start_ns = time.monotonic_ns()
    parent.send(("start", start_ns, start_ns + 1000 * SECOND_NS))
    hear_until(parent, "interval")
    parent.send(("stop",))
    *_, (_, last), (_, totals) = hear_until(parent, "done")
    assert last.seconds <= 1.0 and totals.completed > 0


def test_it_stops_before_it_has_begun(begun):
    parent = begun()
    parent.send(("stop",))
    *heard, (_, totals) = hear_until(parent, "done")
    assert totals.scheduled == 0 and not [message for message in heard if message[0] == "interval"]


def test_a_client_that_cannot_connect_is_told_with_an_example(begun):
    parent = begun(refuse=[Failure("connect", "no"), Failure("connect", "no")])
    heard = hear_until(parent, "record")
    assert ("refused", "no") in heard and heard[-1][1]["kind"] == "connect"
    parent.send(("stop",))
    hear_until(parent, "done")


def test_a_forked_process_does_its_work_and_no_more():
    mine, theirs = Pipe()
    pid = fork(lambda: theirs.send(os.getpid()))
    assert mine.recv() == pid
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_the_counting_threads_own_time_is_left_out():
    before, own_before = load_cpu_s(), time.thread_time()
    while time.thread_time() - own_before < 0.05:
        sum(range(1000))
    assert load_cpu_s() - before < 0.04
