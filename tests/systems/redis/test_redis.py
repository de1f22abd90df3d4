"""A real private Redis, and the same attached to by its URL."""

import shutil
from dataclasses import replace

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from dbdyno.errors import RunFailed, UserError
from dbdyno.systems.redis.redis import durability_of
from helpers import need, system
from systems.load import ROWS, execute, rows_read


def url_of(server, password=None):
    return f"redis://:{password or server.endpoint.password}@127.0.0.1:{server.endpoint.port}/0"


def test_it_starts_with_its_directives_and_is_gone_when_stopped(started):
    server = started("redis?appendonly=yes&appendfsync=always&layout=hash&hz=20")
    (server_document,) = server.servers()
    assert server_document["version"] and server_document["effective_settings"]["hz"] == "20"
    assert server.durability().level == "D2"
    secrets = []
    plan = server.store_plan(secrets)
    assert (plan["layout"], secrets) == ("hash", [server.endpoint.password])
    directory = server._directory.path
    server.stop()
    assert not directory.exists()


def test_nobody_gets_in_without_the_password(started):
    server = started("redis")
    with pytest.raises(redis.AuthenticationError):
        redis.Redis(port=server.endpoint.port, retry=Retry(NoBackoff(), 0)).ping()


def test_the_password_is_in_no_process_list(started):
    server = started("redis")
    with open(f"/proc/{server.server_pids()['redis']}/cmdline", "rb") as cmdline:
        assert server.endpoint.password.encode() not in cmdline.read()


def test_counters_count_what_was_asked(started):
    server = started("redis?connect=socket")
    before = server.counters()["redis"]["keyspace_misses"]
    with server._client() as client:
        for _ in range(10):
            client.get("nothing")
    assert server.counters()["redis"]["keyspace_misses"] - before == 10


def test_a_directive_it_does_not_know_is_said_in_its_words(started):
    with pytest.raises(UserError, match=r">>> 'bogus 1' \| Bad directive"):
        started("redis?bogus=1")


def test_what_it_was_given_is_in_force_and_its_password_is_not_for_storing(started):
    settings = started("redis?maxmemory=100mb&appendonly=yes&save=60 1").all_settings()["redis"]
    assert (settings["maxmemory"], settings["appendonly"], settings["save"]) == (str(100 << 20), "yes", "60 1")
    assert "requirepass" not in settings


@pytest.mark.parametrize(
    ("settings", "which"),
    [
        ("maxmemory=64mb&maxmemory-policy=allkeys-lru", "keys when"),
        ("maxmemory=64mb&maxmemory-policy=volatile-ttl", "keys with a time to live when"),
        ("maxmemory=64mb", None),
        ("maxmemory-policy=allkeys-lru", None),
    ],
)
def test_the_owner_of_one_that_evicts_keys_is_warned(started, settings, which):
    cautions = started(url_of(started(f"redis?{settings}"))).cautions()
    assert bool(cautions) == bool(which) and all(
        f"evicts {which} its maxmemory of 67,108,864" in caution for caution in cautions
    )


def test_attached_it_is_read(started):
    server = started("redis")
    attached = started(url_of(server))
    assert attached.servers() == server.servers()
    assert attached.server_pids() == {}


def test_by_the_socket_its_rows_are_read(started):
    server = started("redis?connect=socket")
    assert server.servers()[0]["effective_settings"]["connect"] == "socket"
    endpoint = server.endpoint
    for url in (
        f"unix://:{endpoint.password}@{endpoint.socket}?db=0",
        f"redis://:{endpoint.password}@/0?socket={endpoint.socket}",
    ):
        attached = started(url)
        assert attached.endpoint.socket == endpoint.socket and rows_read(attached) > 0


def test_a_wrong_password_is_said_without_it(started):
    with pytest.raises(UserError, match="check the user and the password") as caught:
        started(url_of(started("redis"), "wrongpw"))
    assert "wrongpw" not in str(caught.value)


def test_rows_that_runs_added_are_counted_continued_behind_and_removed(started):
    server = started("redis")
    assert execute(server, "insert-indexes", ["prepare", "load"]).status == 0
    added = 0
    for phases in (["run", "verify"], ["run", "verify"]):
        done = execute(server, "insert-indexes", phases)
        # A row that the first run added would be there when the second began with the same keys.
        assert (done.status, done.errors()) == (0, set())
        (check,) = done.of("check")
        assert check["ok"] and check["found"] > 0
        added += check["found"]
    with server._client() as client:
        assert len(client.keys("dbdyno:inserted:*")) == ROWS + added
        assert execute(server, "insert-indexes", ["prepare"]).status == 0
        assert client.keys("dbdyno:inserted:*") == []
        assert execute(server, "insert-indexes", ["cleanup"]).status == 0
        assert client.dbsize() == 0


def test_keys_of_somebody_else_behind_the_rows_are_not_removed(started):
    server = started("redis")
    with server._client() as client:
        client.set("dbdyno:inserted:99999", "mine")
        done = execute(server, "insert-indexes", ["prepare"])
        assert done.status == 2 and "dbdyno:inserted:* exist without" in done.of("end")[0]["reason"]
        assert client.get("dbdyno:inserted:99999") == "mine"


def test_where_nobody_answers_it_is_said(started):
    with pytest.raises(UserError, match="no server answers there"):
        started("redis://127.0.0.1:1/0")


def test_a_server_that_died_does_not_answer(started):
    server = started("redis")
    server._server._process.kill()
    server._server._process.wait()
    with pytest.raises(RunFailed, match="does not answer"):
        server.counters()


@pytest.mark.parametrize("of", ["redis", "redis://127.0.0.1:1/0"])
@pytest.mark.parametrize(
    ("layout", "lacking"), [("string", {"add", "sum"}), ("hash", {"get-many", "insert", "expire"}), ("auto", set())]
)
def test_a_layout_declares_what_it_cannot_do(of, layout, lacking):
    able = system(of).operations
    assert able - system(f"{of}?layout={layout}").operations == lacking


def test_what_cannot_be_its_setting_is_refused():
    with pytest.raises(UserError, match="layout = 'list': give one of auto, string, hash"):
        system("redis?layout=list")
    with pytest.raises(UserError, match="does not change 'maxmemory'"):
        system("redis://h/0?maxmemory=1")
    with pytest.raises(UserError, match="a database of Redis is a number"):
        system("redis://h/mine")


@pytest.mark.parametrize(
    ("configuration", "level"),
    [
        ({"appendonly": "yes", "appendfsync": "always"}, "D2"),
        ({"appendonly": "yes", "appendfsync": "everysec"}, "D1"),
        ({"appendonly": "yes", "appendfsync": "no"}, "D0"),
        ({"appendonly": "no", "save": "3600 1"}, "D1"),
        ({"appendonly": "no", "save": ""}, "D0"),
    ],
)
def test_durability(configuration, level):
    assert durability_of(configuration).level == level


@pytest.mark.parametrize("settings", ["", "?appendonly=yes&appendfsync=everysec"])
def test_what_was_loaded_is_kept_and_started_from_again(launch, settings):
    need("redis")
    first, second = system(f"redis{settings}"), system(f"redis{settings}")
    kept = None
    try:
        first.start(launch)
        with first._client() as client:
            client.set("a", "1")
        kept = first.keep().path
        second.start(replace(launch, data=kept))
        with second._client() as client:
            assert client.get("a") == "1"
        assert (first.cache_state(False), second.cache_state(True)) == ("hot", "hot")
    finally:
        first.stop()
        second.stop()
        if kept:
            shutil.rmtree(kept)


@pytest.mark.parametrize("name", ["redis", pytest.param("valkey@9.1", marks=pytest.mark.versions)])
def test_a_log_that_a_power_cut_filled_with_zeros_is_repaired(name, started):
    server = started(f"{name}?appendonly=yes&appendfsync=always")
    with server._client() as client:
        client.set("before", "kept")
    server.kill()
    # Zeros, and then what came later: so a file is after a power cut, if its length was known before its blocks.
    log = max(server.data_directories()[0].rglob("*.incr.aof"))
    log.write_bytes(log.read_bytes() + bytes(4096) + b"*1\r\n$4\r\nPING\r\n")
    with pytest.raises(UserError, match="Bad file format"):
        server.start_again()
    assert server.repair().endswith("check-aof --fix")
    server.start_again()
    with server._client() as client:
        assert client.get("before") == "kept"


def test_without_a_log_there_is_nothing_to_repair(started):
    server = started("redis")
    server.kill()
    assert server.repair() is None
