"""The pool starts and stops whole, and keeps each result where other clients of its nodes would look for it."""

import json
from hashlib import md5

import pytest
import redis
from pymemcache.client.base import Client
from uhashring import HashRing

from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import bare_name, format_system, parse_system
from dbdyno.experiment.workload_spec import missing_operations, parse_workload
from dbdyno.experiment.workloads import SUM_RANGE
from dbdyno.systems.mysql.client import ask
from dbdyno.systems.redis.redis import RedisServer
from helpers import need, system
from systems.load import begin, end, execute, plan_of

ROWS = 100


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("result-cache(mariadb)", "takes nodes of memcached or Redis and a store"),
        ("result-cache(postgresql, mariadb)", "takes nodes of memcached or Redis and a store"),
        ("result-cache(memcached://h, memcached://h:11212, memcached://h, mariadb)", "is a node twice"),
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


def client_of(node):
    if isinstance(node, RedisServer):
        return redis.Redis(port=node.endpoint.port, password=node.endpoint.password)
    return Client((node.endpoint.host, node.endpoint.port))


@pytest.mark.parametrize(
    ("node", "weights"),
    [("memcached", (1, 1, 1)), ("memcached", (1, 1, 3)), ("redis", (1, 2, 3)), ("valkey@9.1", (1, 1, 1))],
)
def test_results_are_where_another_library_looks_for_them(launch, node, weights):
    need(node, "redis")
    caching = system(f"result-cache({node}*3, redis)?weights={':'.join(map(str, weights))}")
    try:
        caching.start(launch)
        names = [f"127.0.0.1:{node.endpoint.port}" for node in caching.caches]
        servers = {f"{node.partition('@')[0]}-{number}" for number in (1, 2, 3)}
        assert set(caching.server_pids()) == servers | {caching.store.server_name}
        assert execute(caching, "point-get", ["prepare", "load", "run"], ROWS).status == 0
        ring = HashRing(dict(zip(names, weights, strict=True)), hash_fn="ketama")
        clients = dict(zip(names, map(client_of, caching.caches), strict=True))
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


def queried(store, **options):
    """Load 20 rows and query them, changing some; every answer is right."""
    plan = plan_of(None, "result-cache", ["prepare", "load", "run", "verify"], 20)
    plan["workload"]["options"] = {"updates_percent": "10"} | options
    outcome = end(begin(store, plan))
    assert outcome.status == 0 and not outcome.errors(), json.dumps(outcome.of("error"))
    (total,) = outcome.of("total")
    assert total["reads_verified"] > 0 == total["mismatches"]
    return outcome


@pytest.mark.parametrize(
    ("parts", "options"),
    [
        ("memcached*2, redis", {}),
        ("redis*2, redis", {}),
        ("memcached*2, mariadb", {"rows_per_result": "6"}),
        ("redis*2, postgresql", {"rows_per_result": "6"}),
    ],
)
def test_what_is_not_removed_is_stale_and_what_is_removed_is_not(started, parts, options):
    stale = {}
    for settings in ("", "?expire_s=60"):
        outcome = queried(started(f"result-cache({parts}){settings}"), **options)
        assert counted(outcome)["cache_hits"] > 0
        stale[settings] = counted(outcome)["stale_reads"] / counted(outcome)["cache_hits"]
    assert stale["?expire_s=60"] > 0.1 > stale[""]


@pytest.mark.parametrize("text", ["mariadb", "mariadb?protocol=text", "mariadb?access=handler", "postgresql", "sqlite"])
def test_sums_over_rows_are_right_without_a_pool(started, text):
    outcome = queried(started(text), rows_per_result="6")
    (hello,) = outcome.of("hello")
    assert {"name": "query", "operation": "sum-range", "table": "player"} in hello["operations"]


def test_mariadbs_own_query_cache_keeps_sums(started):
    server = started("mariadb?query_cache_type=on&query_cache_size=16M")
    queried(server, rows_per_result="6")
    (hits,) = ask(server.endpoint, "SHOW GLOBAL STATUS LIKE 'Qcache_hits'")
    assert int(hits["Value"]) > 0


@pytest.mark.parametrize("text", ["handlersocket", "redis", "result-cache(memcached, handlersocket)"])
def test_sums_over_rows_need_sql(text):
    lacking = missing_operations(parse_workload("result-cache?rows_per_result=10", {}, {}), system(text).operations)
    assert lacking == [SUM_RANGE]
    assert not missing_operations(parse_workload("result-cache", {}, {}), system(text).operations)


@pytest.mark.parametrize("node", ["memcached", "redis"])
def test_results_on_somebody_elses_nodes_are_removed_and_nothing_else(started, node):
    nodes = [started(node), started(node)]
    owners = [client_of(server) for server in nodes]
    for owner in owners:
        owner.set("mine", "here")
    passwords = [f":{server.endpoint.password}@" if node == "redis" else "" for server in nodes]
    urls = [f"{node}://{own}127.0.0.1:{server.endpoint.port}" for own, server in zip(passwords, nodes, strict=True)]
    pool = started(f"result-cache({', '.join(urls)}, mariadb)?leaves_s=1")
    for options in ({}, {"rows_per_result": "6"}):
        outcome = queried(pool, **options)
        assert counted(outcome)["cache_hits"] > 0
        plan = plan_of(None, "result-cache", ["cleanup"], 20, options)
        (phase,) = [phase for phase in end(begin(pool, plan)).of("phase") if phase["state"] == "end"]
        assert "dbdyno:result:*" in phase["removed"] and phase["left"] == []
        assert [entries(owner) for owner in owners] == [1, 1]


def entries(client):
    return client.dbsize() if isinstance(client, redis.Redis) else client.stats()[b"curr_items"]


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
