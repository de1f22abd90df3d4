"""Client libraries and servers that misbehave: the load client ends in time, in little memory, and says why."""

import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

import pytest

from bounded import run_bounded
from dbdyno.load_python.bounds import is_stuck, within
from dbdyno.load_python.session import LIBRARIES
from fakes import hostile

TIMEOUT_S, GRACE_S, START_S = 2, 5, 40
MOST_BYTES = 300 << 20


def plan_for(library, port):
    kind = LIBRARIES[library]
    store = {"kind": kind, "address": {"host": "127.0.0.1", "port": port}, "user": "u", "password": None}
    more = {"redis": {"database": 0, "layout": "string"}, "cassandra": {"keyspace": "d"}}
    if kind in ("redis", "cassandra", "mongodb"):
        # These ask for a password before they connect.
        store["user"] = None
    store |= {"database": "d", "auth_database": "admin", "write": "acknowledged", "consistency": "ONE"}
    return {
        "contract": 1,
        "phases": ["run", "verify"],
        "library": library,
        "store": store | more.get(kind, {}),
        "workload": {"name": "point-get", "rows": 10, "options": {}},
        "seed": 1,
        "clients": {"first": 0, "count": 2, "of": 2},
        "warmup_s": 0,
        "duration_s": 1,
        "operation_timeout_s": TIMEOUT_S,
    }


def execute(library, behaviour):
    reached = threading.Event()

    def behave(connection):
        reached.set()
        behaviour(connection)

    with hostile.server(behave) as port:
        stdin = json.dumps(plan_for(library, port)) + "\n\n"
        ended = run_bounded([sys.executable, "-m", "dbdyno.load_python", "run"], stdin)
    assert reached.is_set(), ended
    return ended


@pytest.mark.parametrize("library", LIBRARIES)
def test_whatever_a_server_does_to_a_library_is_bounded_and_told(library):
    if library == "mysqlclient" and not find_spec("MySQLdb"):
        pytest.skip("mysqlclient is not installed")
    scheme = {"postgres": "postgresql"}.get(LIBRARIES[library], LIBRARIES[library])
    behaviours = {**hostile.ANYWHERE, **hostile.OF_PROTOCOL[scheme]}
    with ThreadPoolExecutor(3) as pool:
        ended = pool.map(lambda behaviour: execute(library, behaviour), behaviours.values())
        for name, run_ended in zip(behaviours, ended, strict=True):
            assert run_ended.status == 1, (name, run_ended)
            assert run_ended.seconds < TIMEOUT_S + GRACE_S + START_S, (name, run_ended)
            assert run_ended.peak_bytes < MOST_BYTES, (name, run_ended)
            assert "Traceback" not in run_ended.said, (name, run_ended)
            last = json.loads(run_ended.said.splitlines()[-1])
            assert (last["record"], last["status"]) == ("end", "failed") and last["reason"], (name, run_ended)


@pytest.mark.parametrize("behaviour", [hostile.NESTED_TYPES, hostile.NESTED_TYPE_NAMES])
def test_types_that_nest_too_deeply_are_told_as_that(behaviour):
    ended = execute("cassandra-driver", behaviour)
    last = json.loads(ended.said.splitlines()[-1])
    assert (ended.status, last["status"]) == (1, "failed"), ended
    assert "the type of a column nests more than 100 deep" in last["reason"]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("length of 2 GiB", "an answer has no end, or takes more"),
        ("nested arrays", "an answer nests too deeply for the"),
    ],
)
def test_what_took_all_of_a_library_is_told(fault, words):
    ended = execute("redis-py", hostile.OF_PROTOCOL["redis"][fault])
    assert words in json.loads(ended.said.splitlines()[-1])["reason"], ended


def test_what_does_not_end_is_given_up():
    given_up = threading.Event()
    with within(-2.0, given_up.set):
        assert given_up.wait(10)
    late = threading.Event()
    with within(60, late.set):
        pass
    assert not late.is_set()


def test_only_what_is_past_its_time_out_is_stuck():
    assert not is_stuck(None, 0)
    assert is_stuck(1, 0)
