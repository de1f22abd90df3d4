"""A table of named, typed columns, and what other libraries make of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from dbdyno.errors import UserError
from dbdyno.tables.redaction import redacted

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Kind = Literal["text", "whole", "number", "flag"]
_ARROW = {"text": "string", "whole": "int64", "number": "float64", "flag": "bool_"}


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        name: with its unit last.
        kind: `text`, `whole` (64 bits), `number` (a float) or `flag`. Any may be unknown.
        what: what it holds, for the documentation.
    """

    name: str
    kind: Kind
    what: str


class Table:
    """A table of one or several runs.

    Attributes:
        name: `trials`, `operations`, `seconds`, `observations` or `histograms`.
        columns: its columns, in order.
        values: of each column, by its name; all of one length, `None` or NaN if not known.
    """

    def __init__(self, name: str, columns: Sequence[Column], rows: Iterable[Sequence[Any]]) -> None:
        """Take rows whose values are in the order of `columns`; passwords are taken out of texts."""
        self.name = name
        self.columns = tuple(columns)
        by_column = list(zip(*rows, strict=True)) or [() for _ in self.columns]
        self.values: Mapping[str, Sequence[Any]] = {
            column.name: redacted(values) if column.kind == "text" else values
            for column, values in zip(self.columns, by_column, strict=True)
        }

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.values[self.columns[0].name])

    def __repr__(self) -> str:
        return f"<Table {self.name}: {len(self):,} rows, {len(self.columns)} columns>"

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows, each in the order of `columns`."""
        return zip(*self.values.values(), strict=True)

    def to_arrow(self) -> pyarrow.Table:
        """Return it as a table of Apache Arrow."""
        arrow = import_module("pyarrow")
        schema = arrow.schema([(column.name, getattr(arrow, _ARROW[column.kind])()) for column in self.columns])
        arrays = [
            arrow.array(self.values[column.name], schema.field(column.name).type, from_pandas=True)
            for column in self.columns
        ]
        return arrow.Table.from_arrays(arrays, schema=schema)

    def to_pandas(self) -> pandas.DataFrame:
        """Return it as a data frame of pandas; raises UserError if pandas is not installed."""
        need("pandas")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """Return it as a data frame of Polars; raises UserError if Polars is not installed."""
        frame: polars.DataFrame = need("polars").from_arrow(self.to_arrow())
        return frame


def need(library: str, extra: str | None = None) -> Any:
    """Return a library that comes with an extra, by default of its own name.

    Raises UserError that says how to install it.
    """
    try:
        return import_module(library)
    except ModuleNotFoundError:
        raise UserError(f"{library} is not installed: pip install 'dbdyno[{extra or library}]'") from None
