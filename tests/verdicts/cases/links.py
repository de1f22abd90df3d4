"""Causes between client and server: distance, a narrow link, and what a server does not show."""

from ..case import NETWORK, SERVER_QUEUE, UNEXPLAINED, Case, Load
from ..links import far_away, shaped_link
from .loads import (
    EITHER,
    HOST,
    MARIADB_ATTACHED,
    POSTGRESQL,
    POSTGRESQL_ATTACHED,
    REDIS_ATTACHED,
    SCRIPTED,
    SERVER,
)

ON_THE_WAY = frozenset({NETWORK})
UNKNOWN = frozenset({UNEXPLAINED})
LARGE = {"workload": "batch-get?batch=100"}

MARIADB_LARGE = Load("mariadb-batch", "mariadb", SERVER, HOST, LARGE)
POSTGRESQL_LARGE = Load("postgresql-batch", "postgresql", SERVER, HOST, LARGE)
REDIS_LARGE = Load("redis-batch-16", "redis", EITHER, HOST, LARGE)

CASES = (
    Case(
        "far-away",
        "The way to MariaDB takes 20 ms in either direction, 16 clients read",
        MARIADB_ATTACHED,
        ON_THE_WAY,
        (far_away(20),),
        keys={"seconds": 3},
        quick=True,
    ),
    Case(
        "far-away-postgresql",
        "The way to PostgreSQL takes 5 ms in either direction, 16 clients read",
        POSTGRESQL_ATTACHED,
        ON_THE_WAY,
        (far_away(5),),
        held_out=True,
    ),
    Case(
        "far-away-redis",
        "The way to Redis, which does not show where its requests are, takes 20 ms in either direction",
        REDIS_ATTACHED,
        ON_THE_WAY | UNKNOWN,
        (far_away(20),),
    ),
    Case(
        "requested-delay",
        "Each client of PostgreSQL waits 3 ms before its next request, as dbdyno was asked to",
        POSTGRESQL,
        ON_THE_WAY,
        keys={"network_delay_us": 3000},
        held_out=True,
    ),
    Case(
        "delay-confirmed",
        "Each client of PostgreSQL waits 3 ms before its next request, then 3.75 ms",
        POSTGRESQL,
        ON_THE_WAY,
        keys={"network_delay_us": 3000, "confirm_limit": True},
        held_out=True,
        says="instead of 3,000 µs, throughput changed by -",
    ),
    Case(
        "narrow-link",
        "The link carries 200 Mbit/s, 16 clients read 100 rows at once from MariaDB",
        MARIADB_LARGE,
        ON_THE_WAY,
        (shaped_link("200mbit"),),
    ),
    Case(
        "narrow-link-postgresql",
        "The link carries 50 Mbit/s, 16 clients read 100 rows at once from PostgreSQL",
        POSTGRESQL_LARGE,
        ON_THE_WAY,
        (shaped_link("50mbit"),),
        held_out=True,
        says="sent and not received",
    ),
    Case(
        "narrow-link-redis",
        "The link carries 100 Mbit/s, 16 clients read 100 rows at once from Redis",
        REDIS_LARGE,
        ON_THE_WAY,
        (shaped_link("100mbit"),),
        held_out=True,
    ),
    Case(
        "scripted-thinks",
        "A scripted server sleeps 5 ms for each request and shows nothing, 16 clients read",
        SCRIPTED,
        UNKNOWN,
        system="scripted?think_ms=5",
        held_out=True,
    ),
    Case(
        "scripted-queue",
        "A scripted server has 4 workers that sleep 5 ms for each request, 64 clients read",
        SCRIPTED,
        UNKNOWN | {SERVER_QUEUE},
        system="scripted?think_ms=5&workers=4",
        keys={"clients": 64},
        held_out=True,
    ),
)
