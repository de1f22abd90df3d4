"""cassandra-driver against a real Cassandra."""

from dataclasses import replace

import pytest

pytest.importorskip("cassandra")

from cassandra import OperationTimedOut, Unavailable
from cassandra.cluster import NoHostAvailable
from cassandra.connection import ConnectionShutdown

from dbdyno.load_python.failure import Failure
from dbdyno.load_python.libraries.cassandra_driver import Session, failure_of, tuple_of
from load_python.libraries import checks


@pytest.mark.timeout(600)
@pytest.mark.systems
def test_it_reads_and_stores_what_the_native_client_does(loaded):
    store = loaded("cassandra?heap=512M", "game")
    endpoint = replace(store.endpoint(), database=store.store["keyspace"], consistency="ONE")
    checks.reads_every_row_of_the_game(Session, endpoint)
    checks.stores_a_new_version(Session, endpoint)
    store.workload = "point-get"
    store.native("prepare", "load")
    checks.reads_every_row_of_bm(Session, endpoint)
    session = Session(endpoint, checks.POINT_GET.steps)
    table = checks.POINT_GET.tables[0]
    assert (session.count(table, 50), session.total(table, "k", 50)) == (50, None)
    with pytest.raises(Failure, match="cannot add"):
        session.add(0, 1, 1)
    store.system.stop()
    with pytest.raises(Failure) as lost:
        session.get(0, 1)
    assert lost.value.kind in ("connection", "timeout")
    session.close()
    session.close()
    checks.says_that_nobody_answers(Session, replace(endpoint, port=1))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (OperationTimedOut(), "timeout"),
        (NoHostAvailable("none", {}), "connection"),
        (ConnectionShutdown("gone"), "connection"),
        (ConnectionResetError("reset"), "connection"),
        (Unavailable("too few replicas"), "server"),
        (ValueError("odd"), "protocol"),
    ],
)
def test_errors_by_their_class(error, kind):
    failure = failure_of(error)
    assert failure.kind == kind and failure.message


def test_rows_stay_as_they_are_decoded():
    assert tuple_of(["id"], [(1,)]) == [(1,)]
