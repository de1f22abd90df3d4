"""The interface for analytic workloads: bulk load, queries, size."""

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dbdyno.analytics.table import Table


class Analyst(ABC):
    """A connection of the store's own driver. Used by one thread, but for `cancel`.

    by: how it loads, for a person.
    """

    by: str

    @property
    def pid(self) -> int:
        """Return the process that the connection is in; of a store without a server, the one that does its work."""
        return os.getpid()

    @property
    @abstractmethod
    def error(self) -> tuple[type[Exception], ...]:
        """The errors that its driver raises."""

    @abstractmethod
    def create(self, table: Table) -> None:
        """Make the empty table."""

    @abstractmethod
    def load(self, table: Table, paths: Sequence[Path]) -> None:
        """Load files in the store's own bulk way: each has a header, and every line ends with a comma."""

    @abstractmethod
    def finish(self, table: Table) -> int:
        """See what was loaded onto the disk, and return the bytes it takes there."""

    @abstractmethod
    def ask(self, sql: str) -> Sequence[Sequence[Any]]:
        """Return all rows of a query."""

    @abstractmethod
    def cancel(self) -> None:
        """End what another thread is waiting for; that raises."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""
