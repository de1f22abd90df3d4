"""The arrangement starts, shows and stops both its parts."""

import shutil
from dataclasses import replace

import pytest

from dbdyno.errors import UserError
from helpers import need, system


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cache-aside", "takes a cache and a store"),
        ("cache-aside(memcached)", "takes a cache and a store"),
        ("cache-aside(mariadb, redis)", "'mariadb' cannot be the cache"),
        ("cache-aside(memcached, cache-aside(memcached, redis))", "cannot be an arrangement"),
        ("cache-aside(memcached, redis)?memory=64", "settings belong to a part"),
        ("cache-aside(memcached, galera)", "'galera' divides the clients among its nodes"),
        ("cache-aside(memcached, spread(mysql://u@a/d, mysql://u@b/d))", "divides the clients"),
        ("cache-aside(memcached, sqlite)", "'sqlite' runs inside the load client"),
    ],
)
def test_what_cannot_be_arranged_is_refused(text, said):
    with pytest.raises(UserError, match=said):
        system(text)


def test_two_servers_of_one_kind_are_told_apart_and_both_stop(launch):
    need("redis")
    both = system("cache-aside(redis?maxmemory=1mb, redis?appendonly=yes&appendfsync=always)")
    try:
        both.start(launch)
        assert set(both.server_pids()) == set(both.counters()) == {"redis", "redis-store"}
        assert [server["name"] for server in both.servers()] == ["redis", "redis-store"]
        assert both.durability().level == "D2"
        secrets = []
        plan = both.store_plan(secrets)
        assert plan["kind"] == "cache-aside" and len(secrets) == 2
        assert (plan["cache"]["password"], plan["store"]["password"]) == ({"secret": 0}, {"secret": 1})
        assert [probe.server for probe in both.probes()] == ["redis", "redis-store"]
        assert both.data_directories() == both.store.data_directories() != () and both.forking() == frozenset()
        assert both.death() is None
        both.store._server._process.kill()
        both.store._server._process.wait()
        assert both.death() == "redis-store was killed by SIGKILL"
    finally:
        both.stop()
    assert both.server_pids() == {}


def test_a_memcached_in_front_may_forget(launch):
    need("memcached", "redis")
    both = system("cache-aside(memcached, redis)")
    try:
        both.start(launch)
        assert both.servers()[0]["effective_settings"]["evictions"] == "on"
    finally:
        both.stop()


def test_of_what_was_loaded_the_store_is_kept_and_the_cache_begins_empty(launch):
    need("redis")
    first, second = (system("cache-aside(redis, redis?appendonly=yes)") for _ in range(2))
    kept = None
    try:
        first.start(launch)
        for part in (first.cache, first.store):
            part._client().set("a", "1")
        kept = first.keep().path
        assert first.server_pids() == {}
        second.start(replace(launch, data=kept))
        assert (second.cache._client().get("a"), second.store._client().get("a")) == (None, "1")
        assert second.restorable and second.cache_state(True) == "hot"
    finally:
        first.stop()
        second.stop()
        if kept:
            shutil.rmtree(kept)
    assert not system("cache-aside(redis, memcached)").restorable
