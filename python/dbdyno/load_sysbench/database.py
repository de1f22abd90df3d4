"""A separate database on an attached server, because sysbench's tables have no marker and usual names."""

from __future__ import annotations

import re
import resource
import signal
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum, auto
from pathlib import Path
from types import FrameType
from typing import Any

import psycopg
import pymysql
from pymysql.constants import ER

from dbdyno.contract import JsonObject
from dbdyno.load_python.bounds import ANSWERS_BYTES, limit_memory
from dbdyno.load_python.clear_passwords import CLEAR_PASSWORDS_REFUSED
from dbdyno.load_python.failure import Ended
from dbdyno.load_sysbench.plan import Plan

DATABASE = "dbdyno_sysbench"
MARKER = "dbdyno_made_this"
"""A table in it, by which dbdyno knows it again; without it nothing is removed."""
STATEMENT_TIMEOUT_S = 60.0
"""Time-out of the statements on one connection; the longest drops a database."""
LISTED = 5
"""Most names in a sentence."""
_FIRST_OID = 16384
"""The first number that PostgreSQL gives to what is not part of itself."""

Ask = Callable[[str], list[tuple[object, ...]]]


class Owner(Enum):
    """The owner of the database of that name; EMPTY: it has no mark and no table, so a killed run may have left it."""

    DBDYNO = auto()
    EMPTY = auto()
    OTHERS = auto()


def make_database(plan: Plan) -> None:
    """Make the database anew; raises Ended if one of that name is there that dbdyno did not make, or it cannot."""
    remove_database(plan)
    with _asking(plan, within=False) as ask:
        try:
            ask(_CREATE[plan.store["kind"]])
        except (pymysql.MySQLError, psycopg.errors.InsufficientPrivilege) as error:
            if isinstance(error, pymysql.MySQLError) and error.args[0] not in _NOT_ALLOWED:
                raise
            raise Ended("refused", _lacks_the_right(plan)) from None
    with _asking(plan, within=True) as ask:
        ask(f"CREATE TABLE {MARKER} (id INTEGER PRIMARY KEY)")


def _lacks_the_right(plan: Plan) -> str:
    user, kind = plan.store["user"], plan.store["kind"]
    grant = {"mysql": f"GRANT ALL ON {DATABASE}.* TO '{user}'", "postgres": f'ALTER ROLE "{user}" CREATEDB'}[kind]
    return f"the user '{user}' has no right to create databases, and sysbench's tables need one: {grant}"


def owner_of(plan: Plan) -> Owner | None:
    """Return whose the database of that name is, None if there is none; raises Ended if the server does not answer."""
    kind = plan.store["kind"]
    with _asking(plan, within=False) as ask:
        rows = ask(_THERE[kind])
    if not rows:
        return None
    if _MARKS[kind] in rows[0]:
        return Owner.DBDYNO
    with _asking(plan, within=True) as ask:
        tables = ask(f"SELECT table_name FROM information_schema.tables WHERE {_HERE[kind]}")
    if (MARKER,) in tables:
        return Owner.DBDYNO
    return Owner.OTHERS if tables else Owner.EMPTY


def remove_database(plan: Plan) -> bool:
    """Remove the database, and return whether it was there.

    Raises Ended if dbdyno did not make it, if others keep something in it, or if it stays.
    """
    owner = owner_of(plan)
    if owner is None:
        return False
    if owner is not Owner.DBDYNO:
        raise Ended("refused", f"a database {DATABASE} without dbdyno's marker is there: rename it or remove it")
    if others := others_in(plan):
        raise Ended("refused", others)
    # MySQL and PostgreSQL have no DROP DATABASE for empty ones: this moment cannot be closed, only kept short.
    with _asking(plan, within=False) as ask:
        ask(f"DROP DATABASE {DATABASE}")
    return True


def others_in(plan: Plan) -> str | None:
    """Return a sentence about what others keep in the database, None if nothing; raises Ended if there is no answer."""
    with _asking(plan, within=True) as ask:
        names = [str(name) for statement in _CONTENTS[plan.store["kind"]] for (name,) in ask(statement)]
    others = sorted(name for name in names if name != MARKER and not _OF_SYSBENCH.fullmatch(name))
    if not others:
        return None
    listed = ", ".join(others[:LISTED]) + (" and more" if len(others) > LISTED else "")
    return (
        f"the database {DATABASE} holds {listed}, which sysbench's own scripts do not make. "
        f"Move what is yours. If nothing is yours: DROP DATABASE {DATABASE}"
    )


_MARKS: Mapping[str, object] = {"mysql": "dbdyno:sysbench", "postgres": 1684161657}
"""A mark that the database has from the moment it exists: MariaDB a comment, PostgreSQL a number of connections nobody
else allows. MySQL has no such place: there a kill before MARKER leaves a database that is EMPTY."""
_CREATE = {
    "mysql": f"CREATE DATABASE {DATABASE} /*M!100500 COMMENT '{_MARKS['mysql']}' */",
    "postgres": f"CREATE DATABASE {DATABASE} TEMPLATE template0 CONNECTION LIMIT {_MARKS['postgres']}",
}
_THERE = {
    # The comment is a column in MariaDB alone.
    "mysql": f"SELECT * FROM information_schema.schemata WHERE schema_name = '{DATABASE}'",
    "postgres": f"SELECT datconnlimit FROM pg_database WHERE datname = '{DATABASE}'",
}
_OF_SYSBENCH = re.compile(r"sbtest\d+(_id_seq)?")
"""Tables of the scripts that come with sysbench, and PostgreSQL's sequences of their keys."""
_CONTENTS = {
    # Not by one UNION: the columns have different collations.
    "mysql": [
        f"SELECT {kind}_name FROM information_schema.{kind}s WHERE {kind}_schema = '{DATABASE}'"
        for kind in ("table", "routine", "event")
    ],
    "postgres": [
        f"SELECT {column} FROM {catalogue} WHERE oid >= {_FIRST_OID}{condition}"
        for column, catalogue, condition in (
            ("relname", "pg_class", " AND relkind IN ('r', 'p', 'v', 'm', 'S', 'f')"),
            ("typname", "pg_type", " AND typrelid = 0 AND typelem = 0"),
            ("proname", "pg_proc", ""),
            ("nspname", "pg_namespace", ""),
            ("'large object ' || oid", "pg_largeobject_metadata", ""),
        )
    ],
}
"""Statements that together return the name of everything that was made in the database."""
_NOT_ALLOWED = (ER.DBACCESS_DENIED_ERROR, ER.SPECIFIC_ACCESS_DENIED_ERROR)
_VERIFY = {"nothing": "require", "authority": "verify-ca", "host": "verify-full"}
"""libpq's word for the contract's, of what is asked of a server's certificate."""
_HERE = {
    "mysql": f"table_schema = '{DATABASE}'",
    "postgres": "table_schema NOT IN ('pg_catalog', 'information_schema')",
}


@contextmanager
def _asking(plan: Plan, within: bool) -> Iterator[Ask]:
    """Yield what asks the server a statement, in that database or beside it; raises Ended if the server refuses."""
    connect = _mysql if plan.store["kind"] == "mysql" else _postgres
    try:
        with _bounded_memory(), _deadline(plan.operation_timeout_s):
            opened = connect(plan, DATABASE if within else None)
        with _bounded_memory(), _deadline(STATEMENT_TIMEOUT_S), opened as connection, connection.cursor() as cursor:

            def ask(statement: str) -> list[tuple[object, ...]]:
                cursor.execute(statement)
                return list(cursor.fetchall()) if cursor.description else []

            yield ask
    except MemoryError:
        more = f"an answer takes more than {ANSWERS_BYTES >> 20} MiB"
        raise Ended("failed", f"the database {DATABASE} for sysbench: {more}") from None
    except (pymysql.MySQLError, psycopg.Error, TimeoutError) as error:
        raise Ended("failed", f"the database {DATABASE} for sysbench: {error}") from None


@contextmanager
def _bounded_memory() -> Iterator[None]:
    """Limit memory inside to what answers may take; sysbench, which is started later, would have the limit too."""
    before = resource.getrlimit(resource.RLIMIT_DATA)
    limit_memory(1, 1)
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


@contextmanager
def _deadline(seconds: float) -> Iterator[None]:
    """Raise TimeoutError inside after so many seconds; only in a program's main thread.

    The drivers' own time-outs are for each piece of an answer, and psycopg has none once it is connected.
    """

    def late(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise TimeoutError(f"no answer within {seconds:g} s")

    before = signal.signal(signal.SIGALRM, late)
    # Again and again: what a driver does to close a connection may wait for an answer, too.
    signal.setitimer(signal.ITIMER_REAL, seconds, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _mysql(plan: Plan, database: str | None) -> pymysql.Connection:
    address = plan.store["address"]
    target = {"unix_socket": address["unix"]} if "unix" in address else address
    return pymysql.connect(
        **target,
        user=plan.store["user"],
        password=plan.password or "",
        database=database,
        autocommit=True,
        **({"ssl": _context(plan.store["tls"])} if plan.store.get("tls") else {"ssl_disabled": True}),
        **CLEAR_PASSWORDS_REFUSED,
    )


def _context(tls: JsonObject) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=tls["ca"])
    context.check_hostname = tls["verify"] == "host"
    context.verify_mode = ssl.CERT_NONE if tls["verify"] == "nothing" else ssl.CERT_REQUIRED
    return context


def _postgres(plan: Plan, database: str | None) -> psycopg.Connection[tuple[object, ...]]:
    address = plan.store["address"]
    target: dict[str, Any] = dict(address)
    if "unix" in address:
        # To libpq a socket is its directory and the port that its name ends in.
        target = {"host": str(Path(address["unix"]).parent), "port": int(address["unix"].rpartition(".")[2])}
    return psycopg.connect(
        **target,
        user=plan.store["user"],
        password=plan.password,
        dbname=database or _beside(plan),
        autocommit=True,
        **_encryption(plan.store.get("tls")),
    )


def _beside(plan: Plan) -> str:
    """Return a database to ask from: that of the URL, as its user may be let into no other, or the server's own."""
    return "postgres" if plan.store["database"] == DATABASE else plan.store["database"]


def _encryption(tls: JsonObject | None) -> dict[str, Any]:
    """Return the plan's `tls` as parameters of libpq, which has files of its own that it would read."""
    if not tls:
        return {"sslmode": "disable"}
    authorities = tls["ca"] or ssl.get_default_verify_paths().cafile or "system"
    return {"sslmode": _VERIFY[tls["verify"]], "sslrootcert": "" if tls["verify"] == "nothing" else authorities}
