"""redis-py against a real Redis, in both layouts."""

import dataclasses

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from dbdyno.load_python.failure import Failure
from dbdyno.load_python.libraries.redis_py import Session, failure_of
from load_python.libraries import checks


def server_of(endpoint):
    return redis.Redis(port=endpoint.port, password=endpoint.password, retry=Retry(NoBackoff(), 0))


@pytest.mark.parametrize("layout", ["string", "hash"])
def test_it_reads_and_stores_what_the_native_client_does(loaded, layout):
    endpoint = loaded(f"redis?layout={layout}", "game").endpoint()
    checks.reads_every_row_of_the_game(Session, endpoint)
    checks.stores_a_new_version(Session, endpoint)
    server_of(endpoint).delete("dbdyno:player:1")
    assert Session(endpoint, checks.GAME.steps).get(0, 1) is None


def test_it_counts_in_hashes_and_loses_its_session(loaded):
    store = loaded("redis", "point-update")
    endpoint = store.endpoint(layout="hash")
    checks.reads_every_row_of_bm(Session, endpoint)
    checks.counts_up(Session, endpoint)
    server_of(endpoint).hset("dbdyno:bm:2", "k", "many")
    assert Session(endpoint, checks.POINT_GET.steps).get(0, 2)[1] is None
    with pytest.raises(Failure, match=r"invalid|WRONGPASS") as refused:
        Session(dataclasses.replace(endpoint, password="guess"), checks.GAME.steps)
    assert refused.value.kind == "connect"
    session = Session(endpoint, checks.POINT_GET.steps)
    store.system.stop()
    checks.loses_a_session(session)
    checks.says_that_nobody_answers(Session, endpoint)


def test_what_is_no_row_and_what_is_no_string(loaded):
    endpoint = loaded("redis", "point-get").endpoint()
    session = Session(endpoint, checks.POINT_GET.steps)
    server_of(endpoint).set("dbdyno:bm:1", "no row")
    with pytest.raises(Failure) as mismatch:
        session.get(0, 1)
    assert mismatch.value.kind == "mismatch"
    server = server_of(endpoint)
    server.delete("dbdyno:bm:2")
    server.hset("dbdyno:bm:2", "k", 2)
    with pytest.raises(Failure, match="WRONGTYPE") as wrong:
        session.get(0, 2)
    assert wrong.value.kind == "server"
    assert session.total(checks.POINT_GET.tables[0], "k", 50) is None


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (redis.TimeoutError("late"), "timeout"),
        (redis.exceptions.OutOfMemoryError("OOM"), "full"),
        (redis.InvalidResponse("?"), "protocol"),
        (redis.RedisError("?"), "protocol"),
    ],
)
def test_errors_by_their_class(error, kind):
    assert failure_of(error).kind == kind
