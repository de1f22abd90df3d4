"""Several connections that ask a store the same query at once."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from typing import Any

from dbdyno.systems.analyst import Analyst
from dbdyno.systems.base import System

Rows = Sequence[Sequence[Any]]


class Streams:
    """Connections of the store's own driver, each used by its own thread.

    error: what the driver raises.
    """

    def __init__(self, system: System, count: int) -> None:
        """Connect so often; raises RunFailed if the store cannot be reached."""
        self._opened = ExitStack()
        self._analysts: list[Analyst] = []
        with ExitStack() as opened:
            for _ in range(count):
                self._analysts.append(opened.enter_context(closing(system.analyst())))
            self._opened = opened.pop_all()
        self.error = self._analysts[0].error

    @property
    def pid(self) -> int:
        """Return the process that the connections are in."""
        return self._analysts[0].pid

    def ask_once(self, sql: str) -> list[Rows]:
        """Return the rows of a query that the first stream asks alone."""
        return [self._analysts[0].ask(sql)]

    def ask(self, sql: str) -> list[Rows]:
        """Return the rows of a query for each stream, when the last of them has its answer."""
        with ThreadPoolExecutor(len(self._analysts)) as pool:
            return list(pool.map(lambda analyst: analyst.ask(sql), self._analysts))

    def cancel(self) -> None:
        """End what other threads are waiting for; that raises there."""
        for analyst in self._analysts:
            analyst.cancel()

    def close(self) -> None:
        """Close the connections."""
        self._opened.close()
