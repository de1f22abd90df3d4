"""A server that refuses clients, or lets them wait for a connection, limits by its number of connections."""

from dataclasses import replace

import pytest

from dbdyno.results.facts import TrialFacts
from dbdyno.verdict import connections
from dbdyno.verdict.evidence import Measured
from dbdyno.verdict.judge import judge

from .made import BUSY_HOST, IDLE_HOST, SECONDS, host, process, trial, waits

SERVER = [{"name": "mariadb", "effective_settings": {"max_connections": "40"}}]
MYSQL = "127.0.0.1:3306: logging in: the server refused the connection: Too many connections (error 1040)"
IDLE = waits(cpu=0.4, client=3.6) | process("mariadb", cpu=0.4) | process("client", cpu=0.1) | host(IDLE_HOST)


def refused(message, per_second, opened=1000, columns=IDLE):
    """Make a trial whose clients failed to connect so often in each second."""
    made = trial(columns, servers=SERVER)
    intervals = tuple(
        interval._replace(errors={"connect": count} if count else {})
        for interval, count in zip(made.recorded.intervals, per_second, strict=True)
    )
    error = {"record": "error", "kind": "connect", "operation": "connect", "client": 3, "at_s": 1.5, "message": message}
    sums = replace(made.recorded.sums, operations={"get": (1000, 0), "connect": (opened, sum(per_second))})
    recorded = replace(made.recorded, intervals=intervals, errors=(error,), sums=sums)
    changed = replace(made, recorded=recorded)
    object.__setattr__(changed, "observations", made.observations)
    return changed


def signs(made):
    return list(connections.connections(Measured.of(made)))


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (MYSQL, "Too many connections (error 1040)"),
        ("[::1]:5432: logging in: sorry, too many clients already", "sorry, too many clients already"),
        ("logging in: ERR max number of clients reached", "ERR max number of clients reached"),
    ],
)
def test_clients_that_are_refused_again_and_again(message, words):
    said = f"the server refused 50 connections/s with '{words}' (max_connections=40)"
    assert signs(refused(message, [50] * SECONDS)) == [said]


@pytest.mark.parametrize(
    ("message", "per_second", "opened"),
    [
        (MYSQL, [0] * (SECONDS - 4) + [50] * 4, 1000),
        (MYSQL, [2] * SECONDS, 1000),
        ("127.0.0.1:3306: Connection refused (os error 111)", [50] * SECONDS, 1000),
        (MYSQL, [0] * SECONDS, 1000),
    ],
    ids=["a moment", "one of fifty", "a server that is gone", "none"],
)
def test_other_failures_are_no_limit(message, per_second, opened):
    assert not signs(refused(message, per_second, opened))


def test_a_server_that_accepts_nobody_for_a_while():
    made = trial(IDLE | {"store.mariadb.listening_stopped_s_total": 0.4}, servers=SERVER)
    assert signs(made) == ["mariadb accepted no connection 40% of the time (max_connections=40)"]
    assert not signs(trial(IDLE | {"store.mariadb.listening_stopped_s_total": 0.05}))


def test_connections_that_found_the_servers_queue_full():
    made = refused(MYSQL, [0] * SECONDS, columns=IDLE | {"network.listen_overflows_total": 6.0})
    assert signs(made) == [
        "6 connections/s found the queue of new connections full, and the kernel repeats each after 1 s"
    ]
    assert not signs(refused(MYSQL, [0] * SECONDS, columns=IDLE | {"network.listen_overflows_total": 4.0}))
    # Others on this host overflow their queues too.
    assert not signs(trial(IDLE | {"network.listen_overflows_total": 6.0}))


def test_the_number_of_connections_is_the_limit_unless_processors_are_full():
    verdict = judge(refused(MYSQL, [50] * SECONDS)).verdict
    assert (verdict.limit, verdict.confidence) == ("connections", "high")
    assert verdict.sentence.startswith("Limited by the number of connections (confidence high): ")
    full = waits(cpu=2, cpu_wait=13.5, client=0.5) | process("mariadb", cpu=1.8, queue=13) | host(BUSY_HOST)
    full |= process("client", cpu=0.18, queue=0.1)
    assert judge(refused(MYSQL, [50] * SECONDS, columns=full)).verdict.limit == "server-cpu"


def test_the_setting_is_the_servers_own():
    facts = TrialFacts(servers=[{"name": "redis", "effective_settings": {"maxclients": "9"}}])
    assert connections.setting_of(facts) == "maxclients=9"
    assert connections.setting_of(TrialFacts()) is None
