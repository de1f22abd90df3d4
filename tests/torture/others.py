"""Servers with data of others, also data that looks like dbdyno's, and all that such a server holds, byte for byte."""

from __future__ import annotations

import random
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote

import psycopg
import pymongo
import pymysql
import redis
from bson.raw_bson import RawBSONDocument
from psycopg import sql
from pymysql.converters import encoders

from dbdyno.systems.running.endpoint import Endpoint

State = dict[str, object]
"""All that a server holds: what, to its content."""
BINARY = bytes(range(256))
LIFE_S = 86_400
"""The life of what expires: it ends long after the suite."""


@dataclass(frozen=True)
class Others:
    """How a kind of server is filled and looked at. system: what dbdyno starts it as."""

    system: str
    scheme: str
    fill: Callable[[Endpoint, random.Random], None]
    state: Callable[[Endpoint], State]

    def url(self, endpoint: Endpoint) -> str:
        """Return the URL of the database that dbdyno is to use; the password is for DBDYNO_PASSWORD."""
        login = f"{endpoint.user or ''}:***@" if endpoint.password else ""
        return f"{self.scheme}://{login}{endpoint.host}:{endpoint.port}/{endpoint.database}"


def _lookalike_ids(chance: random.Random, count: int = 4) -> list[int]:
    """Return numbers of rows that look like dbdyno's: some lie within what a run loads, most behind it."""
    return [3000, *(chance.randrange(1, 9000) for _ in range(chance.randrange(count)))]


def _redis(endpoint: Endpoint, database: int = 0) -> redis.Redis:
    return redis.Redis(endpoint.host, endpoint.port, password=endpoint.password, db=database, protocol=2)


def fill_redis(endpoint: Endpoint, chance: random.Random) -> None:
    """Fill two databases with keys of every type, with and without an end, and with keys named like dbdyno's."""
    for database in (0, 1):
        client, ends = _redis(endpoint, database), int(time.time()) + LIFE_S
        for number in range(50):
            client.set(f"session:{number}", chance.randbytes(200), exat=ends + number if number % 3 == 0 else None)
        client.set(BINARY, BINARY)
        client.rpush("queue", *(chance.randbytes(20) for _ in range(20)))
        client.hset("cart", mapping={chance.randbytes(4): chance.randbytes(9) for _ in range(20)})
        client.zadd("ranking", {f"p{number}": chance.random() for number in range(20)})
        client.sadd("tags", "a", "b")
        client.xadd("events", {"who": "somebody"})
        for number in _lookalike_ids(chance):
            client.set(chance.choice((f"dbdyno:bm:{number}", f"dbdyno:player:{number}")), "precious")
        client.set("dbdyno:bm:3000", "precious", exat=ends)
        client.set("dbdyno:bm:none", "no row of dbdyno's")
        client.hset("dbdyno:", "a", "b")
        if chance.random() < 0.25:
            client.set("dbdyno:marker", "precious too")
    client.execute_command("ACL", "SETUSER", "reader", "on", ">word", "~*", "+@read")


def state_redis(endpoint: Endpoint) -> State:
    """Return every key's serialized value and end, all settings, users and functions."""
    state: State = {}
    for database in range(16):
        client = _redis(endpoint, database)
        for key in client.scan_iter(count=1000):
            state[f"database {database}, key {key!r}"] = (client.type(key), client.dump(key), client.expiretime(key))
    state["settings"] = client.config_get("*")
    state["users"] = sorted(client.acl_list())
    state["functions"] = client.execute_command("FUNCTION", "DUMP")
    return state


class _Memcached:
    """Lines of memcached's text protocol: client libraries give neither flags, nor end, nor what says it was stored."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._socket = socket.create_connection((endpoint.host, endpoint.port), timeout=10)
        self._lines = self._socket.makefile("rb")

    def store(self, key: str, value: bytes, flags: int, ends: int) -> None:
        self._socket.sendall(f"set {key} {flags} {ends} {len(value)}\r\n".encode() + value + b"\r\n")
        if self._lines.readline() != b"STORED\r\n":
            raise RuntimeError(f"memcached did not store {key}")

    def keys(self) -> dict[str, dict[str, str]]:
        """Return what memcached says of every key."""
        self._socket.sendall(b"lru_crawler metadump all\r\n")
        items = {}
        while (line := self._lines.readline().strip()) and line != b"END":
            facts = dict(word.split("=", 1) for word in line.decode().split())
            items[unquote(facts["key"])] = facts
        return items

    def value(self, key: str) -> tuple[bytes, bytes]:
        self._socket.sendall(f"gets {key}\r\n".encode())
        head = self._lines.readline()
        if not head.startswith(b"VALUE"):
            return head, b""
        value = self._lines.read(int(head.split()[3]) + 2)
        self._lines.readline()
        return head, value


def fill_memcached(endpoint: Endpoint, chance: random.Random) -> None:
    """Fill it with items with and without flags and an end, and with keys named like dbdyno's."""
    client, ends = _Memcached(endpoint), int(time.time()) + LIFE_S
    for number in range(100):
        client.store(f"page:{number}", chance.randbytes(300), number, ends + number if number % 3 == 0 else 0)
    for number in _lookalike_ids(chance):
        client.store(chance.choice((f"dbdyno:bm:{number}", f"dbdyno:player:{number}")), b"precious", 7, ends)
    client.store("dbdyno:bm:none", b"no row of dbdyno's", 0, 0)
    if chance.random() < 0.25:
        client.store("dbdyno:marker", b"precious too", 3, 0)


def state_memcached(endpoint: Endpoint) -> State:
    """Return every item's flags, value, number of its last change (cas) and end."""
    client = _Memcached(endpoint)
    return {f"key {key}": (*client.value(key), facts["exp"]) for key, facts in client.keys().items()}


def fill_mysql(endpoint: Endpoint, chance: random.Random) -> None:
    """Make databases, views, routines, users and rows, and tables named like dbdyno's without its mark."""
    tables = [f"dbdyno_{name}" for name in ("warehouse", "sbtest1", "player", "object", "foreign")]
    with pymysql.connect(
        host=endpoint.host, port=endpoint.port, user=endpoint.user, password=endpoint.password
    ) as connection:
        cursor = connection.cursor()
        for statement in (
            "CREATE DATABASE shop",
            "CREATE TABLE shop.orders (id INT PRIMARY KEY AUTO_INCREMENT, what VARBINARY(600), KEY (what(10)))",
            "CREATE TABLE shop.dbdyno_bm (id INT PRIMARY KEY)",
            "INSERT INTO shop.dbdyno_bm VALUES (3000)",
            "CREATE VIEW shop.latest AS SELECT MAX(id) AS id FROM shop.orders",
            "CREATE TRIGGER shop.counted BEFORE INSERT ON shop.orders FOR EACH ROW SET @n = 1",
            "CREATE PROCEDURE shop.nothing() SELECT 1",
            "CREATE DATABASE IF NOT EXISTS dbdyno_backup",
            "CREATE TABLE dbdyno_backup.kept (id INT PRIMARY KEY)",
            "CREATE USER 'dbdyno_reader'@'localhost' IDENTIFIED BY 'word'",
            # The account of a private server may not GRANT.
            "INSERT INTO mysql.db (Host, Db, User, Select_priv) VALUES ('localhost', 'shop', 'dbdyno_reader', 'Y')",
            "FLUSH PRIVILEGES",
            "SET GLOBAL max_connections = 77",
            "SET GLOBAL local_infile = 0",
            f"USE `{endpoint.database}`",
            "CREATE TABLE customers (id INT PRIMARY KEY, name VARCHAR(20)) COMMENT 'dbdyno has not made this'",
            "INSERT INTO customers VALUES (1, 'ü€'), (2, NULL)",
            *(f"CREATE TABLE {table} (id INT PRIMARY KEY)" for table in chance.sample(tables, 2)),
            "CREATE TABLE dbdyno_bm_old (id INT PRIMARY KEY)",
        ):
            cursor.execute(statement)
        rows = [(chance.randbytes(chance.randrange(600)),) for _ in range(200)]
        cursor.executemany("INSERT INTO shop.orders (what) VALUES (%s)", rows)
        connection.commit()


_MYSQL_OWN = ("information_schema", "performance_schema", "sys", "mysql")
_MYSQL_ACCOUNTS = ("user", "global_priv", "db", "tables_priv", "columns_priv", "procs_priv", "roles_mapping", "servers")
_MYSQL_MOVING = ("timestamp", "gtid_", "innodb_buffer_pool_load", "last_", "rand_seed", "pseudo_")


def state_mysql(endpoint: Endpoint) -> State:
    """Return how everything was made, all rows, accounts, and global variables."""
    state: State = {}
    login = {"host": endpoint.host, "port": endpoint.port, "user": endpoint.user, "password": endpoint.password}
    with pymysql.connect(**login, charset="latin1", use_unicode=False, conv=encoders) as connection:
        cursor = connection.cursor()
        cursor.execute("SET NAMES binary")

        def ask(query: str) -> list[tuple]:
            cursor.execute(query)
            return sorted(cursor.fetchall(), key=repr)

        for (name,) in ask("SHOW DATABASES"):
            database = name.decode()
            if database in _MYSQL_OWN:
                continue
            state[f"database {database}"] = ask(f"SHOW CREATE DATABASE `{database}`")
            for (table,) in ask(f"SHOW TABLES FROM `{database}`"):
                place_of = f"`{database}`.`{table.decode()}`"
                state[f"table {place_of}"] = (ask(f"SHOW CREATE TABLE {place_of}"), ask(f"SELECT * FROM {place_of}"))
            state[f"triggers {database}"] = ask(f"SHOW TRIGGERS FROM `{database}`")
            state[f"events {database}"] = ask(f"SHOW EVENTS FROM `{database}`")
        state["routines"] = ask("SELECT * FROM information_schema.routines WHERE routine_schema <> 'sys'")
        state["processes"] = len(ask("SELECT * FROM information_schema.processlist WHERE user NOT LIKE '%system%'"))
        there = {name.decode() for (name,) in ask("SHOW TABLES FROM mysql")}
        for table in there.intersection(_MYSQL_ACCOUNTS):
            state[f"mysql.{table}"] = ask(f"SELECT * FROM mysql.`{table}`")
        for name, value in ask("SHOW GLOBAL VARIABLES"):
            if not name.decode().startswith(_MYSQL_MOVING):
                state[f"variable {name.decode()}"] = value
    return state


def fill_postgresql(endpoint: Endpoint, chance: random.Random) -> None:
    """Make databases, schemas, roles, large objects and rows, and tables named like dbdyno's without its mark."""
    tables = [f"dbdyno_{name}" for name in ("warehouse", "sbtest1", "player", "object", "foreign")]
    with _postgresql(endpoint, endpoint.database) as connection:
        for statement in (
            "CREATE DATABASE shop",
            "CREATE DATABASE dbdyno_backup",
            "CREATE ROLE dbdyno_reader LOGIN PASSWORD 'word'",
            "ALTER ROLE dbdyno_reader SET work_mem = '8MB'",
            "CREATE SCHEMA dbdyno_schema",
            "CREATE TABLE dbdyno_schema.dbdyno_bm (id int PRIMARY KEY)",
            "CREATE TABLE customers (id serial PRIMARY KEY, name text)",
            "INSERT INTO customers (name) VALUES ('ü€'), (NULL)",
            "COMMENT ON TABLE customers IS 'dbdyno has not made this'",
            "CREATE VIEW latest AS SELECT max(id) FROM customers",
            "CREATE FUNCTION nothing() RETURNS int LANGUAGE sql AS 'SELECT 1'",
            "SELECT lo_from_bytea(0, '\\x00ff')",
            "ALTER SYSTEM SET work_mem = '6MB'",
            "SELECT pg_reload_conf()",
            *(f"CREATE TABLE {table} (id int PRIMARY KEY)" for table in chance.sample(tables, 2)),
            "CREATE TABLE dbdyno_bm_old (id int PRIMARY KEY)",
        ):
            connection.execute(statement)
    with _postgresql(endpoint, "shop") as connection:
        connection.execute("CREATE TABLE dbdyno_bm (id int PRIMARY KEY, what bytea)")
        for number in range(200):
            connection.execute("INSERT INTO dbdyno_bm VALUES (%s, %s)", (number, chance.randbytes(300)))


def _postgresql(endpoint: Endpoint, database: str) -> psycopg.Connection:
    return psycopg.connect(
        host=endpoint.host,
        port=endpoint.port,
        user=endpoint.user,
        password=endpoint.password,
        dbname=database,
        autocommit=True,
    )


_POSTGRESQL_LISTS = {
    "role": "SELECT rolname, r.* FROM pg_authid r",
    "database": "SELECT datname, datdba, datacl FROM pg_database",
    "setting of a role": "SELECT * FROM pg_db_role_setting",
    "setting": "SELECT name, setting, source, sourcefile FROM pg_settings",
    "slot": "SELECT slot_name FROM pg_replication_slots",
}
_POSTGRESQL_OBJECTS = {
    "schema": "SELECT nspname, nspacl FROM pg_namespace WHERE nspname !~ '^pg_(toast_)?temp'",
    "relation": "SELECT n.nspname, c.relname, c.relkind, c.relfilenode, c.reloptions FROM pg_class c "
    "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname NOT IN ('pg_catalog', 'pg_toast')",
    "column": "SELECT * FROM information_schema.columns WHERE table_schema NOT IN ('pg_catalog', 'information_schema')",
    "function": "SELECT proname, prosrc FROM pg_proc WHERE oid >= 16384",
    "comment": "SELECT objoid, description FROM pg_description WHERE objoid >= 16384",
    "constraint": "SELECT conname, contype FROM pg_constraint WHERE oid >= 16384",
    "extension": "SELECT extname FROM pg_extension",
    "large object": "SELECT loid, pageno, data FROM pg_largeobject",
    "sequence": "SELECT * FROM pg_sequences",
}

_POSTGRESQL_TABLES = (
    "SELECT schemaname, tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
)


def state_postgresql(endpoint: Endpoint) -> State:
    """Return every object and row of every database, roles and settings."""
    state: State = {}
    with _postgresql(endpoint, endpoint.database) as connection:
        for kind, query in _POSTGRESQL_LISTS.items():
            state |= {f"{kind} {row[0]}": row for row in connection.execute(query)}
        names = connection.execute("SELECT datname FROM pg_database WHERE datallowconn ORDER BY 1").fetchall()
    for (database,) in names:
        with _postgresql(endpoint, database) as connection:
            for kind, query in _POSTGRESQL_OBJECTS.items():
                state[f"{kind}s of {database}"] = sorted(map(repr, connection.execute(query)))
            for table in connection.execute(_POSTGRESQL_TABLES).fetchall():
                rows = connection.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(*table)))
                state[f"rows of {database}.{'.'.join(table)}"] = sorted(map(repr, rows))
    return state


def _mongodb(endpoint: Endpoint, **options: object) -> pymongo.MongoClient:
    return pymongo.MongoClient(endpoint.host, endpoint.port, directConnection=True, **options)


def fill_mongodb(endpoint: Endpoint, chance: random.Random) -> None:
    """Fill two databases, with indexes, and with collections named like dbdyno's without its mark."""
    with _mongodb(endpoint) as client:
        for database in (endpoint.database or "dbdyno", "shop"):
            orders = client[database].orders
            orders.insert_many({"_id": number, "what": chance.randbytes(99)} for number in range(100))
            orders.create_index("what")
            client[database].dbdyno_foreign.insert_one({"_id": 3000, "here": True})
            client[database][chance.choice(("dbdyno_player", "dbdyno_bm_old"))].insert_one({"_id": 1})
        client.shop.dbdyno_bm.insert_one({"_id": 3000, "here": True})


def state_mongodb(endpoint: Endpoint) -> State:
    """Return every document of every collection as its bytes, and the indexes."""
    state: State = {}
    with _mongodb(endpoint, document_class=RawBSONDocument) as client:
        for database in client.list_database_names():
            for name in client[database].list_collection_names():
                collection = client[database][name]
                state[f"{database}.{name}"] = sorted(document.raw for document in collection.find())
                state[f"indexes of {database}.{name}"] = sorted(map(repr, collection.list_indexes()))
    return state
