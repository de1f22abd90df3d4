"""A child process that asks somebody else's server: with little memory, and a deadline for every answer.

Six client libraries read what the server sends, and none bounds it: lengths, nesting and bytes that trickle end this
process, not dbdyno. It is given an object, and calls its methods.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from importlib import import_module
from socket import socketpair
from typing import TYPE_CHECKING, Any

from dbdyno.errors import DbdynoError, RunFailed
from dbdyno.later import LaterModule
from dbdyno.systems.running.memory import limit_memory
from dbdyno.systems.running.process import describe_exit

if TYPE_CHECKING:
    from multiprocessing import connection
else:
    connection = LaterModule("multiprocessing.connection")

MEMORY_BYTES = 32 << 20
"""Memory for answers beside the loaded libraries; the longest list of settings takes a tenth of a MiB."""
STACK_BYTES = 1 << 20
"""Stack size of each thread of a library; the usual 8 MiB count as memory."""
IMPORT_TIMEOUT_S = 60.0
"""A busy host takes long to load libraries, and no server has been asked by then."""
MESSAGE_CHARACTERS = 300
KILL_TIMEOUT_S = 2.0
_PROGRAM = "import sys; from dbdyno.systems.running.child import main; main(sys.argv[1:])"
_SECRET_VARIABLE = "DBDYNO_PASSWORD"


class Unbounded(RunFailed):
    """A server took longer than an answer may, or sent more."""


class Child:
    """A child process with an object in it, which threads call side by side, each by its own line."""

    def __init__(self, subject: Any, timeout_s: float, modules: tuple[str, ...] = (), lines: int = 1) -> None:
        """Start it; it has a copy of `subject`. modules: what to load before memory is limited.

        timeout_s: for each call. lines: how many calls there may be at once.
        """
        self._timeout_s = timeout_s
        pairs = [socketpair() for _ in range(lines)]
        numbers = [theirs.fileno() for _, theirs in pairs]
        # -P: what lies in the folder dbdyno is called from must not be taken for a library.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _PROGRAM, *map(str, numbers)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=numbers,
            process_group=0,
            env={key: value for key, value in os.environ.items() if key != _SECRET_VARIABLE},
        )
        for _, theirs in pairs:
            theirs.close()
        self._lines = [connection.Connection(ours.detach()) for ours, _ in pairs]
        self._busy = [threading.Lock() for _ in pairs]
        self._why_it_ended = ""
        self.pid = self._process.pid
        try:
            self._lines[0].send_bytes(pickle.dumps((modules, subject)))
            self._receive(0, IMPORT_TIMEOUT_S)
        except BaseException:
            self.end()
            raise

    def call(self, verb: str, *arguments: Any, line: int = 0, timeout_s: float | None = None) -> Any:
        """Return what the object's method returns; raises what it raises if that is for a person, else RunFailed.

        Raises Unbounded if the answer took too long or too much memory: the child has been ended then.
        """
        with self._busy[line]:
            if self._why_it_ended:
                raise Unbounded(self._why_it_ended)
            with suppress(OSError):
                self._lines[line].send((verb, arguments))
            return self._receive(line, timeout_s or self._timeout_s)

    def _receive(self, line: int, timeout_s: float) -> Any:
        try:
            if not self._lines[line].poll(timeout_s):
                self._give_up(f"no answer was complete within {timeout_s:g} s")
            failure, value = self._lines[line].recv()
        except (EOFError, OSError):
            self._give_up(self._how_it_ended())
        if isinstance(failure, Unbounded):
            self._give_up(str(failure))
        if failure is not None:
            raise failure
        return value

    def _how_it_ended(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            if status := self._process.wait(KILL_TIMEOUT_S):
                return f"the process that asked it {describe_exit(status)}"
        return _TOO_MUCH

    def _give_up(self, why: str) -> None:
        self._why_it_ended = self._why_it_ended or why
        self._process.kill()
        self._process.wait()
        raise Unbounded(self._why_it_ended) from None

    def end(self) -> None:
        """End it; may be called twice."""
        self._why_it_ended = self._why_it_ended or "nothing is asked any more"
        self._process.kill()
        self._process.wait()
        for line in self._lines:
            line.close()


_TOO_MUCH = f"an answer takes more than {MEMORY_BYTES >> 20} MiB"


def main(numbers: list[str]) -> None:
    """Serve the lines with these descriptors until dbdyno is gone or ends this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # A terminal's Ctrl-C is dbdyno's to handle.
    threading.stack_size(STACK_BYTES)
    lines = [connection.Connection(int(number)) for number in numbers]
    modules, subject = pickle.loads(lines[0].recv_bytes())
    for module in modules:
        # A missing driver is named when it is needed.
        with suppress(ImportError):
            import_module(module)
    threads = [threading.Thread(target=_serve, args=(line, subject), daemon=True) for line in lines]
    limit_memory(MEMORY_BYTES + len(threads) * STACK_BYTES)
    lines[0].send((None, None))
    for thread in threads:
        thread.start()
    parent = os.getppid()
    while os.getppid() == parent and all(thread.is_alive() for thread in threads):
        time.sleep(0.2)
    # Threads of libraries would keep it.
    os._exit(0)


def _serve(line: connection.Connection, subject: Any) -> None:
    """Answer calls on one line. The end of the line, or an answer that does not fit, ends the process."""
    with suppress(EOFError, OSError):
        while connection.wait([line]):
            verb, arguments = line.recv()
            line.send(_answer(subject, verb, arguments))


def _answer(subject: Any, verb: str, arguments: tuple[Any, ...]) -> tuple[DbdynoError | None, Any]:
    try:
        return None, getattr(subject, verb)(*arguments)
    except DbdynoError as error:
        return error, None
    except MemoryError:
        return Unbounded(_TOO_MUCH), None
    except Exception as error:  # Whatever a library raises on an answer that it does not understand.
        words = " ".join(str(error).split())[:MESSAGE_CHARACTERS]
        return RunFailed(f"the answer was not understood ({type(error).__name__}: {words})"), None
