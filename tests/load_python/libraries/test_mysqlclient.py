"""mysqlclient against a real MariaDB; it is an optional extra, so it may be missing."""

import dataclasses

import pytest

from dbdyno.load_python.failure import Failure
from load_python.libraries import checks

LIBRARY = pytest.importorskip(
    "dbdyno.load_python.libraries.mysqlclient",
    reason="mysqlclient is not installed: pip install 'dbdyno[mysqlclient]'",
    exc_type=ImportError,
)


def test_it_reads_and_stores_what_the_native_client_does(loaded):
    endpoint = loaded("mariadb", "game").endpoint()
    checks.reads_every_row_of_the_game(LIBRARY.Session, endpoint)
    checks.stores_a_new_version(LIBRARY.Session, endpoint)


def test_it_counts_and_loses_its_session_over_a_socket(loaded):
    store = loaded("mariadb?connect=socket", "point-update")
    checks.reads_every_row_of_bm(LIBRARY.Session, store.endpoint())
    checks.counts_up(LIBRARY.Session, store.endpoint())
    with pytest.raises(Failure, match="Access denied") as refused:
        LIBRARY.Session(dataclasses.replace(store.endpoint(), password="guess"), checks.GAME.steps)
    assert refused.value.kind == "connect"
    session = LIBRARY.Session(store.endpoint(), checks.POINT_GET.steps)
    store.system.stop()
    checks.loses_a_session(session)
    checks.says_that_nobody_answers(LIBRARY.Session, store.endpoint())
    assert LIBRARY.Session.version().startswith("mysqlclient 2.")
