"""A client's transactions: what is noted down of each, and what becomes of its session."""

import time
from collections import deque
from itertools import pairwise

import pytest

from dbdyno.load_python.client import Client, Trial
from dbdyno.load_python.events import CONNECTING, TRANSACTION, Completed, Failed
from dbdyno.load_python.failure import Failure
from dbdyno.load_python.workloads import make_workload
from fakes.session import LOST, FakeSession


@pytest.fixture
def make():
    """Return a function that makes a connected client; the first session gives the given answers."""

    def make_client(name="game", answers=(), refuse=(), **keys):
        workload, answers, refuse = make_workload(name, 50, {}), list(answers), list(refuse)
        sessions, examples = [], []

        def open_session():
            sessions.append(FakeSession(workload.steps, answers if not sessions else (), refuse if sessions else []))
            return sessions[-1]

        trial = Trial(workload, open_session, 1, 1, 5.0, True, deque(), examples.append)
        for key, value in keys.items():
            setattr(trial, key, value)
        client = Client(trial, 0)
        client.connect()
        client.sessions, client.examples = sessions, examples
        return client

    return make_client


def steps(client, kind):
    return [event.step for event in client.trial.events if isinstance(event, kind)]


def test_a_transaction_and_each_operation_are_noted_down_and_follow_each_other(make):
    client = make()
    begun_ns = time.monotonic_ns()
    ended_ns = client.transaction(0, begun_ns)
    events = list(client.trial.events)
    assert [event.step for event in events] == [0, 1, 2, TRANSACTION]
    assert [event.verified for event in events] == [True, False, True, False]
    assert (events[0].begun_ns, events[-1].begun_ns, events[-1].ended_ns) == (begun_ns, begun_ns, ended_ns)
    assert all(event.ended_ns <= other.begun_ns for event, other in pairwise(events[:3]))
    totals = client.totals
    assert (totals.scheduled, totals.completed, totals.operations) == (1, 1, [[1, 0]] * 3)
    assert (totals.reads_verified, totals.in_flight_ns) == (2, ended_ns - begun_ns)


def test_a_wrong_row_is_a_mismatch_that_is_shown_and_ends_the_transaction_alone(make):
    client = make(answers=["wrong"])
    client.transaction(0, time.monotonic_ns())
    assert [(event.step, event.kind) for event in client.trial.events] == [(0, "mismatch"), (TRANSACTION, "mismatch")]
    assert [record["record"] for record in client.examples] == ["mismatch", "error"]
    assert client.examples[0]["column"] == "id" and client.session is client.sessions[0]
    assert (client.totals.mismatches, client.totals.failed) == (1, 1)


def test_rows_are_not_compared_where_that_was_not_asked_for(make):
    client = make(answers=["wrong"], verify_reads=False)
    client.transaction(0, time.monotonic_ns())
    assert client.totals.completed == 1 and client.totals.reads_verified == 0


def test_a_row_that_is_not_there_is_missing(make):
    client = make(answers=["missing"])
    client.transaction(0, time.monotonic_ns())
    assert [event.kind for event in client.trial.events] == ["missing", "missing"]


@pytest.mark.parametrize(
    ("raised", "timeout_s", "kind"),
    [
        (LOST, 5.0, "connection"),
        (LOST, 0.0, "timeout"),
        (ValueError("what is this"), 5.0, "protocol"),
        (Failure("timeout", "late"), 5.0, "timeout"),
    ],
)
def test_a_lost_session_is_closed(make, raised, timeout_s, kind):
    client = make(answers=[raised], timeout_s=timeout_s)
    client.transaction(0, time.monotonic_ns())
    assert [event.kind for event in client.trial.events] == [kind, kind]
    assert client.session is None and client.sessions[0].closed


def test_a_servers_refusal_keeps_the_session(make):
    client = make(answers=[Failure("server", "no")])
    client.transaction(0, time.monotonic_ns())
    assert client.session is not None


def test_what_ends_after_the_run_is_unfinished_but_its_time_in_the_run_counts(make):
    now_ns = time.monotonic_ns()
    client = make("point-update", end_ns=now_ns + 1)
    client.transaction(0, now_ns - 999)
    assert (client.totals.unfinished, client.totals.in_flight_ns, len(client.trial.events)) == (1, 1000, 0)
    assert client.totals.added == 1, "it was acknowledged all the same"


def test_increments_without_an_answer_may_have_been_done(make):
    client = make("point-update", answers=[LOST])
    client.transaction(0, time.monotonic_ns())
    assert (client.totals.added, client.totals.maybe_added) == (0, 1)
    refused = make("point-update", answers=[Failure("server", "no")])
    refused.transaction(0, time.monotonic_ns())
    assert (refused.totals.added, refused.totals.maybe_added) == (0, 0)


def test_only_the_first_failures_of_each_kind_are_shown(make):
    client = make(answers=[Failure("server", "no")] * 20)
    for step in range(20):
        client.transaction(step, time.monotonic_ns())
    assert len(client.examples) == 5 and client.totals.failed == 20


def test_a_client_lives_from_start_to_end_and_connects_anew_when_it_is_cut_off(make):
    client = make(answers=[LOST], refuse=[Failure("connect", "not yet")])
    trial = client.trial
    trial.start_ns = time.monotonic_ns() + 20_000_000
    trial.end_ns = trial.start_ns + 300_000_000
    trial.started.set()
    client.live()
    assert steps(client, Failed) == [0, TRANSACTION, CONNECTING]
    assert client.sessions[-1].closed and client.totals.completed > 0
    assert all(event.begun_ns >= trial.start_ns for event in trial.events if isinstance(event, Completed))


def test_a_run_that_ended_before_it_began_does_nothing(make):
    client = make()
    client.trial.end_ns = 0
    client.trial.started.set()
    client.live()
    assert client.totals.scheduled == 0 and client.sessions[0].closed
