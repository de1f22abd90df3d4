"""The built-in workloads: what each asks of a store, and the options it takes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import product

from dbdyno.errors import did_you_mean
from dbdyno.experiment.bounds import cut

GET = "get"
GET_MANY = "get-many"
INSERT = "insert"
TRANSACTION = "transaction"
UPDATE = "update"
ADD = "add"
FIND_UNIQUE = "find-unique"
FIND_SECONDARY = "find-secondary"
SUM = "sum"
SQL = "sql"
PARTITION = "partition"
ANALYSE = "analyse"
COPY = "copy"
GET_ELSEWHERE = "get-elsewhere"
SYSBENCH = "sysbench"

OPERATIONS = {
    GET: "get a row by its primary key",
    GET_MANY: "get several rows by their primary keys in one request",
    UPDATE: "store a changed row back",
    ADD: "add to a column in place",
    INSERT: "insert a row",
    TRANSACTION: "begin and commit a transaction of several operations",
    FIND_UNIQUE: "find a row by a unique column",
    FIND_SECONDARY: "find rows by a secondary index",
    SUM: "sum a column over the table",
    SQL: "run prepared SQL statements of the workload's own",
    PARTITION: "keep a table in partitions by a hash of its key",
}
"""The logical operations on which workloads and stores meet, and what each is for a person."""

WORDS = {
    **OPERATIONS,
    ANALYSE: "answer SQL queries over a whole table that was loaded in bulk",
    COPY: "be dumped and restored by tools of its own",
    GET_ELSEWHERE: "get a row at another node than the one it was written to",
    SYSBENCH: "be driven by sysbench",
}
"""The same, and what a store by itself cannot do: dbdyno asks whole tables and calls tools, only several nodes have
another one, and sysbench has drivers for some."""


@dataclass(frozen=True)
class Workload:
    """A built-in workload: what it does, the operations it needs, its options with their values, default first.

    An option without values takes any text, one with a range a whole number within it.
    extras: what a store must do beside, as soon as an option has another than this value: option to (value, operation).
    conducted: those of the options that dbdyno carries out itself, and no load client is told.
    row_bytes: of one row of each of its tables together, their values alone; None where nobody said.
    records: rows of its tables, and entries of their secondary indexes, for each of an experiment's `rows`.
    tables_of: the workload whose tables it is about, where these are not its own.
    """

    name: str
    what: str
    operations: tuple[str, ...]
    options: Mapping[str, tuple[str, ...] | range] = field(default_factory=dict)
    extras: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    conducted: tuple[str, ...] = ()
    row_bytes: int | None = None
    records: int = 1
    tables_of: str | None = None

    def values(self, option: str) -> str:
        """Return what an option can be, for a person."""
        values = self.options[option]
        if isinstance(values, range):
            return f"{values[0]} to {values[-1]}"
        return " | ".join(values) or "any text"

    @property
    def analytic(self) -> bool:
        """Whether it loads a table and asks it some queries, in the place of transactions of clients."""
        return ANALYSE in self.operations

    @property
    def program(self) -> str | None:
        """What drives it in the place of the load client that an experiment names; None where that does."""
        return SYSBENCH if SYSBENCH in self.operations else None

    @property
    def crashes(self) -> bool:
        """Whether its store is killed under the load, and asked afterwards for what it acknowledged."""
        return "crash" in self.options

    @property
    def copying(self) -> bool:
        """Whether it dumps and restores tables, in the place of transactions of clients."""
        return COPY in self.operations

    def given(self, options: Mapping[str, str]) -> "Workload":
        """Return the same workload with all the operations that it needs with these options."""
        more = [operation for key, (usual, operation) in self.extras.items() if options.get(key, usual) != usual]
        return replace(self, operations=(*self.operations, *more))


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
            "insert rows with rising keys; all must then be in the table and in each index",
            (INSERT,),
            {"indexes": ("0", "1", "2", "3")},
            extras={"indexes": ("0", FIND_SECONDARY)},
            row_bytes=16,
        ),
        Workload(
            "trx-lifecycle",
            "read one row as autocommit, in a read-only or in a read-write transaction",
            (GET, TRANSACTION),
            {"transaction": ("autocommit", "read-only", "read-write"), **ACCESS},
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
            {"partitions": ("1", PARTITION)},
            row_bytes=3450,
            records=21,
        ),
        Workload(
            "replication-lag",
            "write a row at one node, and get it at another until it is seen there",
            (GET, UPDATE, GET_ELSEWHERE),
            row_bytes=116,
        ),
        Workload(
            "result-cache",
            "ask one and the same query again and again; now and then (updates_percent) change its row",
            (GET, UPDATE),
            {"updates_percent": range(101), "access": ("uniform", *ACCESS["access"][1:])},
            row_bytes=920,
        ),
        Workload(
            "durability",
            "store pairs of rows until the store is killed; what it acknowledged is then read back",
            (GET, UPDATE),
            {"crash": ("kill", "power-cut")},
            conducted=("crash",),
            row_bytes=216,
            records=2,
        ),
        Workload(
            "air-traffic",
            "load a table of flights in bulk, and ask it queries Q0 to Q10, cold and hot",
            (ANALYSE,),
            {"csv": (), "malformed": ("fail", "skip"), "until": ()},
        ),
        Workload(
            "wide-rows",
            "load a table of few or of many columns in bulk, and scan all of it",
            (ANALYSE,),
            {"layout": ("tinyint", "tinyint-char", "tinyints", "tinyints-varchar")},
        ),
        Workload(
            "dump-restore",
            "dump the tables of oltp and restore them beside, by the store's own tools; the copy is proved identical",
            (COPY,),
            {"tool": ("sql", "files", "mydumper"), "workers": range(1, 65), "tables": range(1, 17)},
            row_bytes=196,
            records=2,
            tables_of="oltp",
        ),
        Workload(
            "sysbench",
            "a Lua script of sysbench, run by sysbench: what it reads is not verified, and it takes the times",
            (SYSBENCH,),
            {"script": (), "sysbench": (), "tables": (), "prewarm": ("no", "yes")},
            row_bytes=196,
            records=2,
        ),
    )
}


def split_variant(text: str) -> tuple[str, dict[str, str]]:
    """Return the name and the options of `batch-get?batch=10&access=uniform`; raises ValueError if it is none such."""
    name, _, query = text.partition("?")
    pairs = [pair.partition("=") for pair in query.split("&")] if query else []
    if wrong := [key for key, equals, _ in pairs if not equals]:
        raise ValueError(
            f"workload {cut(repr(text))}: write options as in 'batch-get?batch=10', not {cut(repr(wrong[0]))}"
        )
    return name, {key: value for key, _, value in pairs}


def variants(names: Iterable[str], choices: Mapping[str, Iterable[str]]) -> list[str]:
    """Return every workload of `names` with every combination of the choices: `batch-get?batch=10`."""
    chosen = [
        "&".join(f"{key}={value}" for key, value in zip(choices, one, strict=True))
        for one in product(*choices.values())
    ]
    return [name + ("&" if "?" in name else "?") + options for name in names for options in chosen]


def find_workload(text: str, others: Iterable[str] = ()) -> Workload:
    """Return the workload of that name, which options may follow; raises ValueError naming those there are.

    others: names that are known beside the built-in ones.
    """
    name, _ = split_variant(text)
    if name in WORKLOADS:
        return WORKLOADS[name]
    known = [*WORKLOADS, *others]
    raise ValueError(
        f"there is no workload {cut(repr(name))}{did_you_mean(name, known)} The workloads are {', '.join(known)}"
    )


def check_options(workload: Workload, options: Mapping[str, str]) -> None:
    """Raise ValueError if the workload does not take one of `options`, saying what it takes."""
    for key, value in options.items():
        accepted = workload.options.get(key)
        if accepted is None:
            takes = f"it takes {', '.join(workload.options)}" if workload.options else "it takes none"
            raise ValueError(f"the workload '{workload.name}' has no option {cut(repr(key))}; {takes}")
        if not value.isprintable():
            raise ValueError(f"option {key} = {cut(repr(value))}: has no line breaks and no control characters")
        if isinstance(accepted, range):
            if not (value.isdecimal() and len(value) <= len(str(accepted[-1])) and int(value) in accepted):
                raise ValueError(f"option {key} = '{cut(value)}' of '{workload.name}': give {workload.values(key)}")
        elif accepted and value not in accepted:
            raise ValueError(f"option {key} = '{cut(value)}' of '{workload.name}': give one of {', '.join(accepted)}")


def missing_operations(workload: Workload, operations: Iterable[str]) -> list[str]:
    """List what the workload needs and a store with `operations` cannot do."""
    return [operation for operation in workload.operations if operation not in operations]
