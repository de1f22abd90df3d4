"""Causes that stop a store for a while, again and again or once."""

from ..case import STALLS, UNEXPLAINED, Case
from ..causes import stalling
from ..sessions import pausing
from .loads import HOST, MARIADB, MARIADB_ATTACHED, POSTGRESQL, REDIS_ATTACHED, SCRIPTED, SERVER

STALLED = frozenset({STALLS})

CASES = (
    Case(
        "stall-2s",
        "MariaDB is frozen for 2 s of every 10 s, 16 clients read",
        MARIADB,
        STALLED | {UNEXPLAINED},
        (stalling(2, 10),),
        keys={"seconds": 20},
        says="stall",
    ),
    Case(
        "stall-20ms",
        "MariaDB is frozen for 20 ms ten times a second, 16 clients read",
        MARIADB,
        STALLED,
        (stalling(0.02, 0.1),),
        says="stall",
    ),
    Case(
        "stall-once",
        "MariaDB is frozen once for 200 ms, 16 clients read",
        MARIADB,
        STALLED | SERVER,
        (stalling(0.2, 4),),
        unpinned=HOST,
        says="stall",
    ),
    Case(
        "stall-postgresql",
        "PostgreSQL is frozen for 300 ms of every second, 16 clients read",
        POSTGRESQL,
        STALLED,
        (stalling(0.3, 1),),
        says="stall",
    ),
    Case(
        "stall-redis",
        "Another session pauses all clients of Redis for 100 ms of every 300 ms, 16 clients read",
        REDIS_ATTACHED,
        STALLED,
        (pausing(0.1, 0.3),),
        held_out=True,
        says="stall",
    ),
    Case(
        "stall-scripted",
        "A scripted server answers nobody for 30 ms of every 100 ms, 16 clients read",
        SCRIPTED,
        STALLED,
        system="scripted?stall_ms=30&every_ms=100",
        says="stall",
    ),
    Case(
        "stall-attached",
        "MariaDB, which is attached to, is frozen for 100 ms of every 500 ms, 16 clients read",
        MARIADB_ATTACHED,
        STALLED,
        (stalling(0.1, 0.5),),
        held_out=True,
        says="stall",
    ),
)
