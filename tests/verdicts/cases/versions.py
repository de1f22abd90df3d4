"""Causes that are old versions of rows: kept by a session."""

from ..case import OLD_VERSIONS, Case, Load
from ..sessions import holding
from .loads import HOST, SERVER

OLD = frozenset({OLD_VERSIONS})
FEW_ROWS = Load(
    "postgresql-update-few",
    "postgresql?synchronous_commit=off",
    SERVER,
    HOST,
    {"workload": "point-update", "rows": 1000, "seconds": 12},
    attached=True,
)

CASES = (
    Case(
        "old-snapshot",
        "Another session keeps a snapshot of PostgreSQL, 16 clients update 1,000 rows",
        FEW_ROWS,
        OLD,
        (holding("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class"),),
        says="old row versions",
    ),
)
