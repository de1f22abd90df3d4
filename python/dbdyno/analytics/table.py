"""A table that is loaded in bulk, and what is asked of it: in words that every store can translate."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """A column, which may be null.

    kind: `integer` (of 32 bits), `tiny` (of 8 bits), `date`, `text` (of at most `length` characters) or `char` (of
    just so many).
    """

    name: str
    kind: str
    length: int = 0

    @property
    def is_text(self) -> bool:
        """Return whether it holds characters."""
        return self.kind in ("text", "char")


@dataclass(frozen=True)
class Table:
    """A table as it is made and loaded: without a key, without an index."""

    name: str
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Query:
    """A query: its name, its question in words, its SQL. columns: how many it reads, if the question is about that."""

    name: str
    what: str
    sql: str
    columns: int | None = None
