"""psycopg against a real PostgreSQL."""

import dataclasses

import pytest

from dbdyno.load_python.failure import Failure
from dbdyno.load_python.libraries.psycopg import Session
from load_python.libraries import checks


def test_it_reads_and_stores_what_the_native_client_does(loaded):
    endpoint = loaded("postgresql", "game").endpoint()
    checks.reads_every_row_of_the_game(Session, endpoint)
    checks.stores_a_new_version(Session, endpoint)


def test_it_finds_counts_and_loses_its_session_over_a_socket(loaded):
    store = loaded("postgresql?connect=socket", "secondary-get")
    session = Session(store.endpoint(), checks.SECONDARY_GET.steps)
    assert session.find(0, 7) == checks.SECONDARY_GET.tables[0].generate(7, 0)
    store.workload = "point-update"
    store.native("prepare", "load")
    checks.reads_every_row_of_bm(Session, store.endpoint())
    checks.counts_up(Session, store.endpoint())
    with pytest.raises(Failure) as failed:
        session.find(0, 7)
    assert failed.value.kind == "server", "the column is not there any more"
    with pytest.raises(Failure, match="password authentication failed") as refused:
        Session(dataclasses.replace(store.endpoint(), password="guess"), checks.GAME.steps)
    assert refused.value.kind == "connect"
    store.system.stop()
    checks.loses_a_session(session)
    checks.says_that_nobody_answers(Session, store.endpoint())
    assert Session.version().startswith("psycopg 3.")
