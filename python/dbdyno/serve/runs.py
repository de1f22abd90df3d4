"""The runs of a folder, each summarized once and again only if it changed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from dbdyno.errors import UserError
from dbdyno.report.document import document
from dbdyno.report.index import Entry, broken, described
from dbdyno.results.foreign_content import understood
from dbdyno.results.read import read_run
from dbdyno.serve.matrix import Cell, cells_of
from dbdyno.tables.redaction import redacted_document

Key = tuple[tuple[str, int, int], ...]
"""Name, time and size of each file that states something of a run."""


@dataclass(frozen=True, slots=True)
class Summary:
    """One run, as the gallery and the matrix show it; one that cannot be read has no cells."""

    entry: Entry
    cells: tuple[Cell, ...] = ()


class Runs:
    """The runs in a folder. May be asked from any thread."""

    def __init__(self, folder: Path) -> None:
        """Take a folder, which need not be there yet."""
        self.folder = folder
        self._lock = threading.Lock()
        self._known: dict[str, tuple[Key, Summary]] = {}

    def find(self, name: str) -> Path | None:
        """Return the folder of a run by its name; None if there is no such run right in the folder."""
        return next((path for path in self._folders() if path.name == name), None)

    def newest(self) -> Path | None:
        """Return the run whose state was written last: the running one, if there is one."""
        return max(self._folders(), key=lambda path: changed_ns(path / "run.json"), default=None)

    def summaries(self) -> Sequence[Summary]:
        """Return every run, the newest first, those that cannot be read last."""
        with self._lock:
            summaries = [self._summary(path) for path in self._folders()]
            self._known = {name: self._known[name] for name in (summary.entry.name for summary in summaries)}
        return sorted(
            summaries,
            key=lambda summary: (bool(summary.entry.broken), -summary.entry.started_unix_s, summary.entry.name),
        )

    def _folders(self) -> list[Path]:
        return sorted(file.parent for file in self.folder.glob("*/run.json"))

    def _summary(self, run: Path) -> Summary:
        key = _key(run)
        known = self._known.get(run.name)
        if known is None or known[0] != key:
            self._known[run.name] = known = key, _summarized(run)
        return known[1]


def _summarized(run: Path) -> Summary:
    try:
        with understood(run):
            run_document = redacted_document(document(read_run(run), timelines=False))
            return Summary(
                described(run.name, run_document, f"/report/{quote(run.name)}"), cells_of(run.name, run_document)
            )
    except (UserError, OSError) as error:
        # A folder that was removed meanwhile, or is not to be read, must not take the others with it.
        return Summary(broken(run, error))


def _key(run: Path) -> Key:
    files = [run / "run.json", *sorted(run.glob("trials/*/trial.json"))]
    return tuple((str(file.relative_to(run)), changed_ns(file), _size_bytes(file)) for file in files)


def changed_ns(file: Path) -> int:
    """Return when a file was last written, in nanoseconds since the epoch; 0 if it is not there."""
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0


def _size_bytes(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0
