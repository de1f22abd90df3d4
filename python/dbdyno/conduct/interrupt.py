"""Ctrl-C, SIGTERM and the end of the terminal: one orderly way to end a run early."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """Turns signals into the end of the trial that runs; a context manager for the time of a run.

    While a load client runs, a signal is passed on to it, and it ends by itself with what it recorded. At any other
    time it becomes a KeyboardInterrupt. requested: True from the first signal on.
    """

    def __init__(self) -> None:
        self.requested = False
        self._load_client: int | None = None
        self._only_noted = False

    def __enter__(self) -> "Interrupts":
        # nohup has the end of the terminal ignored.
        ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        numbers = [number for number in _SIGNALS if not (ignored and number == signal.SIGHUP)]
        self._before = {number: signal.signal(number, self._handle) for number in numbers}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def passed_to(self, pid: int) -> Iterator[None]:
        """Pass signals on to the load client `pid` inside."""
        self._load_client = pid
        try:
            yield
        finally:
            self._load_client = None

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Only note signals inside, for who waits for threads and asks `requested`.

        An exception that comes into the middle of threading's own locks leaves them broken.
        """
        self._only_noted = True
        try:
            yield
        finally:
            self._only_noted = False

    def only_note(self) -> None:
        """Only note signals from now on: all is recorded, and what is left to do ends by itself."""
        self._only_noted = True

    def _handle(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self.requested = True
        if self._only_noted:
            return
        if self._load_client is None:
            raise KeyboardInterrupt
        with suppress(ProcessLookupError):
            os.kill(self._load_client, signal.SIGINT)
