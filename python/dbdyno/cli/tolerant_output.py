"""Streams that keep accepting output after their reader has gone or their disk is full, so that the run goes on."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO


class TolerantStream:
    """A text stream that takes whatever is written to it, also when what is behind it takes no more.

    stream: of a file, pipe or terminal. rich_proxied_file: where rich writes, beside what makes text printable.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        beside = getattr(stream, "rich_proxied_file", None)
        self.rich_proxied_file = TolerantStream(beside) if beside else self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text and return its length."""
        try:
            self._stream.write(text)
        except OSError as error:
            self._let_go(error)
        return len(text)

    def flush(self) -> None:
        """Write what was kept back."""
        try:
            self._stream.flush()
        except OSError as error:
            self._let_go(error)

    def _let_go(self, error: OSError) -> None:
        """Send what could not be written, and all that comes, nowhere; a full disk is said, a reader gone is not."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)
        if not isinstance(error, BrokenPipeError):
            print(f"dbdyno: no more can be printed: {error.strerror}; the run goes on", file=sys.stderr)


@contextmanager
def outputs_may_end() -> Iterator[None]:
    """Have stdout and stderr last: `dbdyno run … | head -1` must not lose a run of an hour."""
    out, err = (TolerantStream(stream) if stream else None for stream in (sys.stdout, sys.stderr))
    with redirect_stdout(out), redirect_stderr(err):
        yield
