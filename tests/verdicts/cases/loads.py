"""Loads that several kinds of cases add a cause to, and the limits that processors are."""

from ..case import CLIENT, HOST_CPU, SERVER_CPU, SERVER_THREAD, Load, Variant

SERVER = frozenset({SERVER_CPU, SERVER_THREAD})
"""The limits of a server that has all it needs."""
EITHER = SERVER | {CLIENT}
"""The limits of a store of a few µs per operation: it is about as fast as its client."""
HOST = frozenset({HOST_CPU})
CPU = frozenset({SERVER_CPU})
EMBEDDED = (Variant.UNPINNED,)
"""An embedded store is in the client's threads, so no two sides can be pinned apart."""

MARIADB = Load("mariadb-get", "mariadb", SERVER, HOST)
MARIADB_UPDATE = Load(
    "mariadb-update",
    "mariadb?innodb_flush_log_at_trx_commit=0&innodb_log_file_size=512M",
    SERVER,
    HOST,
    {"workload": "point-update"},
)
MARIADB_64 = Load("mariadb-get-64", "mariadb", SERVER, HOST, {"clients": 64})
MARIADB_ATTACHED = Load("mariadb-attached", "mariadb", SERVER, HOST, attached=True)
MARIADB_ATTACHED_UPDATE = Load(
    "mariadb-attached-update",
    "mariadb?innodb_flush_log_at_trx_commit=0",
    SERVER,
    HOST,
    {"workload": "point-update"},
    attached=True,
)
POSTGRESQL = Load("postgresql-get", "postgresql", SERVER, HOST)
POSTGRESQL_UPDATE = Load(
    "postgresql-update", "postgresql?synchronous_commit=off", SERVER, HOST, {"workload": "point-update"}
)
POSTGRESQL_ATTACHED = Load("postgresql-attached", "postgresql", SERVER, HOST, attached=True)
REDIS = Load("redis-get", "redis", EITHER, HOST)
REDIS_ATTACHED = Load("redis-attached", "redis", EITHER, HOST, attached=True)
REDIS_BATCH = Load("redis-batch", "redis", SERVER, HOST, {"workload": "batch-get?batch=100", "clients": 64})
MEMCACHED = Load("memcached-batch", "memcached", EITHER, HOST, {"workload": "batch-get?batch=100", "clients": 64})
SCRIPTED = Load("scripted-get", "scripted", SERVER, HOST, {"rows": 1000}, attached=True)
