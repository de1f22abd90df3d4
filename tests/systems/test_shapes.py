"""The published shapes as they are issued: sizes, mix and popularity, held against the parameters of their sources."""

import threading
from collections import Counter
from math import exp, sqrt

import pytest

from dbdyno.experiment.read import read_experiment
from dbdyno.systems.base import Launch
from dbdyno.systems.running.guard import Guard
from helpers import need, system, wait_until
from systems.load import ONE_CLIENT, execute

ROWS = 4000
OPEN = {"kind": "poisson", "segments": [{"seconds": 1, "from_per_s": 3000, "to_per_s": 3000}]}
ETC_TABLE = (
    *(0.00536, 0.00047, 0.17820, 0.09239, 0.00018, 0.02740, 0.00065, 0.00606),
    *(0.00023, 0.00837, 0.00837, 0.08989, 0.00092, 0.00326, 0.01980),
)
"""Shares of values of 0 to 14 bytes (docs/experiments/facebook-etc.md)."""


@pytest.fixture(scope="module")
def redis(tmp_path_factory):
    """A Redis of this module's own."""
    need("redis")
    server = system("redis")
    with Guard() as guard:
        server.start(Launch(guard, tmp_path_factory.mktemp("redis"), clients=4, rows=ROWS))
        yield server
        server.stop()


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


def test_rows_of_ycsb_are_as_popular_as_zipf_says(redis):
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

    options = shape("ycsb", "ycsb-c")
    assert execute(redis, "declared", ["prepare", "load"], rows=1000, options=options).status == 0
    thread = threading.Thread(target=watch)
    thread.start()
    ready.wait(60)
    done = execute(redis, "declared", ["run"], rows=1000, options=options, arrivals=OPEN, **ONE_CLIENT)
    other = redis._client()
    wait_until(lambda: other.ping() and stopped.wait(0.1))
    thread.join()
    assert (done.status, done.errors()) == (0, set())
    reads = [count for key, count in asked.most_common() if key.startswith("dbdyno:usertable:")]
    weights = [rank**-0.99 for rank in range(1, 1001)]
    for first in (1, 2, 3):
        assert near(sum(reads[:first]), sum(weights[:first]) / sum(weights), sum(reads)), (first, reads[:3])
    assert execute(redis, "declared", ["cleanup"], rows=1000, options=options).status == 0
