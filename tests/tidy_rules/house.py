"""The sources that the rules look at, read and parsed once."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

# A fixed list rather than "everything but": virtual environments, run folders and a person's notes lie beside these.
ROOTS = (".ci", "benches", "crates", "docs", "experiments", "fuzz", "python", "scripts", "tests")
SUFFIXES = {".md", ".py", ".rs", ".sh", ".toml", ".html", ".j2", ".css", ".js"}
NAMES = {"Makefile", "run"}
GENERATED = {"__pycache__", "target", "corpus", "artifacts"}


class House:
    """The checkout at `root`. Paths are given relative to it, with forward slashes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        # A method cached by functools would keep every House alive; a cache of this one's own does not.
        self.text = cache(self._read)
        self.tree = cache(self._parse)
        self._paths = sorted(self._walk())

    def _walk(self) -> Iterator[str]:
        tops = [path for path in self.root.iterdir() if path.is_file()]
        below = [path for name in ROOTS for path in (self.root / name).rglob("*")]
        for path in tops + below:
            inside = path.relative_to(self.root)
            source = path.suffix in SUFFIXES or path.name in NAMES or inside.parts[0] == "scripts"
            if path.is_file() and source and not GENERATED.intersection(inside.parts):
                yield inside.as_posix()

    def paths(self, *patterns: str) -> list[str]:
        """The paths that match any of the patterns, as `pathlib` matches: `**` is any number of folders."""
        return [path for path in self._paths if any(matches(path, pattern) for pattern in patterns)]

    def exists(self, path: str) -> bool:
        """Return whether there is such a file or folder, source or not."""
        return (self.root / path).exists()

    def lines(self, path: str) -> list[tuple[int, str]]:
        """The lines of a file with their numbers from 1."""
        return list(enumerate(self.text(path).split("\n"), start=1))

    def _read(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def _parse(self, path: str) -> ast.Module:
        return ast.parse(self.text(path), filename=path)


def matches(path: str, pattern: str) -> bool:
    """Return whether a relative path matches a pattern: `**/` is any number of folders, `*` anything but a slash.

    `PurePath.full_match` does this from Python 3.13 on.
    """
    parts = (re.escape(part).replace(r"\*", "[^/]*") for part in pattern.split("**/"))
    return re.fullmatch("(?:.*/)?".join(parts), path) is not None
