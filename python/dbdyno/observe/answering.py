"""Processor time that a server of this host needs to answer: that of the thread that serves one connection."""

from contextlib import suppress

from dbdyno.observe.procfs import Kept, read


class AnsweringThread:
    """The thread, or the process, of a server that answers."""

    def __init__(self, server_pid: int | None) -> None:
        """Take the server; None if it is not a process of this host that dbdyno started."""
        self._server_pid = server_pid
        self._number: int | None = None
        self._path: str | None = None
        self._file = Kept()

    def cpu_s(self, number: int | None) -> float | None:
        """Return its processor time so far in s; None if that is not known.

        number: which the server says it has, a thread's or a process's of this kernel; None if it does not say.
        """
        if number != self._number:
            self._file.close()
            self._number, self._path = number, self._find(number)
        try:
            return int(self._file.read(self._path).split()[0]) * 1e-9 if self._path else None
        except (OSError, ValueError, IndexError):
            return None

    def _find(self, number: int | None) -> str | None:
        """A server in a container, or elsewhere, has numbers of its own, which are somebody else's here."""
        if number is None or self._server_pid is None:
            return None
        with suppress(OSError):
            status = read(f"/proc/{number}/status")
            if any(b"\n%s:\t%d\n" % (of, self._server_pid) in status for of in (b"Tgid", b"PPid")):
                return f"/proc/{number}/schedstat"
        return None

    def close(self) -> None:
        """Close the file that is kept open."""
        self._file.close()
