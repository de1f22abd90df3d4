"""What servers call their waits is told apart as operations in flight must be."""

import pytest

from dbdyno.systems.wait_events import LOCKED, state_of_wait, states_of_activity, states_of_processlist


def test_connections_by_what_they_do():
    rows = [
        ("Sleep", "", 11),
        ("Query", "Commit", 2),
        ("Query", "Updating status", 4),
        ("Query", "query end", 1),
        ("Connect", "Reading from net", 2),
        ("Query", "System lock", 1),
        ("Execute", "Updating", 30),
        ("Query", None, 1),
        ("Query", "Waiting for table metadata lock", 3),
        ("Daemon", "InnoDB background thread", 7),
        (LOCKED, "", 0),
    ]
    assert states_of_processlist(rows) == {"client": 13, "commit": 7, "cpu": 32, "lock": 3}


def test_those_that_wait_for_a_row_are_among_those_at_work():
    assert states_of_processlist([("Query", "Updating", 30), (LOCKED, "", 28)])["lock"] == 28
    # Asked a moment later, there may be more transactions that wait than there were connections at work.
    states = states_of_processlist([("Query", "Updating", 2), ("Sleep", "", 4), (LOCKED, "", 5)])
    assert (states["lock"], states["cpu"], states["client"]) == (2, 0, 4)


@pytest.mark.parametrize(
    ("wait_type", "event", "state"),
    [
        (None, None, "cpu"),
        ("Client", "ClientRead", "client"),
        ("IO", "DataFileRead", "disk"),
        ("IO", "WALSync", "commit"),
        ("IO", "WalSync", "commit"),
        ("LWLock", "WALWrite", "commit"),
        ("LWLock", "WALWriteLock", "commit"),
        ("IPC", "SyncRep", "commit"),
        ("IPC", "XactGroupUpdate", "commit"),
        ("LWLock", "BufferContent", "lock"),
        ("Lock", "transactionid", "lock"),
        ("Lock", "tuple", "lock"),
        ("BufferPin", "BufferPin", "lock"),
        ("Timeout", "PgSleep", "other"),
        ("IPC", "BgWorkerShutdown", "other"),
    ],
)
def test_wait_events(wait_type, event, state):
    assert state_of_wait(wait_type, event) == state


def test_activity_is_counted():
    rows = [("Client", "ClientRead", 4), ("Lock", "tuple", 2), ("Lock", "transactionid", 1)]
    assert states_of_activity(rows) == {"client": 4, "lock": 3}
