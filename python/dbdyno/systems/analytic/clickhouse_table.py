"""The common parts of ClickHouse's forms: a table's SQL, and the rows of an answer.

A file's values are read as text and converted by the store: `-4.00` is no integer to it, and an empty value no null.
"""

import json
from collections.abc import Sequence
from datetime import date
from typing import Any

from dbdyno.analytics.table import Column, Table

_TYPES = {"integer": "Int32", "tiny": "Int8", "date": "Date", "text": "String", "char": "String"}
_NUMBERS = {"integer": "toInt32", "tiny": "toInt8"}


def create(table: Table) -> str:
    """Return the statement that makes the table, without a sorting key, as the others have none."""
    columns = ", ".join(f"`{column.name}` Nullable({_TYPES[column.kind]})" for column in table.columns)
    return f"CREATE TABLE {table.name} ({columns}) ENGINE = MergeTree ORDER BY tuple()"


def lines(table: Table) -> str:
    """Return the columns of a file: each value as text, and what is behind the last comma."""
    return ", ".join(f"s{number} String" for number in range(len(table.columns) + 1))


def converted(table: Table) -> str:
    """Return the expressions that turn a line of `lines` into a row of the table."""
    return ", ".join(
        f"{_convert(column, f's{position}')} AS `{column.name}`" for position, column in enumerate(table.columns)
    )


def _convert(column: Column, text: str) -> str:
    if number := _NUMBERS.get(column.kind):
        return f"{number}(toFloat64OrNull({text}))"
    return f"toDateOrNull({text})" if column.kind == "date" else f"nullIf({text}, '')"


def rows(answer: str) -> Sequence[Sequence[Any]]:
    """Return the rows of an answer in the format JSONCompact; dates come as text."""
    if not answer.strip():
        return ()
    document = json.loads(answer)
    readers = [date.fromisoformat if "Date" in column["type"] else None for column in document["meta"]]
    return [
        tuple(
            reader(value) if reader and value is not None else value for reader, value in zip(readers, row, strict=True)
        )
        for row in document["data"]
    ]
