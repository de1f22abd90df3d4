"""The pool starts and stops whole, and keeps each result where other clients of memcached would look for it."""

import json
from hashlib import md5

import pytest
from pymemcache.client.base import Client
from uhashring import HashRing

from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import bare_name, format_system, parse_system
from helpers import need, system
from systems.load import begin, end, execute, plan_of

ROWS = 100


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("result-cache(mariadb)", "takes nodes of memcached and a store"),
        ("result-cache(redis, mariadb)", "takes nodes of memcached and a store"),
        ("result-cache(memcached://host, mariadb)", "no URL"),
        ("result-cache(memcached*2, galera)", "'galera' divides the clients among its nodes"),
        ("result-cache(memcached*2, spread(mysql://u@a/d, mysql://u@b/d))", "divides the clients"),
        ("result-cache(memcached*2, sqlite)", "runs inside the load client"),
        ("result-cache(memcached*2, cache-aside(memcached, redis))", "cannot be an arrangement"),
        ("result-cache(memcached, redis)?leaves_s=1", "one node is the whole pool"),
        ("result-cache(memcached*2, redis)?leaves_s=1&joins_s=1", "leaves or joins"),
        ("result-cache(memcached*2, redis)?expires=1", "no setting 'expires'"),
        ("result-cache(memcached*2, redis)?expire_s=soon", "give seconds"),
        ("result-cache(memcached*2, redis)?weights=1:0", "give one of each node"),
    ],
)
def test_what_cannot_be_arranged_is_refused(text, said):
    with pytest.raises(UserError, match=said):
        system(text)


def test_several_nodes_are_written_as_one():
    spec = parse_system("result-cache(memcached*3?memory=64, mariadb)?expire_s=2")
    assert [part.settings for part in spec.parts] == [{"memory": "64"}] * 3 + [{}]
    assert bare_name(spec) == "result-cache(memcached*3, mariadb)"
    assert parse_system(format_system(spec)) == spec


@pytest.mark.parametrize("weights", [(1, 1, 1), (1, 1, 3)])
def test_results_are_where_another_library_looks_for_them(launch, weights):
    need("memcached", "redis")
    caching = system(f"result-cache(memcached*3, redis)?weights={':'.join(map(str, weights))}")
    try:
        caching.start(launch)
        names = [f"127.0.0.1:{node.endpoint.port}" for node in caching.caches]
        assert set(caching.server_pids()) == {"memcached-1", "memcached-2", "memcached-3", "redis"}
        assert execute(caching, "point-get", ["prepare", "load", "run"], ROWS).status == 0
        ring = HashRing(dict(zip(names, weights, strict=True)), hash_fn="ketama")
        clients = {name: Client(name) for name in names}
        query = "SELECT id, k, c, pad FROM dbdyno_bm WHERE id = "
        keys = [f"dbdyno:result:{md5(f'{query}{key}'.encode()).hexdigest()}" for key in range(1, ROWS + 1)]
        holders = {key: [name for name, client in clients.items() if client.get(key)] for key in keys}
        assert holders == {key: [ring.get_node(key)] for key in keys}
        assert {name for (name,) in holders.values()} == set(names)
    finally:
        caching.stop()
    assert caching.server_pids() == {}


def counted(outcome):
    counters = [interval.get("counters", {}) for interval in outcome.of("interval")]
    return {
        name: sum(counted_interval.get(name, 0) for counted_interval in counters)
        for name in ("cache_hits", "cache_misses", "stale_reads")
    }


def test_what_is_not_removed_is_stale_and_what_is_removed_is_not(launch):
    need("memcached", "redis")
    stale = {}
    for settings in ("", "?expire_s=60"):
        caching = system(f"result-cache(memcached*2, redis){settings}")
        try:
            caching.start(launch)
            plan = plan_of(None, "result-cache", ["prepare", "load", "run", "verify"], 20)
            plan["workload"]["options"] = {"updates_percent": "10"}
            outcome = end(begin(caching, plan))
            assert outcome.status == 0 and not outcome.errors(), json.dumps(outcome.of("error"))
            assert counted(outcome)["cache_hits"] > 0
            stale[settings] = counted(outcome)["stale_reads"] / counted(outcome)["cache_hits"]
        finally:
            caching.stop()
    assert stale["?expire_s=60"] > 0.1 > stale[""]


def test_a_node_that_leaves_takes_its_results_along(launch):
    need("memcached", "redis")
    caching = system("result-cache(memcached*2, redis)?leaves_s=1")
    try:
        caching.start(launch)
        outcome = execute(caching, "point-get", ["prepare", "load", "run"], ROWS, duration_s=2)
        assert outcome.status == 0
        (total,) = outcome.of("total")
        keys = total["moved_keys"]
        assert 0 < keys["moved"] < keys["asked"] <= ROWS and keys["due"] == keys["asked"] / 2
        before, after = ([node.counters()[node.server_name]["curr_items"] for node in caching.caches] for _ in range(2))
        assert before == after and sum(after) > ROWS + 2
    finally:
        caching.stop()
