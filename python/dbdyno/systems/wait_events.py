"""Servers' names for the waits of their connections, each with dbdyno's state for it (dbdyno.observe.waits).

`cpu` is at work, for all the server says: whether on a processor or waiting for one, the kernel knows.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache

LOCKED = "locked"
"""Stands for a command in the row that counts transactions waiting for a row's lock."""
ALL_LOCKS, ALL_LATCHES = "locks", "latches"
"""All together, 0 if none is waited for: it shows that it was looked."""
ALL_ROW_LOCKS = "row locks"
"""The same of those that `lock_of_row` names, which are looked at less often."""
_NO_CLIENTS = ("Daemon", "Binlog Dump", "Binlog Dump GTID", "Slave_IO", "Slave_SQL", "Slave_worker", "Delayed insert")
_COMMITTING = (
    "commit",
    "binlog",
    "gtid",
    # The last things MySQL up to 5.7 and MariaDB say of a statement, and so what they say while the log is flushed.
    "query end",
    "updating status",
)
_BEGINNING = ("init", "starting")
"""States of a COMMIT that flushes the log, in MySQL 5.6 and 5.7. Prepared statements are no Query, but Execute."""
_REPLICATING = ("semi-sync ack", "waiting for certification", "waiting for flow control")
"""States of a commit that waits for another node: a replica that acknowledges it, or a Galera cluster."""
_AWAITING_CLIENT = ("reading from net", "login")
_NO_LOCK = "system lock"
"""Is said on the way to the storage engine, whether or not anything is locked."""
_BY_TYPE = {"Lock": "lock", "LWLock": "lock", "BufferPin": "lock", "Client": "client", "IO": "disk"}
_STANDBY = "SYNCREP"
"""The wait of a commit for a standby."""
_FLUSHING = (
    "WALSYNC",
    "WALWRITE",
    "WALINITSYNC",
    "WALINITWRITE",
    "WALBUFMAPPING",
    _STANDBY,
    "XACTGROUPUPDATE",
    "COMMITDELAY",
)


def states_of_processlist(rows: Iterable[Sequence[object]]) -> dict[str, float]:
    """Return connections by state, of counts by (command, state) of a server of the MySQL protocol.

    A connection that waits for a row's lock is among those at work; the row LOCKED says how many, and they are taken
    out of them. The states are in the manuals' chapters on thread states and thread commands.
    """
    counts = {"client": 0.0, "lock": 0.0, "commit": 0.0, "cpu": 0.0}
    locked = 0.0
    for command, state, count in rows:
        if command == LOCKED:
            locked += float(str(count))
        elif command not in _NO_CLIENTS:
            counts[_state_in_processlist(str(command), str(state or ""))] += float(str(count))
    waiting = min(locked, counts["cpu"])
    return counts | {"cpu": counts["cpu"] - waiting, "lock": counts["lock"] + waiting}


def locks_of_processlist(rows: Iterable[Sequence[object]]) -> dict[str, float]:
    """Return how many connections wait for each lock of the server's own, or for another node: their states name these.

    A connection that waits for a row's lock does not say so (`lock_of_row`).
    """
    locks = {ALL_LOCKS: 0.0}
    for command, state, count in rows:
        locked = command not in _NO_CLIENTS and _state_in_processlist(str(command), str(state)) == "lock"
        for name in (ALL_LOCKS, str(state)) if locked else (ALL_LOCKS,) if command == LOCKED else ():
            locks[name] = locks.get(name, 0.0) + float(str(count))
        if command not in _NO_CLIENTS and any(word in str(state).lower() for word in _REPLICATING):
            locks[str(state)] = locks.get(str(state), 0.0) + float(str(count))
    return locks


def lock_of_row(kind: object, table: object, index: object) -> str:
    """Return the name of a lock that a transaction waits for, of InnoDB's type, table and index of it.

    Tables come as `name`, or as "`database`.`name` /* Partition `p0` */": partitions count as their table.
    """
    name = str(table).partition(" /*")[0].rpartition(".")[2].strip("`")
    return f"row lock, {name} ({index})" if kind == "RECORD" else f"table lock, {name}"


def latch_of_mutex(name: object, status: object) -> tuple[str, float] | None:
    """Return a latch and how often it was waited for, of a row of SHOW ENGINE INNODB MUTEX; None of another row.

    Its name is the source line that made it, `log0log.cc:844`, behind words that only say what kind it is, or behind
    the folders of whoever built the server.
    """
    counted, _, waits = str(status).partition("=")
    return (str(name).rpartition(" ")[2].rpartition("/")[2], float(waits)) if counted in ("waits", "os_waits") else None


@lru_cache(maxsize=256)
def _state_in_processlist(command: str, state: str) -> str:
    state = state.lower()
    if command == "Sleep" or state in _AWAITING_CLIENT:
        return "client"
    if "lock" in state and state != _NO_LOCK:
        return "lock"
    is_committing = any(word in state for word in (*_COMMITTING, *_REPLICATING))
    return "commit" if is_committing or (command == "Query" and state in _BEGINNING) else "cpu"


def states_of_activity(rows: Iterable[tuple[str | None, str | None, int]]) -> dict[str, float]:
    """Return connections by state, of counts by (wait_event_type, wait_event) of PostgreSQL's backends.

    Names are compared without regard to case: `WALSync` was `WalSync` before PostgreSQL 17.
    """
    counts: dict[str, float] = {}
    for wait_type, event, count in rows:
        state = state_of_wait(wait_type, event)
        counts[state] = counts.get(state, 0.0) + float(count)
    return counts


def locks_of_activity(rows: Iterable[tuple[str | None, str | None, int]]) -> dict[str, float]:
    """Return how many of PostgreSQL's backends wait for each lock, by `type:event`.

    That of the log's flush is one, and so is a standby's acknowledgement.
    """
    locks = {ALL_LOCKS: 0.0, ALL_LATCHES: 0.0}
    for kind, event, count in rows:
        if _BY_TYPE.get(kind or "") == "lock":
            locks[ALL_LOCKS if kind == "Lock" else ALL_LATCHES] += float(count)
            locks[f"{kind}:{event}"] = float(count)
        elif (event or "").upper() == _STANDBY:
            locks[f"{kind}:{event}"] = float(count)
    return locks


def state_of_wait(wait_type: str | None, event: str | None) -> str:
    """Return a connection's state from its wait event (PostgreSQL's manual, "Wait Event Types").

    One that waits for nothing is at work, if only on turning to its client, for whom it then waits. A wait of the
    write-ahead log, its lock's too, is what a commit consists of.
    """
    if wait_type is None:
        return "cpu"
    if (event or "").upper().removesuffix("LOCK") in _FLUSHING:
        return "commit"
    return _BY_TYPE.get(wait_type, "other")
