"""A database of its own on a server that is somebody else's: sysbench's tables have no marker and usual names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pymysql

from dbdyno.load_python.failure import Ended
from dbdyno.load_sysbench.plan import Plan

DATABASE = "dbdyno_sysbench"
MARKER = "dbdyno_made_this"
"""A table in it, by which dbdyno knows it again; without it nothing is removed."""

Ask = Callable[[str], list[tuple[object, ...]]]


def make_database(plan: Plan) -> None:
    """Make the database anew; raises Ended if one of that name is there that dbdyno did not make, or it cannot."""
    remove_database(plan)
    with _asking(plan, within=False) as ask:
        ask(f"CREATE DATABASE {DATABASE}")
    with _asking(plan, within=True) as ask:
        ask(f"CREATE TABLE {MARKER} (id INTEGER PRIMARY KEY)")


def remove_database(plan: Plan) -> None:
    """Remove the database where it is there; raises Ended if dbdyno did not make it, or it cannot be removed."""
    with _asking(plan, within=False) as ask:
        if not ask(_THERE[plan.store["kind"]]):
            return
    with _asking(plan, within=True) as ask:
        if not ask(
            f"SELECT 1 FROM information_schema.tables WHERE table_name = '{MARKER}' AND {_HERE[plan.store['kind']]}"
        ):
            raise Ended("refused", f"a database {DATABASE} without dbdyno's marker is there: rename it or remove it")
    with _asking(plan, within=False) as ask:
        ask(f"DROP DATABASE {DATABASE}")


_THERE = {
    "mysql": f"SELECT 1 FROM information_schema.schemata WHERE schema_name = '{DATABASE}'",
    "postgres": f"SELECT 1 FROM pg_database WHERE datname = '{DATABASE}'",
}
_HERE = {"mysql": f"table_schema = '{DATABASE}'", "postgres": f"table_catalog = '{DATABASE}'"}


@contextmanager
def _asking(plan: Plan, within: bool) -> Iterator[Ask]:
    """Yield what asks the server a statement, in that database or beside it; raises Ended if the server refuses."""
    connect = _mysql if plan.store["kind"] == "mysql" else _postgres
    try:
        with connect(plan, DATABASE if within else None) as connection, connection.cursor() as cursor:

            def ask(statement: str) -> list[tuple[object, ...]]:
                cursor.execute(statement)
                return list(cursor.fetchall()) if cursor.description else []

            yield ask
    except (pymysql.MySQLError, psycopg.Error) as error:
        raise Ended("failed", f"the database {DATABASE} for sysbench: {error}") from None


def _mysql(plan: Plan, database: str | None) -> pymysql.Connection:
    address = plan.store["address"]
    place = {"unix_socket": address["unix"]} if "unix" in address else address
    return pymysql.connect(
        **place,
        user=plan.store["user"],
        password=plan.password or "",
        database=database,
        autocommit=True,
        ssl_disabled=True,
    )


def _postgres(plan: Plan, database: str | None) -> psycopg.Connection[tuple[object, ...]]:
    address = plan.store["address"]
    place = address
    if "unix" in address:
        # To libpq a socket is its directory and the port that its name ends in.
        place = {"host": str(Path(address["unix"]).parent), "port": int(address["unix"].rpartition(".")[2])}
    return psycopg.connect(
        **place,
        user=plan.store["user"],
        password=plan.password,
        dbname=database or "postgres",
        autocommit=True,
        sslmode="disable",
    )
