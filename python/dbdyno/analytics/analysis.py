"""The parts of an analytic workload: a table, the files it is loaded from, and its queries."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path

from dbdyno.analytics.files import Batch, Tell
from dbdyno.analytics.table import Query, Table

Options = Mapping[str, str]


class Analysis(ABC):
    """One analytic workload with its options.

    row_bytes: what a row takes at most, in a file and in a store.
    """

    row_bytes: int

    def __init__(self, options: Options) -> None:
        """Take the options; raises UserError if they name no files, or nothing that there is."""
        self.options = options

    @property
    @abstractmethod
    def table(self) -> Table:
        """The table."""

    @abstractmethod
    def source(self, rows: int, seed: int) -> str:
        """Return where rows come from, in words."""

    def file_bytes(self, rows: int) -> int:
        """Return what so many rows take in files, at most."""
        return self.row_bytes * rows

    @abstractmethod
    def files(self, rows: int, seed: int, folder: Path, tell: Tell) -> Iterator[Batch]:
        """Yield the files, a batch at a time, made in `folder`; whoever takes them removes them."""

    @abstractmethod
    def queries(self, rows: int) -> tuple[Query, ...]:
        """Return what is asked of a table of so many rows."""
