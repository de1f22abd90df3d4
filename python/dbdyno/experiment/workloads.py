"""The built-in workloads: what each asks of a store, and the options it takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dbdyno.contract import JsonObject


GET = "get"
GET_MANY = "get-many"
INSERT = "insert"
TRANSACTION = "transaction"
READ_ONLY = "read-only"
UPDATE = "update"
ADD = "add"
INCREMENT = "increment"
FIND_UNIQUE = "find-unique"
FIND_SECONDARY = "find-secondary"
SUM = "sum"
SUM_RANGE = "sum-range"
SQL = "sql"
PARTITION = "partition"
PUT = "put"
DELETE = "delete"
SCAN = "scan"
EXPIRE = "expire"
ANALYSE = "analyse"
COPY = "copy"
GET_ELSEWHERE = "get-elsewhere"
SYSBENCH = "sysbench"

OPERATIONS = {
    GET: "get a row by its primary key",
    GET_MANY: "get several rows by their primary keys in one request",
    UPDATE: "store a changed row back",
    ADD: "add to a column in place",
    INCREMENT: "count up a row that is a key and a number",
    INSERT: "insert a row",
    TRANSACTION: "begin and commit a transaction of several operations",
    READ_ONLY: "begin a transaction as read-only",
    FIND_UNIQUE: "find a row by a unique column",
    FIND_SECONDARY: "find rows by a secondary index",
    PUT: "store a row, whether or not it is there",
    DELETE: "delete a row",
    SCAN: "read rows in the order of their keys",
    SUM: "sum a column over the table",
    SUM_RANGE: "sum a column over a range of keys in one query",
    SQL: "run the workload's own prepared SQL statements",
    PARTITION: "keep a table in partitions by a hash of its key",
}
"""The logical operations on which workloads and stores meet, and what each is for a person."""

WORDS = {
    **OPERATIONS,
    EXPIRE: "let a row expire by itself",
    ANALYSE: "answer SQL queries over a whole table that was loaded in bulk",
    COPY: "be dumped and restored by its own tools",
    GET_ELSEWHERE: "get a row at another node than the one it was written to",
    SYSBENCH: "be driven by sysbench",
}
"""The same, and what a store by itself cannot do: dbdyno asks whole tables and calls tools, only several nodes have
another one, and sysbench has drivers for some."""


class Kind(Enum):
    """How dbdyno conducts a workload; `dbdyno.conduct.kinds` has a module for each."""

    LOAD = "load"
    """Clients of the load client run transactions."""
    PROGRAM = "program"
    """Another program than the load client does that."""
    CRASH = "crash"
    """The store is killed under the load, and then asked for what it acknowledged."""
    ANALYSIS = "analysis"
    """dbdyno loads a table in bulk and asks it one query at a time."""
    COPY = "copy"
    """The store's own tools dump its tables and restore them."""


@dataclass(frozen=True)
class Workload:
    """A workload as it is defined: what it does, the operations it needs, its options with their values, default first.

    An option without values takes any text, one with a range a whole number within it.
    kind: how it is conducted. program: what drives it instead of the load client, if its kind is PROGRAM.
    extras: an operation it needs in addition, if an option has another value than this: option to (value, operation).
    value_extras: an operation it needs in addition, if an option has this value: (option, value) to operation.
    conducted: the options that dbdyno carries out itself; no load client gets them.
    row_bytes: of one row of each of its tables together, their values alone; None if nobody said.
    records: rows of its tables, and entries of their secondary indexes, for each of an experiment's `rows`.
    tables_of: the workload whose tables it uses, if it has none of its own.
    declaration: its tables and transactions, as a plan has them, if an experiment declares it itself.
    """

    name: str
    what: str
    operations: tuple[str, ...]
    options: Mapping[str, tuple[str, ...] | range] = field(default_factory=dict)
    kind: Kind = Kind.LOAD
    program: str | None = None
    extras: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    value_extras: Mapping[tuple[str, str], str] = field(default_factory=dict)
    conducted: tuple[str, ...] = ()
    row_bytes: int | None = None
    records: int = 1
    tables_of: str | None = None
    declaration: JsonObject | None = None

    def values(self, option: str) -> str:
        """Return what an option can be, for a person."""
        values = self.options[option]
        if isinstance(values, range):
            return f"{values[0]} to {values[-1]}"
        return " | ".join(values) or "any text"


ACCESS = {
    "access": ("uniform", "sequential", "zipfian", "latest", "hot-set", "special", "gaussian", "pareto"),
}
"""The option of workloads that choose a row."""

WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("point-get", "fetch one row by its primary key", (GET,), ACCESS, row_bytes=260),
        Workload(
            "secondary-get", "fetch one row by a secondary index", (FIND_SECONDARY,), ACCESS, row_bytes=208, records=2
        ),
        Workload(
            "batch-get",
            "fetch several rows by their primary keys in one request",
            (GET_MANY,),
            {"batch": range(1, 101), "access": ("uniform", "sequential")},
            row_bytes=260,
        ),
        Workload(
            "insert-indexes",
            "insert rows with rising keys; each must then be in the table and in every index",
            (INSERT,),
            {"indexes": ("0", "1", "2", "3")},
            extras={"indexes": ("0", FIND_SECONDARY)},
            row_bytes=16,
        ),
        Workload(
            "trx-lifecycle",
            "read one row in a transaction or none; autocommit, read-only or read-write",
            (GET, TRANSACTION),
            {"transaction": ("autocommit", "read-only", "read-write"), **ACCESS},
            value_extras={("transaction", "read-only"): READ_ONLY},
            row_bytes=260,
        ),
        Workload(
            "tpcc",
            "the five transactions of TPC-C on `rows` warehouses; its consistency conditions are checked",
            (SQL, TRANSACTION),
            row_bytes=73_000_000,
            records=650_000,
        ),
        Workload(
            "linkbench",
            "one of the ten requests of LinkBench on nodes and links; the numbers of links are checked",
            (GET, UPDATE, INSERT, DELETE, SQL, TRANSACTION),
            row_bytes=480,
            records=10,
        ),
        Workload(
            "taobench",
            "one of the four requests of TAOBench on objects and edges",
            (GET, UPDATE, INSERT, SQL, TRANSACTION),
            {"mix": ("a", "o")},
            row_bytes=370,
            records=2,
        ),
        Workload(
            "smallbank",
            "one of the transactions of SmallBank; the money of all accounts is checked",
            (GET, ADD, SUM, FIND_UNIQUE, TRANSACTION),
            {"mix": ("uniform", "payments")},
            row_bytes=60,
            records=4,
        ),
        Workload(
            "point-update",
            "k = k + 1 on one row; the sum of k is checked at the end",
            (ADD, SUM),
            ACCESS,
            row_bytes=260,
        ),
        Workload(
            "game",
            "read a player, change it, look up the account by its e-mail",
            (GET, UPDATE, FIND_UNIQUE),
            ACCESS,
            row_bytes=1850,
            records=3,
        ),
        Workload(
            "oltp",
            "sysbench's oltp set: its tables, statements and defaults",
            (SQL, TRANSACTION),
            {
                "set": (
                    *("read_write", "read_only", "write_only", "point_select", "update_index", "update_non_index"),
                    *("insert", "delete", "select_random_points", "select_random_ranges", "bulk_insert"),
                ),
                **ACCESS,
                "tables": (),
                "range_size": (),
                "point_selects": (),
            },
            row_bytes=196,
            records=2,
        ),
        Workload(
            "db-stress",
            "read an object and its history; one transaction in rw changes the history and keeps its size",
            (SQL, TRANSACTION),
            {"rw": range(2**32), "partitions": range(1, 1025), **ACCESS},
            extras={"partitions": ("1", PARTITION)},
            row_bytes=3450,
            records=21,
        ),
        Workload(
            "replication-lag",
            "write a row at one node and wait for it at another",
            (GET, UPDATE, GET_ELSEWHERE),
            row_bytes=116,
        ),
        Workload(
            "result-cache",
            "repeat the same query of a row, or of sums over several; updates_percent of the transactions change a row",
            (GET, UPDATE),
            {"updates_percent": range(101), "rows_per_result": range(1, 10_001), **ACCESS},
            extras={"rows_per_result": ("1", SUM_RANGE)},
            row_bytes=920,
        ),
        Workload(
            "durability",
            "store pairs of rows until the store is killed; then read back the acknowledged ones",
            (GET, UPDATE),
            {"crash": ("kill", "power-cut", "kill-replica")},
            Kind.CRASH,
            conducted=("crash",),
            row_bytes=216,
            records=2,
        ),
        Workload(
            "air-traffic",
            "load a table of flights in bulk and query it; Q0 to Q10, cold and hot",
            (ANALYSE,),
            {"csv": (), "malformed": ("fail", "skip"), "until": (), "streams": range(1, 9)},
            Kind.ANALYSIS,
        ),
        Workload(
            "wide-rows",
            "load a table of few or many columns in bulk and scan it",
            (ANALYSE,),
            {"layout": ("tinyint", "tinyint-char", "tinyints", "tinyints-varchar")},
            Kind.ANALYSIS,
        ),
        Workload(
            "dump-restore",
            "dump and restore tables by the store's own tools; the copy must be identical",
            (COPY,),
            {"tool": ("sql", "files", "mydumper"), "workers": range(1, 65), "tables": range(1, 17)},
            Kind.COPY,
            row_bytes=196,
            records=2,
            tables_of="oltp",
        ),
        Workload(
            "sysbench",
            "run a Lua script of sysbench by sysbench itself; not verified, timed by sysbench",
            (SYSBENCH,),
            {"script": (), "sysbench": (), "tables": (), "prewarm": ("no", "yes")},
            Kind.PROGRAM,
            SYSBENCH,
            row_bytes=196,
            records=2,
        ),
    )
}
