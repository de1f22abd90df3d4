"""Plans are read, and what this load client does not do is refused in words."""

import io
import json

import pytest

from dbdyno.load_python.failure import Ended
from dbdyno.load_python.plan import read_plan
from load_python.conftest import plan_of

STORE = {"kind": "mysql", "password": {"secret": 0}}


def read(secrets='{"secrets": ["open sesame"]}', **keys):
    plan = plan_of(STORE, "game", library="pymysql") | keys
    return read_plan(io.StringIO(f"{json.dumps(plan)}\n{secrets}\n"))


def test_a_plan_and_its_secret_are_read():
    plan = read(threads=3, cpus=[0, 1], clients={"first": 2, "count": 4, "of": 8})
    assert (plan.library, plan.store["password"], plan.processes, plan.cpus) == ("pymysql", "open sesame", 3, (0, 1))
    assert (plan.first, plan.count, plan.of) == (2, 4, 8)
    assert read(secrets="", store={"kind": "redis", "password": None}).store["password"] is None


def test_a_cache_and_its_store_have_their_passwords():
    parts = {"cache": {"kind": "redis", "password": {"secret": 1}}, "store": STORE}
    plan = read('{"secrets": ["a", "b"]}', store={"kind": "cache-aside", **parts}, cache_library="redis-py")
    assert (plan.store["cache"]["password"], plan.store["store"]["password"]) == ("b", "a")
    assert (plan.library, plan.cache_library) == ("pymysql", "redis-py")


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"phases": ["load"]}, "the phase load: only the native load client"),
        ({"arrivals": {"kind": "poisson"}}, "open loop"),
        ({"pipeline": 16}, "pipeline = 16"),
        ({"network_delay_us": 200}, "network_delay_us"),
        ({"think_time": {"kind": "constant", "mean_us": 5}}, "think_time"),
        ({"transactions_per_connection": 1}, "transactions_per_connection"),
        ({"groups": [{"name": "all", "count": 1}]}, "groups of clients"),
        ({"contract": 2}, "contract 2"),
        ({"clients": {"first": 0, "count": 513, "of": 513}}, "513 clients: .* at most 512"),
        ({"clients": {"first": 1, "count": 8, "of": 8}}, "clients 1 to"),
        ({"duration_s": 0}, "duration_s"),
        ({"seed": None, "clients": None}, "cannot be parsed"),
    ],
)
def test_what_it_does_not_do_is_refused(keys, said):
    with pytest.raises(Ended, match=said) as refused:
        read(**keys)
    assert refused.value.status == "refused"


@pytest.mark.parametrize("line", ["", "[]", "nonsense", '{"contract": 1}'])
def test_what_is_no_plan_is_refused(line):
    with pytest.raises(Ended, match="cannot be parsed"):
        read_plan(io.StringIO(line + "\n\n"))


def test_unreadable_secrets_are_not_quoted():
    with pytest.raises(Ended) as refused:
        read(secrets='{"secret": "open sesame"}')
    assert "sesame" not in refused.value.reason
