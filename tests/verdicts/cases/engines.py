"""Causes inside storage engines: memory, logs that are too small, compaction, full caches, queues of readers."""

from dbdyno.systems.running.cgroup import memory_limit

from ..case import (
    CHECKPOINT,
    COMMIT,
    COMPACTION,
    DISK,
    LOCK,
    MEMORY,
    NEIGHBOUR,
    SERVER_CPU,
    SERVER_QUEUE,
    SERVER_THREAD,
    Case,
    Load,
    Variant,
)
from ..causes import all_limited, client_limited, server_limited, slow_disk, thrashing
from .loads import CPU, EITHER, EMBEDDED, HOST, MARIADB, SERVER

UPDATES = {"workload": "point-update", "operation_timeout_seconds": 60}
MANY = {**UPDATES, "rows": 200_000}
SHORT_OF_MEMORY = frozenset({MEMORY})
CHECKPOINTED = frozenset({CHECKPOINT})

MARIADB_MANY = Load(
    "mariadb-update-many", "mariadb?innodb_flush_log_at_trx_commit=0&innodb_log_file_size=512M", SERVER, HOST, MANY
)
POSTGRESQL_MANY = Load(
    "postgresql-update-many", "postgresql?synchronous_commit=off&max_wal_size=4GB", SERVER, HOST, MANY
)
# Its log is nearly full before it flushes the first page, and holds nobody up.
YOUNG = Load("mariadb-young", "mariadb", SERVER | {COMMIT}, HOST, {"workload": "game", "operation_timeout_seconds": 60})
# Through the kernel's cache, which counts as the server's memory.
BUFFERED = Load(
    "mariadb-buffered",
    "mariadb?innodb_buffer_pool_size=6M&innodb_flush_method=fsync",
    SERVER | {DISK},
    HOST,
    {"rows": 400_000, "operation_timeout_seconds": 60},
)
POSTGRESQL_BUFFERED = Load(
    "postgresql-buffered", "postgresql?shared_buffers=2MB", SERVER, HOST, {"rows": 400_000, "clients": 8}
)
LMDB = Load("lmdb-get", "lmdb?sync=none", EITHER | HOST, keys={"rows": 800_000, "clients": 4}, variants=EMBEDDED)
ROCKSDB = Load(
    "rocksdb-update",
    "rocksdb?sync=none&wal=off",
    EITHER | HOST | {LOCK},
    keys={**MANY, "clients": 4},
    variants=EMBEDDED,
)
MYROCKS = Load("myrocks-update", "mariadb?engine=RocksDB&rocksdb_flush_log_at_trx_commit=0", SERVER, HOST, MANY)
CACHED = Load("cache-aside", "cache-aside(memcached?memory=200%, mariadb)", EITHER, HOST, {"rows": 100_000})
CASSANDRA = Load("cassandra-get", "cassandra", SERVER, HOST, {"clients": 32})
CASSANDRA_GAME = Load(
    "cassandra-game", "cassandra", SERVER, HOST, {"workload": "game", "operation_timeout_seconds": 60}
)
CASSANDRA_FLUSH = Load(
    "cassandra-flush",
    "cassandra?commitlog_sync=batch",
    SERVER | {COMMIT},
    HOST,
    {"workload": "game", "operation_timeout_seconds": 60},
)

# On one processor MariaDB 10.11 hangs for good within seconds if its log has 4 MB, and at times if it has 16.
TINY_LOG = "innodb_log_file_size=4M"
TWO_PROCESSORS = (Variant.UNPINNED,)
LOGS = (
    Case(
        "small-redo-log",
        "MariaDB's redo log has 4 MB, 16 clients update",
        MARIADB_MANY,
        CHECKPOINTED,
        system=f"mariadb?innodb_flush_log_at_trx_commit=0&{TINY_LOG}",
        variants=TWO_PROCESSORS,
    ),
    Case(
        "small-redo-log-game",
        "MariaDB's redo log has 4 MB and is flushed at each commit, 16 clients play",
        YOUNG,
        CHECKPOINTED | {COMMIT},
        system=f"mariadb?{TINY_LOG}",
        variants=TWO_PROCESSORS,
        held_out=True,
    ),
    Case(
        "log-confirmed",
        "MariaDB's redo log has 16 MB, 16 clients update, then with one of 32 MB",
        MARIADB_MANY,
        CHECKPOINTED,
        system="mariadb?innodb_flush_log_at_trx_commit=0&innodb_log_file_size=16M",
        keys={"confirm_limit": True, "seconds": 15},
        says="innodb_log_file_size=33554432 instead of 16777216",
        variants=TWO_PROCESSORS,
        held_out=True,
    ),
    Case(
        "small-redo-log-slow-disk",
        "MariaDB's redo log has 8 MB, the device is held to 200 writes/s, 16 clients update",
        MARIADB_MANY,
        CHECKPOINTED | {DISK},
        (server_limited(slow_disk(write_iops=200)),),
        system="mariadb?innodb_flush_log_at_trx_commit=0&innodb_log_file_size=8M&innodb_flush_method=O_DIRECT",
        variants=TWO_PROCESSORS,
    ),
    Case(
        "small-wal",
        "PostgreSQL's WAL has 32 MB between checkpoints, the device is held to 8 MB/s of writes, 16 clients update",
        POSTGRESQL_MANY,
        CHECKPOINTED | {DISK, COMMIT},
        (server_limited(slow_disk(write_bps=8e6)),),
        system="postgresql?synchronous_commit=off&max_wal_size=32MB&min_wal_size=32MB",
    ),
    Case(
        "dirty-pool",
        "MariaDB's buffer pool has 10 MB, the device is held to 300 writes/s, 16 clients update",
        MARIADB_MANY,
        CHECKPOINTED | {DISK},
        (server_limited(slow_disk(write_iops=300)),),
        system=("mariadb?innodb_flush_log_at_trx_commit=0&innodb_buffer_pool_size=10M&innodb_flush_method=O_DIRECT"),
        held_out=True,
    ),
)

MEMORIES = (
    Case(
        "memory-limit",
        "MariaDB may use less memory than it and its data take, 16 clients read",
        BUFFERED,
        SHORT_OF_MEMORY,
        keys={"memory_limit": "128M"},
    ),
    Case(
        "memory-limit-postgresql",
        "PostgreSQL may use less memory than it and its data take, 8 clients read",
        POSTGRESQL_BUFFERED,
        SHORT_OF_MEMORY,
        keys={"memory_limit": "48M"},
        held_out=True,
    ),
    Case(
        "memory-limit-embedded",
        "The process with LMDB inside may use less memory than its data take, 4 clients read",
        LMDB,
        SHORT_OF_MEMORY,
        (all_limited(lambda: memory_limit(96 << 20)),),
        held_out=True,
    ),
    Case(
        "memory-neighbour",
        "Another program has less memory than it works on, 16 clients read from MariaDB, which has enough",
        MARIADB,
        SERVER | {NEIGHBOUR, DISK},
        (thrashing(),),
        unpinned=HOST,
        held_out=True,
    ),
    Case(
        "evictions",
        "memcached in front of MariaDB has room for a fraction of the rows, 16 clients read",
        CACHED,
        CPU,
        system="cache-aside(memcached?memory=2, mariadb)",
        unpinned=HOST,
        held_out=True,
    ),
)

COMPACTIONS = (
    Case(
        "write-stalls",
        "RocksDB has a write buffer of 1 MiB and 4 MB/s of writes, 4 clients update",
        ROCKSDB,
        frozenset({COMPACTION}),
        (client_limited(slow_disk(write_bps=4e6)),),
        system="rocksdb?sync=none&wal=off&write_buffer_mib=1",
    ),
    Case(
        "write-stalls-server",
        "MyRocks has a write buffer of 4 MiB and 4 MB/s of writes, 16 clients update",
        MYROCKS,
        frozenset({COMPACTION}),
        (server_limited(slow_disk(write_bps=4e6)),),
        system=("mariadb?engine=RocksDB&rocksdb_flush_log_at_trx_commit=0&rocksdb_db_write_buffer_size=4194304"),
        held_out=True,
    ),
    Case(
        "write-stalls-cassandra",
        "Cassandra has 8 MiB of buffers and 8 MB/s of writes, 16 clients play",
        CASSANDRA_GAME,
        # The held device is a cause too, whichever of its writes is waited for most.
        frozenset({COMPACTION, COMMIT, DISK}),
        (server_limited(slow_disk(write_bps=8e6)),),
        system="cassandra?memtable_heap_space=8MiB&memtable_offheap_space=8MiB",
        # On one processor it does hardly more without the cause: that processor is the limit.
        variants=TWO_PROCESSORS,
        keys={"seconds": 20, "operation_timeout_seconds": 60},
    ),
)

QUEUES = (
    Case(
        "cassandra-readers",
        "Cassandra has two threads for reads, 32 clients read",
        CASSANDRA,
        frozenset({SERVER_QUEUE, SERVER_THREAD, SERVER_CPU}),
        # Cassandra 5 takes no less.
        system="cassandra?concurrent_reads=2",
        unpinned=HOST,
    ),
    Case(
        "cassandra-commit",
        "The device is held to 40 writes/s, 16 clients write to Cassandra, which flushes each write",
        CASSANDRA_FLUSH,
        frozenset({COMMIT, DISK}),
        (server_limited(slow_disk(write_iops=40)),),
    ),
)

CASES = (*LOGS, *MEMORIES, *COMPACTIONS, *QUEUES)
