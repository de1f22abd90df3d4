"""Counters from RocksDB's log file under load: how often it stopped or slowed down its writers.

The load client has the database open, so nobody else can ask it. RocksDB begins a new log file whenever it is opened.
"""

import os
from pathlib import Path

from dbdyno.errors import RunFailed
from dbdyno.systems.probe import Probe

LOG = "LOG"
EVENTS = {b"Stopping writes because": "write_stops_total", b"Stalling writes because": "write_slowdowns_total"}
"""RocksDB writes one of these lines whenever it begins to hold writers back, with the reason behind it."""


class RocksDBProbe(Probe):
    """Reads what was added to the log file since it was last read."""

    def __init__(self, server: str, directory: Path) -> None:
        """Take the database's directory; it may still be empty."""
        super().__init__(server)
        self._path = directory / LOG
        self._file: int | None = None
        self._at = 0
        self._counts = dict.fromkeys(EVENTS.values(), 0.0)

    def open(self) -> None:
        """Count from the beginning; the file is there only while the database is open."""
        self.close()
        self._counts = dict.fromkeys(EVENTS.values(), 0.0)

    def counters(self) -> dict[str, float]:
        try:
            with self._path.open("rb") as log:
                log.seek(self._where(log.fileno()))
                lines = log.read().splitlines(keepends=True)
        except FileNotFoundError:
            return dict(self._counts)
        except OSError as error:
            raise RunFailed(f"{self.server} does not show its log: {error}") from None
        # The last line may still be written.
        whole = [line for line in lines if line.endswith(b"\n")]
        self._at += sum(map(len, whole))
        for line in whole:
            for words, name in EVENTS.items():
                self._counts[name] += words in line
        return dict(self._counts)

    def _where(self, descriptor: int) -> int:
        """Return where the last look ended; at the beginning of a new file."""
        inode = os.fstat(descriptor).st_ino
        if inode != self._file:
            self._file, self._at = inode, 0
        return self._at

    def close(self) -> None:
        """Forget the file."""
        self._file, self._at = None, 0
