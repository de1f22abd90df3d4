"""Workloads that an experiment declares itself: tables, statements and transactions (docs/own-workload.md)."""

import re
from collections.abc import Iterable
from math import inf
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from dbdyno.errors import did_you_mean
from dbdyno.experiment.access import UNIFORM, Access, NamedAccess
from dbdyno.experiment.sizes import Size, Sized
from dbdyno.experiment.workloads import (
    ACCESS,
    ADD,
    DELETE,
    EXPIRE,
    FIND_SECONDARY,
    FIND_UNIQUE,
    GET,
    INCREMENT,
    INSERT,
    PUT,
    READ_ONLY,
    SCAN,
    SQL,
    SUM,
    TRANSACTION,
    UPDATE,
    Workload,
)

DECLARED = "declared"
"""The load client's name for a workload whose declaration the plan holds."""
_NUMBERS = {"tinyint": 1, "smallint": 2, "int": 4, "bigint": 8}
"""Kinds of whole numbers, and the bytes of each."""
_WIDE = ("char", "varchar", "unicode", "binary", "json")
"""Kinds of texts and bytes, with their width."""
_KINDS = f"{', '.join(_NUMBERS)}, decimal(digits,scale), double, datetime, {', '.join(f'{kind}(n)' for kind in _WIDE)}"
_TEXTS = {
    **{"padded": 10, "email": 32, "name": 28, "letters": 1, "versioned-letters": 1},
    **{"characters": 1, "bytes": 1, "document": 40},
}
"""Generators of texts and bytes, and the narrowest column that holds any of their values."""
_SIZED = {
    **dict.fromkeys(("padded", "letters", "versioned-letters"), "varchar"),
    **{"bytes": "binary", "document": "json"},
}
"""Generators whose values need not fill their column, and its kind."""
_MAKES = {
    **{generator: ("numbers", (*_NUMBERS, "decimal")) for generator in ("key", "counter", "version")},
    "number": ("numbers", (*_NUMBERS, "decimal", "double")),
    "linear": ("numbers", (*_NUMBERS, "decimal", "double", "datetime")),
    **{generator: ("text", ("char", "varchar")) for generator in ("padded", "email", "name")},
    **{generator: ("text", ("char", "varchar")) for generator in ("letters", "versioned-letters")},
    "characters": ("characters of every script", ("unicode",)),
    "bytes": ("bytes", ("binary",)),
    "document": ("documents", ("json",)),
}
"""The values that a generator makes, in words, and the kinds of columns that they fit."""
_CHARACTER_BYTES = 2.5
"""In UTF-8, of `characters`: 1, 2, 3 and 4 by turns."""
_CHANGING = ("number", "version", "versioned-letters", "characters", "bytes", "document")
_UNIQUE = ("key", "linear", "padded", "email", "name")
_MOST_PARAMETERS = 16
_LONGEST_SCAN = 1000
_LONGEST_TTL_S = 30 * 24 * 3600
"""memcached takes more seconds than these for a date."""
_VERSIONED = ("update", "put", "read-modify-write")
"""Operations that store another version of a row."""
_BY_NUMBER = ("update", "put", "delete")
"""Operations that need no look-up: what a row is filed under follows from its number."""


def _check_kind(text: str) -> str:
    match = re.fullmatch(rf"({'|'.join(_WIDE)})\((\d{{1,5}})\)|decimal\((\d{{1,2}}), ?(\d{{1,2}})\)", text)
    if text in (*_NUMBERS, "double", "datetime") or (match and match[1] and 1 <= int(match[2]) <= 65_535):
        return text
    if match and match[3] and int(match[4]) <= int(match[3]) <= 18:
        return text
    raise ValueError(f"there is no kind '{text}'{did_you_mean(text, _NUMBERS)} The kinds are {_KINDS}")


def _check_name(text: str) -> str:
    if re.fullmatch(r"[a-z][a-z0-9_]{0,39}", text):
        return text
    raise ValueError(f"'{text}': give a name of small letters, digits and _ that begins with a letter, at most 40")


def _check_pad(text: str) -> str:
    if len(text) == 1 and " " <= text <= "~":
        return text
    raise ValueError(f"'{text}': give one character of ASCII")


def _width(kind: str) -> int | None:
    """Return how many characters or bytes a kind holds; None of numbers."""
    return int(kind.partition("(")[2][:-1]) if _family(kind) in _WIDE else None


def _family(kind: str) -> str:
    """Return a kind without its width."""
    return kind.partition("(")[0]


Named = TypeVar("Named")
Kind = Annotated[str, AfterValidator(_check_kind)]
Name = Annotated[str, AfterValidator(_check_name)]
Generator = Literal[
    "key",
    "counter",
    "version",
    "number",
    "linear",
    "padded",
    "email",
    "name",
    "letters",
    "versioned-letters",
    "characters",
    "bytes",
    "document",
]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Column(_Strict):
    """A column and what makes its values; below, first, step and pad are of the generators that take them."""

    name: Name
    kind: Kind
    generator: Generator
    below: Annotated[int, Field(ge=1, lt=1 << 32)] | None = None
    first: int | None = None
    step: int | None = None
    pad: Annotated[str, AfterValidator(_check_pad)] | None = None
    size: Sized | None = None

    @model_validator(mode="after")
    def _fits(self) -> "Column":
        needed = {"number": ("below",), "linear": ("first", "step"), "padded": ("pad",)}.get(self.generator, ())
        for key in ("below", "first", "step", "pad"):
            if (getattr(self, key) is None) == (key in needed):
                says = "needs" if key in needed else "does not take"
                raise ValueError(f"column '{self.name}': the generator '{self.generator}' {says} {key}")
        width, least = _width(self.kind), _TEXTS.get(self.generator)
        makes, kinds = _MAKES[self.generator]
        if _family(self.kind) not in kinds:
            raise ValueError(f"column '{self.name}': '{self.generator}' makes {makes}, no {self.kind}")
        if width is not None and least is not None and width < least:
            raise ValueError(f"column '{self.name}': '{self.generator}' needs {least} characters or more")
        if self.size is not None:
            self._check_size(self.size, width)
        return self

    def _check_size(self, size: Size, width: int | None) -> None:
        if _SIZED.get(self.generator) != _family(self.kind) or width is None:
            texts = ", ".join(generator for generator, kind in _SIZED.items() if kind == "varchar")
            raise ValueError(f"column '{self.name}': only {texts} in a varchar, bytes and documents take a size")
        if width < size.most < inf:
            raise ValueError(f"column '{self.name}': a size of {size.most:g} does not fit into {self.kind}")

    @property
    def value_bytes(self) -> int:
        """Mean size of a value; e-mails and names are shorter than their columns, other texts fill them."""
        width = _width(self.kind)
        if width is not None and self.size is not None:
            return round(min(width, self.size.mean))
        if width is None:
            return _NUMBERS.get(self.kind, 8)
        if self.generator == "characters":
            return round(width * _CHARACTER_BYTES)
        return _TEXTS[self.generator] if self.generator in ("email", "name") else width


class Index(_Strict):
    """An index over some columns, in order."""

    columns: Annotated[list[Name], Field(min_length=1)]
    unique: bool = False


class Table(_Strict):
    """A table of the experiment's number of rows; its first column is the key."""

    name: Name
    columns: Annotated[list[Column], Field(min_length=1)]
    indexes: list[Index] = []

    @model_validator(mode="after")
    def _fits(self) -> "Table":
        if self.columns[0].generator != "key" or sum(column.generator == "key" for column in self.columns) > 1:
            raise ValueError(f"table '{self.name}': the first column, and no other, has the generator 'key'")
        _check_unique(f"columns of '{self.name}'", (column.name for column in self.columns))
        for index in self.indexes:
            for name in index.columns:
                if _family(self.column(name).kind) == "json":
                    raise ValueError(f"table '{self.name}': no index can have the documents of '{name}'")
        return self

    @property
    def is_counter(self) -> bool:
        """True if a row is its key and a number that is counted up, which a cache can do with the number alone."""
        return [column.generator for column in self.columns] == ["key", "counter"] and not self.indexes

    def column(self, name: str) -> Column:
        """Return the column of that name; raises ValueError naming those there are."""
        return _known(f"table '{self.name}' has no column", name, {column.name: column for column in self.columns})


class Statement(_Strict):
    """A prepared statement, put differently in some dialects; columns: the kinds of its answer's.

    rows: how many, fewest and most, it reads or writes.
    """

    name: Name
    sql: str
    dialects: dict[Literal["mysql", "postgres", "sqlite"], str] = {}
    parameters: Annotated[list[dict[str, str | int]], Field(max_length=_MOST_PARAMETERS)] = []
    columns: list[Kind] = []
    rows: Annotated[list[int], Field(min_length=2, max_length=2)] | None = None

    @model_validator(mode="after")
    def _fits(self) -> "Statement":
        for sql in (self.sql, *self.dialects.values()):
            if sql.count("?") != len(self.parameters):
                raise ValueError(
                    f"statement '{self.name}' has {sql.count('?')} times '?' and {len(self.parameters)} parameters"
                )
        for parameter in self.parameters:
            _check_parameter(self.name, parameter)
        return self


def _check_parameter(statement: str, parameter: dict[str, str | int]) -> None:
    """Raise ValueError unless a parameter is one of the three forms."""
    kind = parameter.get("kind")
    forms = [{"column"}, {"column", "offset"}]
    if isinstance(kind, str):
        is_text = _family(_check_kind(kind)) in ("char", "varchar")
        is_number = _width(kind) is None and kind not in ("datetime", "double")
        forms = [{"kind"}] if is_text else [{"kind", "from", "to"}] if is_number else []
    if set(parameter) not in forms or any(
        isinstance(parameter[key], str) != (key in ("column", "kind")) for key in parameter
    ):
        raise ValueError(
            f"statement '{statement}': a parameter is {{column = \"table.column\", offset = 0}}, "
            'or {kind = "int", from = 1, to = 9}, or {kind = "varchar(20)"} for letters'
        )


class Operation(_Strict):
    """One operation of a transaction, about the transaction's key or, with `access`, one of its own."""

    operation: Literal["get", "find", "update", "insert", "put", "delete", "scan", "read-modify-write", "add", "sql"]
    table: str | None = None
    column: str | None = None
    by: int | None = None
    statement: str | None = None
    access: NamedAccess | None = None
    ttl_s: Annotated[int, Field(ge=1, le=_LONGEST_TTL_S)] | None = None
    length: Sized | None = None

    @model_validator(mode="after")
    def _fits(self) -> "Operation":
        needed = {"sql": ("statement",), "find": ("table", "column"), "add": ("table", "column")}
        takes = needed.get(self.operation, ("table",))
        for key in ("table", "column", "statement"):
            if (getattr(self, key) is None) == (key in takes):
                raise ValueError(
                    f"the operation '{self.operation}' {'needs' if key in takes else 'does not take'} {key}"
                )
        for key, of in (("by", "add"), ("ttl_s", "put"), ("length", "scan")):
            if getattr(self, key) is not None and self.operation != of:
                raise ValueError(f"the operation '{self.operation}' does not take {key}")
        if self.operation == "scan" and self.length is None:
            raise ValueError("the operation 'scan' needs length, e.g. length = 100")
        if self.length is not None and _LONGEST_SCAN < self.length.most < inf:
            raise ValueError(f"a 'scan' reads at most {_LONGEST_SCAN:,} rows, and length has {self.length.most:g}")
        return self

    @property
    def steps(self) -> list[str]:
        """The name in reports for it and its parts, unless it is a statement, which has a name."""
        verbs = ["get", "update"] if self.operation == "read-modify-write" else [self.operation]
        ttl = f"ttl_{self.ttl_s}" if self.ttl_s else None
        return ["_".join(filter(None, (verb, self.table, self.column, ttl))) for verb in verbs]


class Transaction(_Strict):
    """Some operations that come as often as they weigh. within: begun and committed, or each on its own."""

    name: Name
    weight: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    access: NamedAccess | None = None
    within: Literal["read-only", "read-write"] | None = None
    operations: Annotated[list[Operation], Field(min_length=1)]


class OwnWorkload(_Strict):
    """A workload of an experiment's own. what: it in a few words. access: which rows, if nothing else is said."""

    what: str = ""
    access: NamedAccess = UNIFORM
    tables: Annotated[list[Table], Field(min_length=1)]
    statements: list[Statement] = []
    transactions: Annotated[list[Transaction], Field(min_length=1)]

    @model_validator(mode="after")
    def _fits(self) -> "OwnWorkload":
        _check_unique("tables", (table.name for table in self.tables))
        steps = {"begin", "begin_read_only", "commit"} | {
            step for operation in self._operations() if operation.table for step in operation.steps
        }
        transactions = (transaction.name for transaction in self.transactions)
        statements = (statement.name for statement in self.statements)
        _check_unique("names of operations, transactions and statements", (*steps, *transactions, *statements))
        for statement in self.statements:
            for parameter in statement.parameters:
                if "column" in parameter:
                    self._check_column_parameter(statement.name, str(parameter["column"]))
            for table in re.findall(r"\{(\w*)\}", statement.sql):
                self._table(table)
        for operation in self._operations():
            self._check_operation(operation)
        return self

    def _table(self, name: str) -> Table:
        return _known("there is no table", name, {table.name: table for table in self.tables})

    def _operations(self) -> list[Operation]:
        return [operation for transaction in self.transactions for operation in transaction.operations]

    def _check_column_parameter(self, statement: str, column: str) -> None:
        table, _, name = column.partition(".")
        if self._table(table).column(name).generator in _CHANGING:
            raise ValueError(f"statement '{statement}': '{column}' changes, so there is no value to look for")

    def _check_operation(self, operation: Operation) -> None:
        if operation.statement is not None:
            _known("there is no statement", operation.statement, {known.name: known for known in self.statements})
            return
        table = self._table(operation.table or "")
        generators = [column.generator for column in table.columns]
        if operation.operation in _VERSIONED and "version" not in generators:
            raise ValueError(f"table '{table.name}': it is updated, so a column must have the generator 'version'")
        if operation.operation == "add" and (other := self._replaces(table.name)):
            raise ValueError(f"table '{table.name}': it has '{other}', so no sum can check its 'add'")
        if operation.column is None:
            return
        generator = table.column(operation.column).generator
        if operation.operation == "add" and generator != "counter":
            raise ValueError(f"column '{operation.column}': it is added to, so its generator must be 'counter'")
        if operation.operation == "find" and generator not in _UNIQUE:
            unique = ", ".join(_UNIQUE)
            raise ValueError(f"column '{operation.column}': it is looked up, so its generator must be {unique}")

    def _replaces(self, table: str) -> str | None:
        """Return an operation on a table that takes away what was added, or None."""
        operations = (operation.operation for operation in self._operations() if operation.table == table)
        return next((operation for operation in operations if operation in ("put", "delete")), None)

    def _needed(self) -> Iterable[str]:
        """Yield what it needs of a store."""
        of = {
            **{"get": (GET,), "update": (UPDATE,), "insert": (INSERT,), "put": (PUT,), "delete": (DELETE,)},
            **{"scan": (SCAN,), "read-modify-write": (GET, UPDATE), "add": (ADD, SUM), "sql": (SQL,)},
        }
        for operation in self._operations():
            if operation.operation == "find":
                yield FIND_UNIQUE if self._is_filed_under(operation) else FIND_SECONDARY
            # memcached counts a number up, and down only to 0.
            is_up = operation.operation == "add" and (operation.by or 1) > 0
            if is_up and self._table(operation.table or "").is_counter:
                yield INCREMENT
            else:
                yield from of.get(operation.operation, ())
            if operation.ttl_s is not None:
                yield EXPIRE
            if operation.operation == "insert" and self._table(operation.table or "").indexes:
                # A store without indexes would take the row and leave them out.
                yield FIND_SECONDARY
        within = {transaction.within for transaction in self.transactions} - {None}
        if within:
            yield TRANSACTION
        # Beside read-write ones the load client leaves the words out for a server that lacks them.
        if within == {"read-only"}:
            yield READ_ONLY

    def _is_filed_under(self, find: Operation) -> bool:
        """Return whether the table's rows are only ever looked up by this column, which has a unique index."""
        of_table = [operation for operation in self._operations() if operation.table == find.table]
        same = [operation for operation in of_table if operation.operation not in _BY_NUMBER]
        indexes = self._table(find.table or "").indexes
        is_unique = any(index.unique and index.columns == [find.column] for index in indexes)
        return is_unique and all(operation.column == find.column for operation in same)

    def as_workload(self, name: str) -> Workload:
        """Return what it asks of a store and which options it takes."""
        row_bytes = sum(column.value_bytes for table in self.tables for column in table.columns)
        records = sum(1 + len(table.indexes) for table in self.tables)
        operations = tuple(dict.fromkeys(self._needed()))
        declaration = self.model_dump(exclude={"what"}, exclude_none=True)
        return Workload(
            name, self.what, operations, ACCESS, row_bytes=row_bytes, records=records, declaration=declaration
        )


KEYS: dict[str, type[BaseModel]] = {
    "tables": Table,
    "columns": Column,
    "indexes": Index,
    "statements": Statement,
    "transactions": Transaction,
    "operations": Operation,
    "access": Access,
    "size": Size,
    "length": Size,
}
"""The types of the entries of each list in an own workload, and of its tables."""


def _known(what: str, name: str, there: dict[str, Named]) -> Named:
    """Return what has this name; raises ValueError naming those there are."""
    if name in there:
        return there[name]
    raise ValueError(f"{what} '{name}'{did_you_mean(name, there)} There are {', '.join(there) or 'none'}")


def _check_unique(what: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"{what}: '{name}' is listed twice")
        seen.add(name)
