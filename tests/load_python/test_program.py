"""The program as it is run: real stores, the records dbdyno reads, exit statuses, signals."""

import json
import re
import signal

import pytest
import redis

from dbdyno.load_python.workloads import make_workload
from dbdyno.results.facts import TrialFacts
from dbdyno.results.identities import warnings_of
from dbdyno.results.records import read_records
from load_python.conftest import ROWS, plan_of, python_load_client

MYSQL = {"kind": "mysql", "address": {"host": "127.0.0.1", "port": 1}, "user": "u", "password": None, "database": "d"}
CLIENTS = {"first": 0, "count": 3, "of": 3}


def of_kind(records, kind):
    return [record for record in records if record["record"] == kind]


@pytest.mark.parametrize(
    ("system", "library", "workload"),
    [
        ("mariadb", "pymysql", "game"),
        ("mariadb", "pymysql", "point-update"),
        ("redis", "redis-py", "game"),
        ("redis", "redis-py", "point-update"),
        ("postgresql", "psycopg", "game"),
        ("memcached", "pymemcache", "game"),
        ("memcached", "pymemcache", "point-get"),
    ],
)
def test_a_trial_through_a_library_is_right_and_can_be_read(loaded, tmp_path, system, library, workload):
    records = loaded(system, workload).python(library, clients=CLIENTS, warmup_s=1, threads=2)
    assert records[-1] == {"record": "end", "status": "complete", "reason": None}
    (hello,) = of_kind(records, "hello")
    assert (hello["program"], hello["processes"]) == ("dbdyno-load-python", 2)
    assert "CPython" in hello["library"] and hello["own_cpu_us_per_transaction"] > 0
    assert not of_kind(records, "error") and not of_kind(records, "mismatch")
    assert all(check["ok"] is not False for check in of_kind(records, "check"))
    path = tmp_path / "records.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    recorded = read_records(path)
    assert recorded.completed > 0 and recorded.seconds == 1.0
    assert [operation.name for operation in recorded.operations] == [
        operation["name"] for operation in hello["operations"]
    ]
    # Three clients on two shared processors may wait for them between connecting and their first transaction.
    assert warnings_of(recorded, TrialFacts(seconds=1, clients=None), None) == ()


def test_a_trial_through_a_pair_of_libraries_counts_what_the_cache_had(loaded):
    store = loaded("cache-aside(memcached, mariadb)", "game")
    records = store.python("pymysql", cache_library="pymemcache", clients=CLIENTS)
    assert records[-1] == {"record": "end", "status": "complete", "reason": None}
    (hello,) = of_kind(records, "hello")
    assert re.match(r"pymemcache \S+ \+ PyMySQL", hello["library"])
    (interval,) = of_kind(records, "interval")
    counters, operations = interval["counters"], interval["operations"]
    reads = operations["read_player"]["completed"] + operations["find_account"]["completed"]
    assert counters["cache_hits"] + counters["cache_misses"] == reads and min(counters.values()) > 0
    assert all(check["ok"] for check in of_kind(records, "check"))


def test_a_row_that_differs_is_found_out(loaded):
    store = loaded("redis", "point-get")
    endpoint = store.endpoint()
    server = redis.Redis(port=endpoint.port, password=endpoint.password)
    table = make_workload("point-get", ROWS, {}).tables[0]
    server.set(table.store_key_of(7), table.encode(table.generate(8, 0)))
    records = store.python("redis-py")
    mismatch = of_kind(records, "mismatch")[0]
    assert (mismatch["key"], mismatch["column"], mismatch["expected"], mismatch["found"]) == (7, "id", "7", "8")
    assert of_kind(records, "total")[0]["mismatches"] > 0 and len(of_kind(records, "mismatch")) <= 5


def test_an_interrupted_run_is_verified_and_says_so(loaded):
    store = loaded("redis", "point-update")
    plan = plan_of(store.store, "point-update", library="redis-py", duration_s=100, clients=CLIENTS)
    command = python_load_client("run")
    command.stdin.write(f"{json.dumps(plan)}\n{json.dumps({'secrets': store.secrets})}\n")
    command.stdin.flush()
    records = []
    for line in command.stdout:
        records.append(json.loads(line))
        if records[-1]["record"] == "interval" and len(of_kind(records, "interval")) == 1:
            command.send_signal(signal.SIGINT)
    assert command.wait() == 1 and command.stderr.read() == ""
    assert records[-1]["status"] == "interrupted"
    assert [check["ok"] for check in of_kind(records, "check")] == [True, True]
    for stream in (command.stdin, command.stdout, command.stderr):
        stream.close()


@pytest.mark.parametrize(
    ("change", "status", "said"),
    [
        ({"library": "pyodbc"}, 2, "there are pymysql"),
        ({"phases": ["load"]}, 2, "the phase load"),
        ({}, 1, "could not connect|Can't connect"),
        ({"phases": ["run"]}, 1, "1 of 1 clients could not connect"),
    ],
)
def test_what_cannot_be_done_ends_with_its_reason_and_status(change, status, said):
    command = python_load_client("run")
    out, log = command.communicate(json.dumps(plan_of(MYSQL, "game", library="pymysql") | change) + "\n\n")
    end = json.loads(out.splitlines()[-1])
    assert command.returncode == status and end["record"] == "end"
    assert re.search(said, end["reason"]) and log == ""


def test_its_version_and_its_usage():
    out, _ = python_load_client("--version").communicate()
    assert out.startswith("dbdyno-load-python ")
    command = python_load_client("walk")
    _, log = command.communicate()
    assert command.returncode == 2 and log.startswith("usage: ")
