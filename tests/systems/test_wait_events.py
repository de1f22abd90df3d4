"""The servers' names for waits become the states of operations in flight."""

import pytest

from dbdyno.systems.wait_events import (
    LOCKED,
    latch_of_mutex,
    lock_of_row,
    locks_of_activity,
    locks_of_processlist,
    state_of_wait,
    states_of_activity,
    states_of_processlist,
)


def test_connections_by_what_they_do():
    rows = [
        ("Sleep", "", 11),
        ("Query", "Commit", 2),
        ("Query", "Updating status", 4),
        ("Query", "query end", 1),
        ("Query", "init", 5),
        ("Execute", "init", 6),
        ("Connect", "Reading from net", 2),
        ("Query", "System lock", 1),
        ("Execute", "Updating", 30),
        ("Query", None, 1),
        ("Query", "Waiting for table metadata lock", 3),
        ("Daemon", "InnoDB background thread", 7),
        (LOCKED, "", 0),
    ]
    assert states_of_processlist(rows) == {"client": 13, "commit": 12, "cpu": 38, "lock": 3}


def test_a_thread_says_which_lock_of_the_servers_own_it_waits_for():
    rows = [
        ("Query", "Waiting for table metadata lock", 3),
        ("Execute", "Waiting for table metadata lock", 1),
        ("Query", "System lock", 1),
        ("Query", "Updating", 5),
        ("Query", None, 5),
        ("Slave_SQL", "Waiting for global read lock", 1),
        (LOCKED, "", 4),
    ]
    assert locks_of_processlist(rows) == {"locks": 8, "Waiting for table metadata lock": 4}
    assert locks_of_processlist([("Sleep", "", 1)]) == {"locks": 0}


@pytest.mark.parametrize(
    ("lock", "name"),
    [
        (("RECORD", "`dbdyno`.`history` /* Partition `p3` */", "PRIMARY"), "row lock, history (PRIMARY)"),
        (("RECORD", "`dbdyno`.`history`", "`by_stat`"), "row lock, history (`by_stat`)"),
        (("RECORD", "history", "PRIMARY"), "row lock, history (PRIMARY)"),
        (("TABLE", "`dbdyno`.`history`", None), "table lock, history"),
    ],
)
def test_locks_of_rows_have_the_names_of_table_and_index(lock, name):
    assert lock_of_row(*lock) == name


@pytest.mark.parametrize(
    ("name", "status", "latch"),
    [
        ("log0log.cc:844", "os_waits=18", ("log0log.cc:844", 18.0)),
        ("combined buf0buf.cc:1021", "os_waits=5", ("buf0buf.cc:1021", 5.0)),
        ("sum rwlock: buf0buf.cc:791", "waits=70", ("buf0buf.cc:791", 70.0)),
        ("builder/mysql-5.5.9/log/log0log.c:771", "os_waits=144", ("log0log.c:771", 144.0)),
        ("&log_sys->mutex", "os_waits=2", ("&log_sys->mutex", 2.0)),
        ("rseg_mutex", "spins=10,waits=1,calls=20", None),
    ],
)
def test_latches_are_counted_under_their_names(name, status, latch):
    assert latch_of_mutex(name, status) == latch


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
        ("LWLock", "WALBufMapping", "commit"),
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


def test_locks_and_latches_are_told_apart():
    rows = [(None, None, 2), ("Client", "ClientRead", 4), ("Lock", "tuple", 2), ("LWLock", "WALWrite", 1)]
    assert locks_of_activity(rows) == {"locks": 2, "latches": 1, "Lock:tuple": 2, "LWLock:WALWrite": 1}
    assert locks_of_activity([]) == {"locks": 0, "latches": 0}


@pytest.mark.parametrize(
    "state", ["Waiting for semi-sync ACK from slave", "Waiting for certification", "Waiting for flow control"]
)
def test_a_commit_that_waits_for_another_node_says_so(state):
    rows = [("Query", state, 3), ("Execute", state, 2), ("Sleep", "", 4)]
    assert states_of_processlist(rows) == {"client": 4, "lock": 0, "commit": 5, "cpu": 0}
    assert locks_of_processlist(rows) == {"locks": 0, state: 5}


def test_a_commit_that_waits_for_a_standby_says_so():
    rows = [("IPC", "SyncRep", 7), ("Client", "ClientRead", 2)]
    assert states_of_activity(rows) == {"commit": 7, "client": 2}
    assert locks_of_activity(rows) == {"locks": 0, "latches": 0, "IPC:SyncRep": 7}
