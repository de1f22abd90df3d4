"""Stacks of a keeper's server: recorded as on one host, and handed to the conductor piece by piece."""

from collections.abc import Mapping
from contextlib import ExitStack

from dbdyno.errors import UserError
from dbdyno.hosts.channel import Message
from dbdyno.observe.stacks.window import Window
from dbdyno.systems.running.guard import Guard

PIECE = 1 << 20
"""Characters of a file that one answer has."""


class Recorder:
    """One recording on this host, from its begin until it is closed."""

    def __init__(self, guard: Guard, pids: Mapping[str, int], seconds: float) -> None:
        """Begin to record processes, by the names of their stacks, for so many seconds."""
        self._open = ExitStack()
        self._folder = self._open.enter_context(guard.scratch())
        self._window = self._open.enter_context(Window(guard.tell, pids, self._folder, seconds))
        self._stacks: frozenset[str] = frozenset()
        self._window.begin()

    @property
    def is_over(self) -> bool:
        """Return whether the recording has ended."""
        return self._window.is_over

    def end(self) -> Message:
        """Wait for the end; returns what is said of each stack, what failed, and the processors' events."""
        stacks, failed = self._window.write(self._folder)
        self._stacks = frozenset(stacks)
        return {"stacks": stacks, "failed": failed, "events_per_s": self._window.events_per_s()}

    def read(self, stack: str, begin: int) -> str:
        """Return a piece of the folded stacks of that name, from a character on; empty behind the last."""
        if stack not in self._stacks:
            raise UserError(f"no stacks '{stack}' were recorded")
        with (self._folder / f"{stack}.folded").open(encoding="utf-8") as file:
            file.read(begin)
            return file.read(PIECE)

    def close(self) -> None:
        """End it and remove what it recorded."""
        self._open.close()
