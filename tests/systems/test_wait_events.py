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
    ("wait_type", "event", "activity", "state"),
    [
        (None, None, "active", "cpu"),
        (None, None, "idle", "client"),
        (None, None, "idle in transaction", "client"),
        ("Client", "ClientRead", "idle", "client"),
        ("Client", "ClientRead", "active", "client"),
        ("IO", "DataFileRead", "active", "disk"),
        ("IO", "WALSync", "active", "commit"),
        ("IO", "WalSync", "active", "commit"),
        ("LWLock", "WALWrite", "active", "commit"),
        ("LWLock", "WALWriteLock", "active", "commit"),
        ("IPC", "SyncRep", "active", "commit"),
        ("IPC", "XactGroupUpdate", "active", "commit"),
        ("LWLock", "BufferContent", "active", "lock"),
        ("Lock", "transactionid", "active", "lock"),
        ("Lock", "tuple", "active", "lock"),
        ("BufferPin", "BufferPin", "active", "lock"),
        ("Timeout", "PgSleep", "active", "other"),
        ("IPC", "BgWorkerShutdown", "active", "other"),
    ],
)
def test_wait_events(wait_type, event, activity, state):
    assert state_of_wait(wait_type, event, activity) == state


def test_activity_is_counted():
    rows = [("Client", "ClientRead", "idle", 4), ("Lock", "tuple", "active", 2), ("Lock", "transactionid", "active", 1)]
    assert states_of_activity(rows) == {"client": 4, "lock": 3}
