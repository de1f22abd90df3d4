"""Causes that are locks: rows, tables, pages of one writer, and what another session holds."""

from ..case import COMMIT, LOCK, Case, Load, Variant
from ..sessions import locking
from .loads import (
    EITHER,
    EMBEDDED,
    HOST,
    MARIADB_64,
    MARIADB_ATTACHED,
    MARIADB_ATTACHED_UPDATE,
    MARIADB_UPDATE,
    POSTGRESQL_ATTACHED,
    POSTGRESQL_UPDATE,
    SERVER,
)

LOCKED = frozenset({LOCK})
ONE_ROW = {"workload": "point-update", "rows": 1, "clients": 64}
ONE_WRITER = {"workload": "point-update", "clients": 8}

MYISAM_GET = Load("myisam-get", "mariadb?engine=MyISAM", SERVER, HOST, {"clients": 32})
# One client has nobody to wait for.
LMDB = Load("lmdb-one-client", "lmdb?sync=none", EITHER | HOST, keys={**ONE_WRITER, "clients": 1}, variants=EMBEDDED)
SQLITE = Load(
    "sqlite-one-client",
    "sqlite?synchronous=off",
    EITHER | HOST | {COMMIT},
    keys={**ONE_WRITER, "clients": 1},
    variants=EMBEDDED,
)
ADVISORY = {
    "workload": "advisory",
    "workloads": {
        "advisory": {
            "what": "take one advisory lock, work and release it",
            "tables": [{"name": "one", "columns": [{"name": "id", "kind": "int", "generator": "key"}]}],
            "statements": [
                {
                    "name": "lock",
                    "sql": "SELECT id FROM {one} WHERE id = ? AND pg_advisory_xact_lock(0) IS NOT NULL",
                    "parameters": [{"column": "one.id"}],
                    "columns": ["int"],
                    "rows": [1, 1],
                },
                {
                    "name": "work",
                    "sql": "SELECT id FROM {one} WHERE id = ? AND (SELECT sum(n) FROM generate_series(1, 1000) n) > 0",
                    "parameters": [{"column": "one.id"}],
                    "columns": ["int"],
                    "rows": [1, 1],
                },
            ],
            "transactions": [
                {
                    "name": "locked",
                    "weight": 1,
                    "within": "read-write",
                    "operations": [
                        {"operation": "sql", "statement": "lock"},
                        {"operation": "sql", "statement": "work"},
                    ],
                }
            ],
        }
    },
}
ADVISORY_ONE = Load("postgresql-advisory", "postgresql", EITHER, HOST, {**ADVISORY, "rows": 1000, "clients": 1})

ROWS = (
    Case(
        "row-lock",
        "64 clients update one row of MariaDB",
        MARIADB_UPDATE,
        LOCKED,
        system="mariadb?innodb_flush_log_at_trx_commit=0",
        keys=ONE_ROW,
        # On one processor the server fills it, and updates three times as much as on two.
        variants=(Variant.UNPINNED,),
    ),
    Case(
        "row-lock-postgresql",
        "64 clients update one row of PostgreSQL",
        POSTGRESQL_UPDATE,
        LOCKED,
        keys=ONE_ROW,
        held_out=True,
    ),
    Case(
        "advisory-lock",
        "32 clients take one advisory lock of PostgreSQL",
        ADVISORY_ONE,
        LOCKED,
        keys={"clients": 32},
        held_out=True,
    ),
    Case(
        "query-cache",
        "64 clients read through MariaDB's query cache",
        MARIADB_64,
        LOCKED,
        system="mariadb?query_cache_type=1&query_cache_size=64M&protocol=text",
        # On one processor the server fills it, and reads twice as much as without the cache.
        variants=(Variant.UNPINNED,),
    ),
    Case(
        "table-lock-myisam",
        "32 clients update a MyISAM table, which has one writer at a time",
        MYISAM_GET,
        LOCKED,
        keys={"workload": "point-update"},
        held_out=True,
    ),
)

SESSIONS = (
    Case(
        "table-lock",
        "Another session locks MariaDB's table for 0.3 s of every 0.4 s, 16 clients read",
        MARIADB_ATTACHED,
        LOCKED,
        (locking("LOCK TABLES dbdyno_bm WRITE", "UNLOCK TABLES", 0.3, 0.1),),
        held_out=True,
    ),
    Case(
        "backup-lock",
        "Another session holds MariaDB's global read lock for 0.3 s of every 0.4 s, 16 clients update",
        MARIADB_ATTACHED_UPDATE,
        LOCKED,
        (locking("FLUSH TABLES WITH READ LOCK", "UNLOCK TABLES", 0.3, 0.1),),
    ),
    Case(
        "relation-lock",
        "Another session locks PostgreSQL's table for 0.3 s of every 0.4 s, 16 clients read",
        POSTGRESQL_ATTACHED,
        LOCKED,
        (locking("BEGIN; LOCK TABLE dbdyno_bm IN ACCESS EXCLUSIVE MODE", "COMMIT", 0.3, 0.1),),
    ),
)

WRITERS = (
    Case(
        "embedded-lock",
        "8 clients update LMDB, which has one writer at a time and flushes nothing",
        LMDB,
        LOCKED,
        keys={"clients": 8},
    ),
    Case(
        "embedded-lock-sqlite",
        "8 clients update SQLite, which has one writer at a time and flushes nothing",
        SQLITE,
        LOCKED,
        keys={"clients": 8},
        held_out=True,
    ),
)

CASES = (*ROWS, *SESSIONS, *WRITERS)
