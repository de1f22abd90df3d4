"""A store that stops answering makes the run a failure: real servers, stopped in mid-load."""

import os
import signal
import socket
import subprocess

import pytest

from dbdyno.conduct.listener import Listener
from dbdyno.conduct.load_client import Summary
from dbdyno.conduct.run import conduct
from dbdyno.conduct.trial import why_unanswered
from dbdyno.results.read import read_run
from dbdyno.systems.running.ports import free_port
from dbdyno.systems.running.process import find_program
from helpers import experiment, need, wait_until

KEYS = {"workload": "point-get", "rows": 200, "clients": [4], "seconds": 3, "host": False, "observe": False}
SOON = {"operation_timeout_seconds": 1}


class Stopper(Listener):
    """Stops a server when the load reports its second `after`, or begins; lets it go on when the trial has ended."""

    def __init__(self, pid, after):
        self._pid, self._after = pid, after

    def record_came(self, record):
        begun = record["record"] == "phase" and record.get("state") == "start" and self._after is None
        if begun or (record["record"] == "interval" and record["second"] == self._after):
            os.kill(self._pid, signal.SIGSTOP)

    def trial_ended(self, outcome):
        os.kill(self._pid, signal.SIGCONT)


@pytest.fixture
def somebodys_redis(tmp_path):
    """A server that dbdyno did not start, so that nobody but its clients notices that it is stopped."""
    need("redis")
    port = free_port()
    server = subprocess.Popen(
        [find_program("redis-server"), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", tmp_path],
        stdout=subprocess.DEVNULL,
    )
    wait_until(lambda: socket.socket().connect_ex(("127.0.0.1", port)) == 0)
    yield f"redis://127.0.0.1:{port}/0", server.pid
    server.kill()
    server.wait()


@pytest.mark.parametrize(
    ("loop", "after"),
    [({}, None), ({"rate": 500}, None), ({}, 1), ({"rate": 500}, 1), ({"client": "redis-py"}, 1)],
    ids=["closed loop, at once", "open loop, at once", "closed loop, later", "open loop, later", "library, later"],
)
def test_a_store_that_stops_answering_fails_the_run(loop, after, somebodys_redis, tmp_path):
    url, pid = somebodys_redis
    keys = KEYS | SOON | loop | {"system": url, "warmup_seconds": 0}
    end = conduct(experiment(**keys), "dbdyno run", tmp_path, Stopper(pid, after))
    (trial,) = read_run(end.folder).trials
    assert (end.state, trial.state) == ("failed", "failed")
    assert trial.reason.startswith("nothing was answered" if after is None else "the store stopped answering")


@pytest.mark.parametrize(
    ("ended", "transactions", "errors", "said"),
    [
        ({"scheduled": 4, "unfinished": 4}, 0, {}, "nothing was answered: of 4 transactions none was completed in 3 s"),
        ({"scheduled": 9, "unfinished": 4}, 0, {"timeout": 5}, "4 were in flight or waiting at the end; errors: 5 tim"),
        ({"scheduled": 0, "unfinished": 0}, 0, {}, "no transaction was due in 3 s: give more seconds or a higher rate"),
        ({"scheduled": 99, "unfinished": 4, "unanswered": 4}, 95, {}, "the store stopped answering: 4 operations had"),
    ],
)
def test_what_was_seen_is_said(ended, transactions, errors, said):
    assert said in why_unanswered(Summary(transactions=transactions, seconds=3.0, ended=ended, errors=errors))


def test_a_store_that_answers_to_the_end_is_in_order():
    ended = {"scheduled": 99, "completed": 95, "unfinished": 4, "unanswered": 0}
    assert why_unanswered(Summary(transactions=95, seconds=3.0, ended=ended)) is None
    # Load clients that are not asked for transactions have no totals.
    assert why_unanswered(Summary()) is None
