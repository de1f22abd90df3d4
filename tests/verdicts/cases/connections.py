"""Causes that are too few connections: other sessions take them."""

from ..case import CONNECTIONS, Case, Load
from ..sessions import connecting
from .loads import EITHER, HOST

TOO_FEW = frozenset({CONNECTIONS})
LEFT_FOR_OTHERS = 34
"""Connections, of 40: 16 clients share the other six with what observes the server."""
CLIENTS = {"transactions_per_connection": 10, "think_time": "5ms"}

MARIADB = Load("mariadb-connections", "mariadb?max_connections=40", EITHER, HOST, CLIENTS, attached=True)
POSTGRESQL = Load("postgresql-connections", "postgresql?max_connections=40", EITHER, HOST, CLIENTS, attached=True)
REDIS = Load("redis-connections", "redis?maxclients=40", EITHER, HOST, CLIENTS, attached=True)

CASES = (
    Case(
        "connections-taken",
        "Other sessions take 34 of MariaDB's 40 connections, 16 clients read on new ones again and again",
        MARIADB,
        TOO_FEW,
        (connecting(LEFT_FOR_OTHERS),),
        says="max_connections=40",
    ),
    Case(
        "connections-taken-postgresql",
        "Other sessions take 34 of PostgreSQL's 40 connections, 16 clients read on new ones again and again",
        POSTGRESQL,
        TOO_FEW,
        (connecting(LEFT_FOR_OTHERS),),
        held_out=True,
        says="max_connections=40",
    ),
    Case(
        "connections-taken-redis",
        "Other sessions take 34 of the 40 connections of Redis, 16 clients read on new ones again and again",
        REDIS,
        TOO_FEW,
        (connecting(LEFT_FOR_OTHERS),),
        held_out=True,
    ),
)
