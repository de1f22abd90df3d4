"""PyMongo against a real FerretDB."""

import pymongo
import pytest
from pymongo.errors import AutoReconnect, InvalidDocument, NetworkTimeout, OperationFailure

from dbdyno.experiment.system_spec import parse_system
from dbdyno.load_python.libraries.pymongo import Session, failure_of
from dbdyno.systems import missing
from load_python.libraries import checks


@pytest.fixture
def ferretdb(loaded):
    if reason := missing(parse_system("ferretdb")):
        pytest.skip(reason)
    return loaded


def test_it_reads_and_stores_what_the_native_client_does(ferretdb):
    endpoint = ferretdb("ferretdb", "game").endpoint()
    checks.reads_every_row_of_the_game(Session, endpoint)
    checks.stores_a_new_version(Session, endpoint)
    with pymongo.MongoClient(endpoint.host, endpoint.port) as server:
        server[endpoint.database]["dbdyno_player"].delete_one({"_id": 1})
    session = Session(endpoint, checks.GAME.steps)
    assert session.get(0, 1) is None and not session.update(1, 1, 1)
    session.close()


def test_it_counts_up_and_loses_its_session(ferretdb):
    store = ferretdb("ferretdb", "point-update")
    endpoint = store.endpoint()
    checks.reads_every_row_of_bm(Session, endpoint)
    checks.counts_up(Session, endpoint)
    session = Session(endpoint, checks.POINT_GET.steps)
    store.system.stop()
    checks.loses_a_session(session)
    checks.says_that_nobody_answers(Session, endpoint)
    assert Session.version().startswith("PyMongo 4.")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (NetworkTimeout("late"), "timeout"),
        (AutoReconnect("gone"), "connection"),
        (OperationFailure("no"), "server"),
        (InvalidDocument("?"), "protocol"),
    ],
)
def test_errors_by_their_class(error, kind):
    assert failure_of(error).kind == kind
