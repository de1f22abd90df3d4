"""An analyst in its own process: a store that crashes, leaks or never stops ends that process, not dbdyno.

It is also what a restart is for a store without a server: a new process has nothing of the store in its memory.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbdyno.analytics.table import Table
from dbdyno.later import LaterModule
from dbdyno.systems.analyst import Analyst
from dbdyno.systems.running.process import STOP_TIMEOUT_S, describe_exit

if TYPE_CHECKING:
    import multiprocessing
    from multiprocessing.connection import Connection
else:
    multiprocessing = LaterModule("multiprocessing")


class ChildFailed(Exception):
    """The error that the store raised in the child, in its words, or how the child ended."""


class ChildAnalyst(Analyst):
    """The analyst `kind` of `module`, in a new process whose working directory is the store's `folder`.

    It is made there with `folder` and `arguments`. Raises ChildFailed if it cannot be made.
    """

    error = (ChildFailed,)

    def __init__(self, module: str, kind: str, folder: Path, *arguments: Any) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, (module, kind), folder, arguments), daemon=True)
        self._process.start()
        theirs.close()
        self.by = self._receive()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None, "it was started when the analyst was made"
        return self._process.pid

    def create(self, table: Table) -> None:
        self._call("create", table)

    def load(self, table: Table, paths: Sequence[Path]) -> None:
        self._call("load", table, paths)

    def finish(self, table: Table) -> int:
        size_bytes: int = self._call("finish", table)
        return size_bytes

    def ask(self, sql: str) -> Sequence[Sequence[Any]]:
        rows: Sequence[Sequence[Any]] = self._call("ask", sql)
        return rows

    def cancel(self) -> None:
        self._process.kill()

    def close(self) -> None:
        # A child that was killed has nothing to close.
        with suppress(ChildFailed):
            self._call("close")
        self._process.join(STOP_TIMEOUT_S)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._pipe.close()

    def _call(self, verb: str, *arguments: Any) -> Any:
        with suppress(BrokenPipeError):
            self._pipe.send((verb, arguments))
        return self._receive()

    def _receive(self) -> Any:
        try:
            failed, said = self._pipe.recv()
        except (EOFError, OSError):
            self._process.join(STOP_TIMEOUT_S)
            raise ChildFailed(f"its process {describe_exit(self._process.exitcode or 0)}") from None
        if failed:
            raise ChildFailed(said)
        return said


def serve(pipe: Connection, name: tuple[str, str], folder: Path, arguments: tuple[Any, ...]) -> None:
    """Make an analyst and do what is asked of it through a pipe, until it is closed or nobody asks any more."""
    # A terminal's Ctrl-C reaches it too, and who started it ends it; a directory is what the guard finds it by.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.chdir(folder)
    _silence()
    # The caller may have ended: then there is nothing left to do.
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        failed, made = _answer(_make, name, folder, arguments)
        pipe.send((failed, made if failed else made.by))
        verb = ""
        while not failed and verb != "close":
            verb, given = pipe.recv()
            pipe.send(_answer(getattr(made, verb), *given))


def _make(name: tuple[str, str], folder: Path, arguments: tuple[Any, ...]) -> Any:
    module, kind = name
    return getattr(import_module(module), kind)(folder, *arguments)


def _answer(do: Callable[..., Any], *arguments: Any) -> tuple[bool, Any]:
    """Return whether it failed, and what it returned or said."""
    try:
        return False, do(*arguments)
    except Exception as error:  # whatever a store's library raises is what it has to say
        return True, " ".join(str(error).split())[:1000] or type(error).__name__


def _silence() -> None:
    """Have what a library prints go nowhere: the output is dbdyno's."""
    sys.stdout.flush()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(1, 2)
