"""A program that an event runs beside the load of a trial: the statements of an experiment, or a tool of the store."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dbdyno.systems.running.memory import limit_memory

MEMORY_BYTES = 128 << 20
"""Memory for the answers to a statement, which drivers hold whole: somebody else's server may send without an end."""
Statement = Callable[[], Sequence[str]]
"""Connects, executes, and returns the lines that the server answered; it can be pickled."""
_PROGRAM = "import sys; from dbdyno.systems.errand import main; main()"


@dataclass(frozen=True)
class Errand:
    """A program and what it is given.

    stdin: what it reads first. It may hold a password, which is neither an argument nor in the environment.
    waits: it then waits for the end of its input, so that it can be started early and begin on time.
    home: the folder that it runs in, or None for that of dbdyno. as_server: as the user that servers run as.
    leaves: a file or folder that it writes and that is of no use afterwards.
    """

    argv: Sequence[str]
    stdin: bytes = field(default=b"", repr=False)
    waits: bool = False
    home: Path | None = None
    as_server: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    leaves: Path | None = None


def statement_errand(statement: Statement, modules: tuple[str, ...]) -> Errand:
    """Return what executes a statement in its own process, which can be ended at any time.

    modules: what to load before it begins.
    """
    # -P: what lies in the folder dbdyno is called from must not be taken for a library.
    argv = [sys.executable, "-P", "-c", _PROGRAM]
    return Errand(argv, pickle.dumps((modules, statement)), waits=True)


def main() -> None:
    """Execute the statement on the input when that ends; print what was answered, and end with 1 if it failed."""
    modules, statement = pickle.load(sys.stdin.buffer)
    for module in modules:
        __import__(module)
    limit_memory(MEMORY_BYTES)
    sys.stdin.buffer.read()
    try:
        for line in statement():
            print(line)
    except MemoryError:
        sys.exit(f"the answer takes more than {MEMORY_BYTES >> 20} MiB: select less")
    except Exception as error:  # Whatever a driver raises is what the server said.
        sys.exit(" ".join(str(error).split()) or type(error).__name__)
