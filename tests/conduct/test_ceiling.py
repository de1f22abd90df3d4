"""The load client is measured alone once for each load, on null servers that are gone afterwards."""

import json
import os
import signal
from dataclasses import replace

import pytest

from dbdyno.conduct import ceiling
from dbdyno.conduct.ceiling import measure_ceiling, store_kinds
from dbdyno.conduct.plan import MEASURE, Arrivals, PlannedWorkload, make_plan
from dbdyno.leftovers.processes import start_time
from helpers import workload

POINT_GET = workload("point-get")
TCP = {"host": "db.example", "port": 3306}
MYSQL = {"kind": "mysql", "address": TCP, "user": "u", "password": {"secret": 0}, "database": "d"}
ARRANGED = {"kind": "cache-aside", "cache": {"kind": "memcached", "address": {"unix": "/s"}}, "store": MYSQL}


@pytest.fixture
def measure(context, fake_load):
    """Return a function that measures the ceiling of a store's plan in one run."""
    running = context(cpus={"server": [0]})

    def of(store, clients=2, pipeline=1, reached_per_s=0.0, workload=POINT_GET, **behaviour):
        fake_load(**behaviour)
        plan = make_plan(running.experiment, "run", MEASURE, store, workload, clients)
        return measure_ceiling(running, workload, replace(plan, pipeline=pipeline), reached_per_s)

    of.folder = running.folder.path / "ceilings"
    of.context = running
    return of


def plans(measure):
    return [json.loads(path.read_text()) for path in sorted(measure.folder.glob("*/plan.json"))]


def test_the_same_load_runs_for_a_second_on_a_null_server(measure):
    assert measure(MYSQL, clients=4, ceiling_per_s=123_000).per_s == 123_000
    (plan,) = plans(measure)
    assert (plan["phases"], plan["warmup_s"], plan["duration_s"], plan["verify_reads"]) == (["run"], 0, 1, True)
    assert plan["clients"]["of"] == 4 and plan["arrivals"] is None
    assert plan["store"] == MYSQL | {"address": {"host": "127.0.0.1", "port": 1}, "password": None}


def test_an_arrangement_has_a_null_server_for_each_part(measure):
    measure(ARRANGED)
    (plan,) = plans(measure)
    assert plan["store"]["cache"]["address"]["unix"].endswith("null.sock")
    assert plan["store"]["store"]["address"]["host"] == "127.0.0.1"


def test_a_null_server_has_its_rows_itself(measure):
    measure(MYSQL | {"backends": [MYSQL]})
    (plan,) = plans(measure)
    assert plan["store"]["backends"] == []


def test_null_servers_do_not_answer_sql_of_a_workloads_own(measure):
    for name in ("oltp", "tpcc"):
        ceiling = measure(MYSQL, workload=workload(name))
        assert ceiling.per_s is None and "SQL" in ceiling.note
    assert plans(measure) == []


@pytest.mark.parametrize("tls_in", [lambda store: store, lambda store: {**ARRANGED, "store": store}])
def test_what_is_encrypted_has_no_ceiling_as_one_without_tls_is_higher(measure, tls_in):
    ceiling = measure(tls_in({**MYSQL, "tls": {"verify": "nothing", "ca": None}}))
    assert (ceiling.per_s, ceiling.note) == (None, "null servers have no TLS")
    assert plans(measure) == []


def test_an_equal_load_is_measured_once(measure):
    for clients, pipeline in ((1, 1), (2, 1), (1, 1), (1, 16)):
        measure(MYSQL, clients, pipeline)
    measure({"kind": "memcached", "address": TCP}, 1)
    assert len(plans(measure)) == 4


def test_another_way_to_the_same_kind_of_store_is_another_load(measure):
    prepared = MYSQL | {"access": "sql", "protocol": "prepared"}
    others = ({"address": {"unix": "/s"}}, {"protocol": "text"}, {"access": "handler"})
    for store in (prepared, *(prepared | other for other in others), prepared | {"address": TCP | {"port": 1}}):
        measure(store)
    mongodb = {"kind": "mongodb", "address": TCP, "write": "acknowledged"}
    for store in (mongodb, mongodb | {"write": "unacknowledged"}):
        measure(store)
    assert len(plans(measure)) == 6


SPREAD = {"kind": "spread", "nodes": [MYSQL, MYSQL], "own_nodes": 2}


def test_another_arrangement_of_the_same_stores_is_another_load(measure):
    for store in (SPREAD, SPREAD, {"kind": "cache-aside", "cache": MYSQL, "store": MYSQL}, SPREAD | {"own_nodes": 1}):
        measure(store)
    measure({**ARRANGED, "store": SPREAD})
    measure({**ARRANGED, "store": {"kind": "cache-aside", "cache": MYSQL, "store": MYSQL}})
    assert len(plans(measure)) == 5


@pytest.mark.parametrize(
    "other",
    [
        {"cpus": [0]},
        {"threads": 7},
        {"verify_reads": False},
        {"engine": "epoll"},
        {"workload": PlannedWorkload("point-get", 7)},
        {"workload": PlannedWorkload("point-get", 10, {"access": "zipfian"})},
    ],
)
def test_whatever_changes_what_the_client_does_is_another_load(measure, other):
    plan = make_plan(measure.context.experiment, "run", MEASURE, MYSQL, POINT_GET, 2)
    assert replace(plan, **other) != plan
    for variant in (plan, replace(plan, **other), plan):
        measure_ceiling(measure.context, POINT_GET, variant)
    assert len(plans(measure)) == 2


@pytest.mark.parametrize(
    "other",
    [
        {"run_id": "another"},
        {"network_delay_us": 200},
        {"arrivals": Arrivals("constant", [])},
        {"duration_s": 77},
        {"store": MYSQL | {"user": "v", "password": None, "database": "e", "table_options": "ENGINE=MyISAM"}},
        {"store": MYSQL | {"address": {"host": "elsewhere", "port": 1}}},
    ],
)
def test_what_a_null_server_never_sees_is_the_same_load(measure, other):
    plan = make_plan(measure.context.experiment, "run", MEASURE, MYSQL, POINT_GET, 2)
    assert replace(plan, **other) != plan
    measure_ceiling(measure.context, POINT_GET, plan)
    measure_ceiling(measure.context, POINT_GET, replace(plan, **other))
    assert len(plans(measure)) == 1


def test_one_that_a_trial_exceeds_is_measured_once_more_and_the_higher_counts(measure):
    assert measure(MYSQL, ceiling_per_s=1000).per_s == 1000
    assert measure(MYSQL, reached_per_s=999, ceiling_per_s=1500).per_s == 1000
    assert measure(MYSQL, reached_per_s=1001, ceiling_per_s=1500).per_s == 1500
    assert measure(MYSQL, reached_per_s=1501, ceiling_per_s=2000).per_s == 1500
    assert {path.name for path in measure.folder.iterdir()} == {"01-mysql-point-get-c2", "01-mysql-point-get-c2-again"}


def test_what_needs_no_network_has_no_ceiling(measure):
    assert measure({"kind": "sqlite", "path": "/x"}) is None
    assert measure({"kind": "cache-aside", "cache": MYSQL, "store": {"kind": "lmdb"}}) is None


def test_it_can_be_turned_off(context, fake_load):
    running = context(ceiling=False)
    plan = make_plan(running.experiment, "run", MEASURE, MYSQL, POINT_GET, 1)
    assert measure_ceiling(running, POINT_GET, plan) is None


def test_a_null_server_that_does_not_come_up_spoils_nothing(measure):
    known = measure(MYSQL, null_ends=True)
    assert known.per_s is None and "ended with status 2 before it listened" in known.note


def test_a_client_that_fails_on_it_neither(measure):
    assert "SIGKILL" in measure(MYSQL, die="run").note
    assert "failed: {'server': 1}" in measure(MYSQL, clients=3, errors=1).note


def test_an_interrupt_meanwhile_ends_the_run(measure):
    measure.context.interrupts.requested = True
    with pytest.raises(KeyboardInterrupt):
        measure(MYSQL)


def test_a_null_server_that_is_stopped_by_a_signal_is_ended(measure, guard, monkeypatch):
    pids = []

    def tell(verb, what):
        if verb == "pid" and not pids:
            os.kill(what, signal.SIGSTOP)
            pids.append(what)

    monkeypatch.setattr(guard, "tell", tell)
    monkeypatch.setattr(ceiling, "LISTEN_TIMEOUT_S", 0.1)
    measure(MYSQL)
    assert not any(map(start_time, pids))


def test_no_null_server_stays(measure, guard, monkeypatch):
    messages = []
    monkeypatch.setattr(guard, "tell", lambda verb, what: messages.append((verb, what)))
    measure(ARRANGED)
    pids = [what for verb, what in messages if verb == "pid"]
    assert len(pids) == 3
    assert sorted(pids) == sorted(what for verb, what in messages if verb == "done")
    assert not any(start_time(pid) for pid in pids)


def test_kinds_of_a_store():
    assert store_kinds(ARRANGED) == ["memcached", "mysql"]
    assert store_kinds(MYSQL) == ["mysql"]
    assert store_kinds({"kind": "spread", "nodes": [MYSQL, MYSQL], "own_nodes": 2}) == ["mysql", "mysql"]


@pytest.mark.parametrize("keys", [{"library": "pymysql"}, {"program": "/mine"}])
def test_what_null_servers_do_not_know_has_no_ceiling(keys, measure, context):
    running = context()
    plan = make_plan(running.experiment, "run", MEASURE, MYSQL, POINT_GET, 2)
    assert measure_ceiling(running, POINT_GET, replace(plan, **keys)) is None
