"""The binary log of a server of the MySQL protocol, read by `mariadb-binlog`, which reads that of MySQL too."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dbdyno.errors import RunFailed
from dbdyno.systems.running.process import find_program
from dbdyno.systems.witness import Promise, Versions, nothing_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PROGRAMS = ("mariadb-binlog", "mysqlbinlog")
_ROW = re.compile(r"### (?:UPDATE|INSERT INTO) `[^`]*`\.`([^`]*)`")
_VALUE = re.compile(r"###   @([12])=(-?\d+)")


class BinaryLog:
    """The log as a witness of a crash. files: returns its files, oldest first, once the server runs again."""

    name = "binary log"
    outlives = False

    def __init__(self, variables: Mapping[str, str], database: str, files: Callable[[], list[Path]]) -> None:
        self._database, self._files = database, files
        self._program = next(filter(None, map(find_program, PROGRAMS)), None)
        self.promise = promise_of(variables)
        self.unable = None
        if (form := variables["binlog_format"]) != "ROW":
            self.unable = f"it has statements, not rows (binlog_format={form}): give binlog_format=ROW"
        elif not self._program:
            self.unable = f"{PROGRAMS[0]} is not installed: apt install mariadb-client"

    def alone(self, tables: Mapping[str, int]) -> Versions:
        raise NotImplementedError("a log is no server")

    def versions(self, tables: Mapping[str, int]) -> tuple[Versions, str | None]:
        versions, odd = nothing_of(tables), []
        for path in self._files():
            # Each by itself: what is torn ends one file, and recovery begins another.
            with tempfile.TemporaryFile("w+") as said:
                with subprocess.Popen(self._call(path), stdout=subprocess.PIPE, stderr=said, text=True) as reader:
                    apply(reader.stdout or (), versions)
                if reader.returncode != 0:
                    said.seek(0)
                    lines = said.read().split("\n")
                    odd.append(f"{path.name}: {next((line for line in lines if 'ERROR' in line), lines[0])}")
        return versions, "; ".join(odd) or None

    def _call(self, path: Path) -> list[str]:
        if not path.is_file():
            raise RunFailed(f"{path} is not there, though the server names it")
        rows_alone = ["--verbose", "--base64-output=decode-rows", f"--database={self._database}"]
        return [self._program or "", "--no-defaults", *rows_alone, str(path)]


def apply(lines: Iterable[str], versions: Mapping[str, NDArray[np.int64]]) -> None:
    """Give each row the version of its last committed change.

    lines: as the program prints them, first column the key, second the version.
    """
    pending: list[tuple[str, int, int]] = []
    table, row = "", dict[str, int]()

    def end_row() -> None:
        if table in versions and len(row) == 2:
            pending.append((table, row["1"], row["2"]))
        row.clear()

    for line in lines:
        if value := _VALUE.match(line):
            # A minimal row image of an update has the key only in its WHERE part.
            row[value[1]] = int(value[2])
        elif change := _ROW.match(line):
            end_row()
            table = change[1]
        elif line.startswith("COMMIT"):
            end_row()
            for name, key, version in pending:
                versions[name][key] = version
            pending.clear()


def promise_of(variables: Mapping[str, str]) -> Promise:
    """Return whether the log and InnoDB agree after any crash: both are then flushed before a commit is acknowledged.

    MariaDB: "Binary Log Group Commit and InnoDB Flushing Performance"; MySQL 8.0 Reference Manual, 19.1.6.4
    (sync_binlog).
    """
    keys = ("sync_binlog", "innodb_flush_log_at_trx_commit")
    both = {key: variables[key] for key in keys}
    return Promise(set(both.values()) == {"1"}, " ".join(f"{key}={value}" for key, value in both.items()))
