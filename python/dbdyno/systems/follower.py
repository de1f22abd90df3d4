"""A replica beside its primary: whether it has applied what the primary had committed."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from dbdyno.errors import RunFailed

if TYPE_CHECKING:
    from dbdyno.systems.running.endpoint import Endpoint

POLL_S = 0.1


class Questions(NamedTuple):
    """Two questions of SQL, each answered by one value.

    last: the position up to which the primary has committed. applied: 1 if a replica has applied that position, `{}`.
    """

    last: str
    applied: str


class Follower(ABC):
    """A replica and its primary. Every method raises RunFailed if one of both does not answer.

    name: of the replica, as in `server_pids`. It is connected only while it is asked: the servers count their
    connections, and dbdyno takes these for the load's.
    """

    def __init__(self, name: str, primary: Endpoint, replica: Endpoint, questions: Questions) -> None:
        """Take where both answer; nothing is connected yet."""
        self.name = name
        self._endpoints, self._questions = (primary, replica), questions
        self._connections: list[Any] = []

    @contextmanager
    def connected(self) -> Iterator[None]:
        """Connect to both meanwhile."""
        with ExitStack() as closing:
            for endpoint in self._endpoints:
                self._connections.append(closing.enter_context(self._connect(endpoint)))
            try:
                yield
            finally:
                self._connections.clear()

    def position(self) -> str:
        """Return the position up to which the primary has committed."""
        return str(self._answer(self._connections[0], self._questions.last)).replace("\n", "")

    def has(self, position: str) -> bool:
        """Return whether the replica has applied all up to a position."""
        return bool(self._answer(self._connections[1], self._questions.applied.format(position)))

    def catch_up(self, patience_s: float) -> None:
        """Wait until the replica has applied what the primary has committed by now; raises RunFailed if it does not."""
        deadline = time.monotonic() + patience_s
        with self.connected():
            position = self.position()
            while not self.has(position):
                if time.monotonic() > deadline:
                    raise RunFailed(f"{self.name} did not catch up within {patience_s:.0f} s")
                time.sleep(POLL_S)

    @abstractmethod
    @contextmanager
    def _connect(self, endpoint: Endpoint) -> Iterator[Any]:
        """Connect meanwhile, with a time-out for every answer."""

    @abstractmethod
    def _answer(self, connection: Any, question: str) -> Any:
        """Return the value that answers a question."""
