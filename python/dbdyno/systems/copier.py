"""The interface for copies of a database by the store's own tools: how to call them, and what they report."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

COPY_NAME = "dbdyno_copy"
"""The database that is restored into, beside the original."""

Row = tuple[bytes | str | None, ...]
"""A row's values as the store sends them, nothing rounded and no text converted; the first is the key, a number."""


@dataclass(frozen=True)
class Tool:
    """A way to dump and restore.

    programs: what it calls, the first dumps. package: of the host that has them. parallel: if it takes several workers.
    """

    programs: tuple[str, ...]
    package: str
    parallel: bool = True


@dataclass(frozen=True)
class Call:
    """A program to be run to its end.

    table: the one it deals with, or None for all. reads, writes: files that are its stdin and stdout.
    """

    argv: list[str]
    table: str | None = None
    reads: Path | None = None
    writes: Path | None = None


@dataclass(frozen=True)
class Stage:
    """Calls that may run side by side, so many at once; the next stage begins when all have ended."""

    calls: Sequence[Call]
    at_once: int = 1


class Copier(ABC):
    """A connection of the store's own driver, and the calls of a tool. Used by one thread at a time.

    home: the folder that the programs run in.
    as_server: if they are to run as the user that servers run as, which must reach the same files.
    """

    home: Path
    as_server: bool = True

    @property
    @abstractmethod
    def error(self) -> tuple[type[Exception], ...]:
        """The errors that its driver raises."""

    @abstractmethod
    def tables(self, of_copy: bool) -> list[str]:
        """Return the names of all tables, sorted."""

    @abstractmethod
    def count(self, table: str) -> int:
        """Return how many rows the original has."""

    @abstractmethod
    def create(self) -> Path:
        """Make an empty database to restore into, and return an empty folder for the dump."""

    @abstractmethod
    def dump(self, tables: Sequence[str], folder: Path) -> list[Stage]:
        """Return what dumps the tables to files in the folder, made by `create`."""

    @abstractmethod
    def restore(self, tables: Sequence[str], folder: Path) -> list[Stage]:
        """Return what makes them again in the empty database."""

    @abstractmethod
    def definition(self, table: str, of_copy: bool) -> list[str]:
        """Return what columns, keys and indexes a table has, in words that do not depend on the database."""

    def portable_definition(self, table: str, of_copy: bool) -> list[str]:
        """Return the same in words that do not depend on the server's version either."""
        return self.definition(table, of_copy)

    @abstractmethod
    def rows(self, table: str, of_copy: bool) -> Iterable[Row]:
        """Yield all rows by their key, rising; whoever asks reads two of these at the same time."""

    @abstractmethod
    def drop(self) -> None:
        """Remove the copy and the dump."""

    @abstractmethod
    def close(self) -> None:
        """Close its connections."""
