"""Causes that take processors away: quotas, neighbours, single threads, the two sides of a full host."""

from dbdyno.systems.running.cgroup import cpu_limit

from ..case import (
    CLIENT,
    HOST_CPU,
    NEIGHBOUR,
    RATE,
    SERVER_CPU,
    SERVER_QUEUE,
    SERVER_THREAD,
    Case,
    Load,
    Variant,
)
from ..causes import client_limited, neighbours, server_limited
from .loads import (
    CPU,
    EITHER,
    EMBEDDED,
    HOST,
    MARIADB,
    MARIADB_64,
    MARIADB_ATTACHED,
    MEMCACHED,
    POSTGRESQL,
    REDIS,
    REDIS_BATCH,
    SCRIPTED,
    SERVER,
)

ONE_CLIENT = Load("mariadb-one-client", "mariadb", EITHER, HOST, {"clients": 1})
POSTGRESQL_ONE_CLIENT = Load("postgresql-one-client", "postgresql", EITHER, HOST, {"clients": 1})
HANDLERSOCKET = Load("handlersocket-get", "handlersocket?handlersocket_threads=16", EITHER, HOST, {"clients": 64})
ROCKSDB = Load("rocksdb-get", "rocksdb?cache_mib=64", EITHER | {HOST_CPU}, variants=EMBEDDED)
MEMCACHED_GET = Load("memcached-get", "memcached", EITHER, HOST, {"clients": 64})
PACED = Load("mariadb-paced", "mariadb", frozenset({RATE}), keys={"rate": 500})
POSTGRESQL_PACED = Load("postgresql-paced", "postgresql", frozenset({RATE}), keys={"rate": 2000})

QUOTAS = (
    Case(
        "server-quota",
        "MariaDB is held to 0.5 processors, 16 clients read",
        MARIADB,
        CPU,
        (server_limited(lambda: cpu_limit(0.5)),),
        says="quota",
    ),
    Case(
        "server-quota-postgresql",
        "PostgreSQL is held to 0.4 processors, 16 clients read",
        POSTGRESQL,
        CPU,
        (server_limited(lambda: cpu_limit(0.4)),),
        held_out=True,
        says="quota",
    ),
    Case(
        "server-quota-redis",
        "Redis is held to 0.3 processors, 16 clients read",
        REDIS,
        SERVER,
        (server_limited(lambda: cpu_limit(0.3)),),
        held_out=True,
        says="quota",
    ),
    Case(
        "client-quota",
        "The load client is held to 0.2 processors, 16 clients read from MariaDB",
        MARIADB,
        frozenset({CLIENT}),
        (client_limited(lambda: cpu_limit(0.2)),),
    ),
    Case(
        "client-quota-redis",
        "The load client is held to 0.3 processors, 16 clients read from Redis",
        REDIS,
        frozenset({CLIENT}),
        (client_limited(lambda: cpu_limit(0.3)),),
        held_out=True,
    ),
    Case(
        "embedded-quota",
        "The process with RocksDB inside is held to 0.4 processors, 16 clients read",
        ROCKSDB,
        CPU,
        (client_limited(lambda: cpu_limit(0.4)),),
        held_out=True,
    ),
)

THREADS = (
    Case(
        "thread-pool-1",
        "MariaDB's thread pool has one thread, 64 clients read",
        MARIADB_64,
        frozenset({SERVER_QUEUE, SERVER_THREAD}),
        system="mariadb?thread_handling=pool-of-threads&thread_pool_size=1",
        # One thread fills the processor that the server is pinned to, and does as much as a thread for each client.
        variants=(Variant.UNPINNED,),
    ),
    Case(
        "thread-pool-2",
        "MariaDB's thread pool has two threads, 64 clients read",
        MARIADB_64,
        frozenset({SERVER_QUEUE, SERVER_THREAD, SERVER_CPU}),
        system="mariadb?thread_handling=pool-of-threads&thread_pool_size=2",
        unpinned=HOST,
        held_out=True,
    ),
    Case(
        "memcached-one-thread",
        "memcached has one worker thread, 64 clients read 100 rows at once",
        MEMCACHED,
        frozenset({SERVER_THREAD, SERVER_CPU}),
        system="memcached?threads=1",
        unpinned=HOST,
    ),
    Case(
        "memcached-one-thread-get",
        "memcached has one worker thread, 64 clients read one row at a time",
        MEMCACHED_GET,
        frozenset({SERVER_THREAD, SERVER_CPU}),
        system="memcached?threads=1",
        unpinned=HOST,
        # On one processor it did 0.88 or 1.51 of the control's four threads, and its client was as full as it was.
        variants=(Variant.UNPINNED,),
    ),
    Case(
        "redis-event-loop",
        "Redis has one event loop, 64 clients read 100 rows at once",
        REDIS,
        frozenset({SERVER_THREAD, SERVER_CPU}),
        keys={"workload": "batch-get?batch=100", "clients": 64},
        unpinned=HOST,
        held_out=True,
    ),
    Case(
        "redis-io-threads",
        "Redis has two I/O threads, 64 clients read 100 rows at once",
        REDIS_BATCH,
        frozenset({SERVER_THREAD, SERVER_CPU}),
        system="redis?io-threads=2&io-threads-do-reads=yes",
        unpinned=HOST,
        held_out=True,
    ),
    Case(
        "handlersocket-one-thread",
        "HandlerSocket has one thread, 64 clients read",
        HANDLERSOCKET,
        frozenset({SERVER_THREAD, SERVER_QUEUE, SERVER_CPU}),
        system="handlersocket?handlersocket_threads=1",
        unpinned=HOST,
        held_out=True,
    ),
    Case(
        "scripted-busy",
        "A scripted server works 200 µs for each request in its one thread, 16 clients read",
        SCRIPTED,
        frozenset({SERVER_THREAD, SERVER_CPU}),
        system="scripted?busy_us=200",
        held_out=True,
    ),
)

HOSTS = (
    Case(
        "host-full-mariadb",
        "64 clients and MariaDB share all processors",
        ONE_CLIENT,
        HOST,
        keys={"clients": 64},
        variants=(Variant.UNPINNED,),
    ),
    Case(
        "host-full-postgresql",
        "64 clients and PostgreSQL share all processors",
        POSTGRESQL_ONE_CLIENT,
        HOST,
        keys={"clients": 64},
        variants=(Variant.UNPINNED,),
    ),
    Case(
        "server-full-mariadb",
        "64 clients read from MariaDB on one processor of its own",
        ONE_CLIENT,
        CPU,
        keys={"clients": 64},
        variants=(Variant.PINNED,),
        held_out=True,
    ),
    Case(
        "attached-full",
        "MariaDB on the same host is attached to, 64 clients read",
        MARIADB_ATTACHED,
        CPU,
        keys={"clients": 64},
        unpinned=HOST,
    ),
    Case(
        "attached-full-redis",
        "Redis on the same host is attached to, 64 clients read 100 rows at once",
        REDIS_BATCH,
        SERVER,
        attached=True,
        unpinned=HOST,
        held_out=True,
    ),
    Case(
        "neighbour",
        "Another program takes 0.8 of one processor, 16 clients read from MariaDB",
        MARIADB,
        frozenset({NEIGHBOUR}),
        (neighbours(1, share=0.8),),
    ),
    Case(
        "neighbours-everywhere",
        "Other programs take 0.6 of every processor, 16 clients read from PostgreSQL",
        POSTGRESQL,
        frozenset({NEIGHBOUR}),
        (neighbours(1024, share=0.6),),
    ),
    Case(
        "neighbour-redis",
        "Another program takes 0.8 of one processor, 16 clients read from Redis",
        REDIS,
        frozenset({NEIGHBOUR}),
        (neighbours(1, share=0.8),),
        held_out=True,
    ),
)

RATES = (
    Case(
        "rate-kept",
        "500 transactions/s are offered to MariaDB, and done",
        MARIADB,
        frozenset({RATE}),
        keys={"rate": 500, "seconds": 3},
        quick=True,
    ),
    Case(
        "rate-kept-redis",
        "3,000 transactions/s are offered to Redis, and done",
        REDIS,
        frozenset({RATE}),
        keys={"rate": 3000},
        held_out=True,
    ),
    Case(
        "rate-missed",
        "More transactions/s are offered than MariaDB can do",
        PACED,
        CPU,
        keys={"rate": 300_000, "clients": 64},
        unpinned=HOST,
    ),
    Case(
        "rate-missed-quota",
        "2,000 transactions/s are offered to PostgreSQL with 0.05 processors",
        POSTGRESQL_PACED,
        CPU,
        (server_limited(lambda: cpu_limit(0.05)),),
        held_out=True,
    ),
)

CASES = (*QUOTAS, *THREADS, *HOSTS, *RATES)
