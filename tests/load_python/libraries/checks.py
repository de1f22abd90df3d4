"""Checks of every library with rows that the native load client stored in a real server."""

import pytest

from dbdyno.load_python.failure import Failure
from dbdyno.load_python.session import Endpoint, Session
from dbdyno.load_python.workloads import EMAIL, make_workload
from load_python.conftest import ROWS

GAME, POINT_GET = make_workload("game", ROWS, {}), make_workload("point-get", ROWS, {})
POINT_UPDATE, SECONDARY_GET = make_workload("point-update", ROWS, {}), make_workload("secondary-get", ROWS, {})


def reads_every_row_of_the_game(library: type[Session], endpoint: Endpoint) -> None:
    """The golden test: each row, generator by generator, is what the native load client stored."""
    session = library(endpoint, GAME.steps)
    players = [session.get(0, key) for key in range(1, ROWS + 1)]
    assert players == [GAME.tables[0].generate(key, 0) for key in range(1, ROWS + 1)]
    accounts = [session.find(2, player[EMAIL]) for player in players]
    assert accounts == [GAME.tables[1].generate(key, 0) for key in range(1, ROWS + 1)]
    assert session.get(0, ROWS + 1) is None and session.find(2, "nobody@mail0.example") is None
    session.close()


def reads_every_row_of_bm(library: type[Session], endpoint: Endpoint) -> None:
    """The same for the table of the key lookups."""
    session = library(endpoint, POINT_GET.steps)
    rows = [session.get(0, key) for key in range(1, ROWS + 1)]
    assert rows == [POINT_GET.tables[0].generate(key, 0) for key in range(1, ROWS + 1)]
    session.close()


def stores_a_new_version(library: type[Session], endpoint: Endpoint) -> None:
    """A stored version is read back, and the rest of the table is as it was."""
    session = library(endpoint, GAME.steps)
    assert session.update(1, 3, 1 << 20)
    assert session.get(0, 3) == GAME.tables[0].generate(3, 1 << 20)
    assert session.get(0, 4) == GAME.tables[0].generate(4, 0)
    session.close()


def counts_up(library: type[Session], endpoint: Endpoint) -> None:
    """Increments arrive, and sums and counts say so."""
    session = library(endpoint, POINT_UPDATE.steps)
    table = POINT_UPDATE.tables[0]
    before = session.total(table, "k", ROWS)
    assert before == sum(range(1, ROWS + 1))
    assert session.add(0, 7, 1) and session.add(0, 7, 2)
    assert session.total(table, "k", ROWS) == before + 3
    assert session.count(table, ROWS) == ROWS
    session.close()


def says_that_nobody_answers(library: type[Session], endpoint: Endpoint) -> None:
    """A server that is gone is a failure to connect."""
    with pytest.raises(Failure) as failed:
        library(endpoint, GAME.steps)
    assert failed.value.kind == "connect" and failed.value.message


def loses_a_session(session: Session) -> None:
    """A connection that the server closed is `connection`; to close it afterwards is no error."""
    with pytest.raises(Failure) as failed:
        for _ in range(2):
            session.get(0, 1)
    assert failed.value.kind == "connection"
    session.close()
