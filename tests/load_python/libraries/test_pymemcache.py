"""pymemcache against a real memcached."""

import pytest
from pymemcache.client.base import Client
from pymemcache.exceptions import MemcacheIllegalInputError, MemcacheServerError, MemcacheUnexpectedCloseError

from dbdyno.load_python.failure import Failure
from dbdyno.load_python.libraries.pymemcache import Session, failure_of
from load_python.libraries import checks


def test_it_reads_and_stores_what_the_native_client_does(loaded):
    endpoint = loaded("memcached", "game").endpoint()
    checks.reads_every_row_of_the_game(Session, endpoint)
    checks.stores_a_new_version(Session, endpoint)


def test_what_is_no_row_and_a_session_that_is_lost(loaded):
    store = loaded("memcached?connect=socket", "point-get")
    endpoint = store.endpoint()
    checks.reads_every_row_of_bm(Session, endpoint)
    session = Session(endpoint, checks.POINT_GET.steps)
    Client(endpoint.socket).set("dbdyno:bm:1", "no row", noreply=False)
    with pytest.raises(Failure) as mismatch:
        session.get(0, 1)
    assert mismatch.value.kind == "mismatch"
    table = checks.POINT_GET.tables[0]
    assert (session.count(table, 50), session.total(table, "k", 50)) == (None, None)
    with pytest.raises(Failure, match="cannot add"):
        session.add(0, 1, 1)
    store.system.stop()
    checks.loses_a_session(session)
    checks.says_that_nobody_answers(Session, endpoint)


def test_a_full_memcached_is_full(loaded):
    endpoint = loaded("memcached?memory=2", "game").endpoint()
    session = Session(endpoint, checks.GAME.steps)
    with pytest.raises(Failure) as full:
        for key in range(1, 10_000):
            session.update(1, key, 0)
    assert full.value.kind == "full"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError("timed out"), "timeout"),
        (ConnectionResetError("reset"), "connection"),
        (MemcacheUnexpectedCloseError(), "connection"),
        (MemcacheServerError(b"out of memory storing object"), "full"),
        (MemcacheServerError(b"busy"), "server"),
        (MemcacheIllegalInputError("key"), "protocol"),
    ],
)
def test_errors_by_their_class(error, kind):
    failure = failure_of(error)
    assert failure.kind == kind and failure.message
