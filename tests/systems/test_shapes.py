"""The published shapes as they are issued: sizes, mix and popularity, held against the parameters of their sources."""

import threading
from collections import Counter
from math import exp, sqrt

import pytest

from dbdyno.experiment.read import read_experiment
from dbdyno.systems.base import Launch
from dbdyno.systems.running.guard import Guard
from helpers import running, system, wait_until
from systems.load import ONE_CLIENT, execute

ROWS = 4000
OPEN = {"kind": "poisson", "segments": [{"seconds": 1, "from_per_s": 3000, "to_per_s": 3000}]}
ETC_TABLE = (
    *(0.00536, 0.00047, 0.17820, 0.09239, 0.00018, 0.02740, 0.00065, 0.00606),
    *(0.00023, 0.00837, 0.00837, 0.08989, 0.00092, 0.00326, 0.01980),
)
"""Shares of values of 0 to 14 bytes (docs/experiments/facebook-etc.md)."""


TATP = {
    **{"get_subscriber_data": 35, "get_new_destination": 10, "get_access_data": 35, "update_subscriber_data": 2},
    **{"update_location": 14, "insert_call_forwarding": 2, "delete_call_forwarding": 2},
}
"""Percent of the transactions (docs/experiments/tatp.md)."""


@pytest.fixture(scope="module")
def redis(tmp_path_factory):
    """A Redis of this module's own."""
    with running("redis", tmp_path_factory.mktemp("redis"), clients=4, rows=ROWS) as server:
        yield server


def shape(experiment, workload):
    """Return the options of a plan for one workload of a shipped experiment."""
    own = read_experiment(experiment).experiment.workloads[workload]
    return {"declaration": own.as_workload(workload).declaration}


def near(count, share, of):
    """Return whether a count lies within four standard deviations of what a share makes likely."""
    return abs(count - share * of) <= 4 * sqrt(share * (1 - share) * of) + 1


def gev(x):
    return exp(-((1 + 0.078688 * (x - 30.7984) / 8.20449) ** (-1 / 0.078688)))


def pareto(x):
    return 1 - (1 + 0.348238 * (x - 15) / 214.476) ** (-1 / 0.348238)


def test_keys_and_values_of_etc_have_the_published_sizes(redis):
    options = shape("facebook-etc", "facebook-etc")
    assert execute(redis, "declared", ["prepare", "load"], rows=ROWS, options=options).status == 0
    client = redis._client()
    names = list(client.scan_iter("dbdyno:etc:*", count=1000))
    keys = [len(name.removeprefix("dbdyno:etc:")) for name in names]
    with client.pipeline(transaction=False) as pipeline:
        for name in names:
            pipeline.strlen(name)
        lengths = pipeline.execute()
    # Beside the value: two numbers of 8 bytes, the key, and two lengths of 2.
    values = [length - 20 - key for length, key in zip(lengths, keys, strict=True)]
    assert len(names) == ROWS
    for size in (20, 25, 31, 40, 50, 60):
        assert near(sum(key <= size for key in keys), gev(size + 0.5), ROWS), size
    counted = Counter(values)
    for size, share in enumerate(ETC_TABLE):
        # None of the larger ones rounds down to 14.
        assert near(counted[size], share, ROWS), size
    rest = 1 - sum(ETC_TABLE)
    for size in (30, 100, 300, 1000, 3000):
        larger = sum(value > size for value in values)
        assert near(larger, rest * (1 - pareto(size + 0.5)), ROWS), size
    assert execute(redis, "declared", ["cleanup"], rows=ROWS, options=options).status == 0


@pytest.mark.parametrize(
    ("experiment", "workload", "mix"),
    [
        ("ycsb", "ycsb-a", {"read": 0.5, "update": 0.5}),
        ("ycsb", "ycsb-b", {"read": 0.95, "update": 0.05}),
        ("ycsb", "ycsb-d", {"read": 0.95, "insert": 0.05}),
        ("ycsb", "ycsb-f", {"read": 0.5, "read_modify_write": 0.5}),
        ("facebook-etc", "facebook-etc", {"get": 30 / 31, "set": 1 / 31}),
        ("facebook-usr", "facebook-usr", {"get": 0.998, "set": 0.002}),
        ("twitter-cache", "twitter-52", {"get": 91 / 99, "add": 4 / 99, "gets": 2 / 99, "cas": 2 / 99}),
        ("twitter-cache", "twitter-12", {"get": 0.2, "set": 0.8}),
        ("twitter-cache", "twitter-23", {"get": 36 / 99, "set": 31 / 99, "incr": 30 / 99, "delete": 2 / 99}),
        ("twitter-cache", "twitter-37", {"get": 0.63, "set": 0.37}),
        ("twitter-cache", "twitter-18", {"get": 96 / 99, "add": 1 / 99, "gets": 1 / 99, "cas": 1 / 99}),
    ],
)
def test_transactions_come_in_the_published_mix(redis, experiment, workload, mix):
    phases = ["prepare", "load", "run", "verify", "cleanup"]
    done = execute(redis, "declared", phases, rows=500, options=shape(experiment, workload), arrivals=OPEN)
    assert (done.status, done.errors()) == (0, set())
    (total,) = done.of("total")
    completed = {name: total["operations"][name]["completed"] for name in mix}
    for name, share in mix.items():
        assert near(completed[name], share, sum(completed.values())), (name, completed)


def test_transactions_of_tatp_come_in_the_published_mix(tmp_path):
    store = system("sqlite")
    with Guard() as guard:
        store.start(Launch(guard, tmp_path, clients=4, rows=500))
        phases = ["prepare", "load", "run", "verify", "cleanup"]
        done = execute(store, "declared", phases, rows=500, options=shape("tatp", "tatp"), **ONE_CLIENT)
        store.stop()
    assert (done.status, done.errors()) == (0, set())
    (total,) = done.of("total")
    completed = {name: total["operations"][name]["completed"] for name in TATP}
    assert sum(completed.values()) == total["transactions"]["completed"] > 100
    for name, percent in TATP.items():
        assert near(completed[name], percent / 100, sum(completed.values())), (name, completed)


@pytest.mark.parametrize(
    ("workload", "key_bytes", "value_bytes", "ttl_s"),
    [
        ("twitter-52", 20, 273, 86_400),
        ("twitter-12", 44, 1030, 300),
        ("twitter-23", 35, 224, 120),
        ("twitter-37", 72, 20_134, 20),
        ("twitter-18", 19, 37, 43_200),
    ],
)
def test_keys_and_values_of_twitter_have_the_published_sizes(redis, workload, key_bytes, value_bytes, ttl_s):
    options = shape("twitter-cache", workload)
    done = execute(redis, "declared", ["prepare", "load", "run"], rows=50, options=options, arrivals=OPEN)
    assert (done.status, done.errors()) == (0, set())
    client = redis._client()
    names = list(client.scan_iter("dbdyno:t:*", count=1000))
    assert names and {len(name) for name in names} == {key_bytes}
    assert {client.strlen(name) for name in names} == {value_bytes}
    # Loaded rows never expire, rows stored since then do.
    left_s = [left for name in names if (left := client.ttl(name)) != -1]
    assert left_s and all(ttl_s - 20 <= left <= ttl_s for left in left_s)
    assert execute(redis, "declared", ["cleanup"], rows=50, options=options).status == 0


@pytest.mark.parametrize(
    ("experiment", "workload", "exponent"),
    [
        ("ycsb", "ycsb-c", 0.99),
        ("twitter-cache", "twitter-52", 1.2117),
        ("twitter-cache", "twitter-18", 2.0994),
    ],
)
def test_rows_are_as_popular_as_zipf_says(redis, experiment, workload, exponent):
    asked, client = Counter(), redis._client()
    ready, stopped = threading.Event(), threading.Event()

    def watch():
        with client.monitor() as monitor:
            ready.set()
            for command in monitor.listen():
                words = command["command"].split()
                if words[0] == "PING":
                    break
                asked.update(words[1:2] if words[0] == "GET" else ())
        stopped.set()

    options = shape(experiment, workload)
    assert execute(redis, "declared", ["prepare", "load"], rows=1000, options=options).status == 0
    thread = threading.Thread(target=watch)
    thread.start()
    ready.wait(60)
    done = execute(redis, "declared", ["run"], rows=1000, options=options, arrivals=OPEN, **ONE_CLIENT)
    other = redis._client()
    wait_until(lambda: other.ping() and stopped.wait(0.1))
    thread.join()
    assert (done.status, done.errors()) == (0, set())
    reads = [count for key, count in asked.most_common() if key.startswith(("dbdyno:usertable:", "dbdyno:t:"))]
    weights = [rank**-exponent for rank in range(1, 1001)]
    for first in (1, 2, 3):
        assert near(sum(reads[:first]), sum(weights[:first]) / sum(weights), sum(reads)), (first, reads[:3])
    assert execute(redis, "declared", ["cleanup"], rows=1000, options=options).status == 0
