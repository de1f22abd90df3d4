"""Causes that are old versions of rows: kept by a session, or removed while clients work."""

from ..case import OLD_VERSIONS, VACUUM, Case, Load, Variant
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
VACUUMED = Load(
    "postgresql-update-single",
    "postgresql@18?synchronous_commit=off",
    SERVER,
    keys={"workload": "point-update", "rows": 1_500_000, "clients": 1, "seconds": 12, "warmup_seconds": 3},
    variants=(Variant.PINNED,),
)
_EAGER = (
    *("autovacuum_naptime=1s", "autovacuum_vacuum_cost_delay=0", "default_statistics_target=10000"),
    *(f"autovacuum_{what}_{how}" for what in ("vacuum", "analyze") for how in ("threshold=50", "scale_factor=0")),
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
    Case(
        "autovacuum",
        "PostgreSQL vacuums and analyses all the time, on the processor on which 1 client updates",
        VACUUMED,
        frozenset({VACUUM}),
        system=f"postgresql@18?synchronous_commit=off&{'&'.join(_EAGER)}",
    ),
)
