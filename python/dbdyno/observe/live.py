"""Observes a server for a screen, with the samplers of a trial: samples go to whoever waits for them."""

from collections.abc import Mapping
from pathlib import Path
from queue import SimpleQueue

from dbdyno.contract import JsonObject
from dbdyno.observe.observer import Observed, Observer, Rows


class LiveObserver(Observer):
    """Observes until it is stopped, and keeps nothing. samples: one a second, as they are taken."""

    def __init__(self, observed: Observed) -> None:
        """Connect, and look what can be seen."""
        super().__init__(observed, Path())
        self.samples: SimpleQueue[Mapping[str, float]] = SimpleQueue()

    def rows(self) -> Rows:
        """Return where samples go."""
        return _Queued(self.samples)


class _Queued:
    def __init__(self, queue: SimpleQueue[Mapping[str, float]]) -> None:
        self._queue = queue

    def append_object(self, content: JsonObject) -> None:
        self._queue.put(content)

    def close(self) -> None:
        return
