"""Causes at the disk: slow reads, slow writes, slow flushes."""

from ..case import COMMIT, DISK, RATE, Case, Load, Variant
from ..causes import client_limited, permitted, server_limited, slow_disk
from .loads import EITHER, EMBEDDED, HOST, SERVER

SMALL_POOL = "mariadb?innodb_buffer_pool_size=6M&innodb_flush_method=O_DIRECT"
# Its background writer is off, and no checkpoint comes so soon. Past the kernel's cache, which no limit would slow.
UNCLEANED = (
    "postgresql@18?shared_buffers=2MB&bgwriter_lru_maxpages=0&synchronous_commit=off"
    "&debug_io_direct=data&io_method=sync&autovacuum=off"
)
UPDATES = {"workload": "point-update", "clients": 8, "operation_timeout_seconds": 60}
ON_DISK = frozenset({DISK})
FLUSHED = frozenset({COMMIT})
# On a disk without a limit, a store that flushes or reads outside its cache may be limited by that all the same.
WITH_FLUSHES = SERVER | {COMMIT}
WITH_READS = SERVER | {DISK}
EMBEDDED_FLUSHES = EITHER | HOST | {COMMIT}

READS = Load("mariadb-small-pool", SMALL_POOL, WITH_READS, HOST, {"rows": 100_000, "operation_timeout_seconds": 60})
CLEANING = Load("postgresql-uncleaned", UNCLEANED, WITH_READS, HOST, {**UPDATES, "rows": 40_000, "clients": 16})
MARIADB_FLUSH = Load("mariadb-flush", "mariadb?innodb_flush_log_at_trx_commit=1", WITH_FLUSHES, HOST, UPDATES)
POSTGRESQL_FLUSH = Load("postgresql-flush", "postgresql", WITH_FLUSHES, HOST, UPDATES)
REDIS_FLUSH = Load("redis-flush", "redis?appendonly=yes&appendfsync=always", WITH_FLUSHES | {DISK}, HOST, UPDATES)
PACED_FLUSH = Load(
    "mariadb-flush-paced", "mariadb?innodb_flush_log_at_trx_commit=1", frozenset({RATE}), keys={**UPDATES, "rate": 200}
)
# The cabinet makes locks of its own out of its mutexes.
CABINET = Load("tokyocabinet-flush", "tokyocabinet", EMBEDDED_FLUSHES | {"lock"}, keys=UPDATES, variants=EMBEDDED)
SQLITE = Load("sqlite-flush", "sqlite?synchronous=full", EMBEDDED_FLUSHES | {"lock"}, keys=UPDATES, variants=EMBEDDED)
LMDB = Load("lmdb-flush", "lmdb", EMBEDDED_FLUSHES | {"lock"}, keys=UPDATES, variants=EMBEDDED)
ROCKSDB = Load("rocksdb-flush", "rocksdb", EMBEDDED_FLUSHES | {"lock"}, keys=UPDATES, variants=EMBEDDED)

SERVERS = (
    Case(
        "disk-reads",
        "The device is held to 300 reads/s, MariaDB's buffer pool to a fraction of the data, 16 clients read",
        READS,
        ON_DISK,
        (server_limited(slow_disk(read_iops=300)),),
    ),
    Case(
        "disk-writers",
        "The device is held to 600 reads/s, nobody else cleans PostgreSQL's buffers, 16 clients update",
        CLEANING,
        ON_DISK,
        (server_limited(slow_disk(read_iops=600)),),
        says="too few of its buffers were clean",
    ),
    Case(
        "disk-bytes",
        "The device is held to 4 MB/s of reads, MariaDB's buffer pool to a fraction of the data, 16 clients read",
        READS,
        ON_DISK,
        (server_limited(slow_disk(read_bps=4e6)),),
        held_out=True,
    ),
    Case(
        "commit",
        "The device is held to 40 writes/s, 8 clients update MariaDB, which flushes each commit",
        MARIADB_FLUSH,
        FLUSHED,
        (server_limited(slow_disk(write_iops=40)),),
    ),
    Case(
        "commit-confirmed",
        "8 clients update MariaDB, which flushes each commit, then with a fifth less of the writes they caused",
        MARIADB_FLUSH,
        FLUSHED,
        (permitted(slow_disk(write_iops=1e9)),),
        keys={"confirm_limit": True},
        says="removed",
        variants=(Variant.UNPINNED,),
    ),
    Case(
        "commit-postgresql",
        "The device is held to 40 writes/s, 8 clients update PostgreSQL, which flushes each commit",
        POSTGRESQL_FLUSH,
        FLUSHED,
        (server_limited(slow_disk(write_iops=40)),),
        held_out=True,
    ),
    Case(
        "commit-redis",
        "The device is held to 40 writes/s, 8 clients update Redis, which flushes each command",
        REDIS_FLUSH,
        FLUSHED | ON_DISK,
        (server_limited(slow_disk(write_iops=40)),),
    ),
    Case(
        "commit-rate-missed",
        "The device is held to 20 writes/s, 200 updates/s are offered to MariaDB, which flushes each commit",
        PACED_FLUSH,
        FLUSHED,
        (server_limited(slow_disk(write_iops=20)),),
        keys={"clients": 2},
        held_out=True,
    ),
)

ENGINES = tuple(
    Case(
        f"embedded-commit-{load.system.partition('?')[0]}",
        f"The device is held to 40 writes/s, 8 clients update {product}, which flushes each update",
        load,
        FLUSHED,
        (client_limited(slow_disk(write_iops=40)),),
        held_out=held_out,
    )
    for load, product, held_out in (
        (CABINET, "Tokyo Cabinet", False),
        (SQLITE, "SQLite", True),
        (LMDB, "LMDB", True),
        (ROCKSDB, "RocksDB", True),
    )
)

CASES = (*SERVERS, *ENGINES)
