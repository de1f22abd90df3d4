"""Rules about single lines: what must not stand in a source, as a table of patterns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tidy_rules.house import House
from tidy_rules.rust import lines_outside_tests

CODE = ("**/*.py", "**/*.rs", "**/*.sh", "**/*.toml", "scripts/*", ".ci/run")
TEXT = (*CODE, "**/*.md", "Makefile")


@dataclass(frozen=True)
class Banned:
    """A pattern that no line of these files may hold, and what to do instead."""

    pattern: str
    files: tuple[str, ...]
    instead: str


# Written so that no pattern matches its own line: this file is checked too.
BANNED = (
    Banned(r".{161,}", CODE, "at most 160 characters"),
    Banned(r"\t", (*CODE, "**/*.md"), "indent with spaces"),
    Banned(r"[ \t\r]$", TEXT, "no trailing whitespace"),
    Banned(
        r"^\s*//[/!] (?:Of|What(?:ever)?|Where|Whether|Which|Who(?:m|se|ever)?)\b",
        ("**/*.rs",),
        "begin with the subject, Returns or True if",
    ),
    Banned(
        r"(?i)\b(?:(?:is|are|was|were) (?:se[e]n|tol[d]|asked fo[r])|stood stil[l]|held u[p])\b",
        (*TEXT, "**/*.j2"),
        "use the field's word: observed, detected, requested, reported, stalled",
    ),
    Banned(
        r"setattr\((?:(?:[\w.]+\.)?time, |\"[\w.]*\btime\.)",
        ("tests/**/*.py",),
        "give the module a clock of its own: other threads, such as those of servers, read the one of `time`",
    ),
    Banned(r"\b(?:TO[D]O|FIX[M]E|XX[X]|HAC[K])\b", TEXT, "finish it, or open an issue"),
    Banned(r"(?:/ro[o]t|/wor[k]|/hom[e]|/User[s]|/tmp/ven[v])/", TEXT, "no path of one machine"),
    Banned(
        r"crates\.io|pypi\.org|pythonhosted\.org|npmjs\.(?:org|com)|repo1?\.maven|proxy\.golang\.org|deb\.debian\.org",
        TEXT,
        "name the package, not the host it comes from",
    ),
)

# These words keep the invariants of absence (ARCHITECTURE.md).
NO_IO = r"std::(?:net|thread|os::fd|os::unix|fs)\b|\b(?:Instant|SystemTime|TcpStream|UnixStream)\b|\bthread::"
PRODUCTS = r"(?i)mariadb|mysql|redis|valkey|memcached|sqlite|lmdb|innodb|postgres|mongo|rocksdb|tokyo|kyoto|tkrzw"
# But whose SQL a text is in is said with the dialect's name.
PRODUCTS_NOT_DIALECTS = r"(?i)(?<!Dialect::)(?:" + PRODUCTS.removeprefix("(?i)") + r")(?!\w*,\s+// dialect)"
ABSENT = (
    Banned(NO_IO, ("crates/wire/src/**/*.rs",), "wire does no I/O and knows no clock"),
    Banned(NO_IO, ("crates/workloads/src/**/*.rs",), "a workload is replayable: no socket, clock or thread"),
    Banned(
        PRODUCTS_NOT_DIALECTS,
        ("crates/workloads/**/*.rs", "crates/model/**/*.rs", "crates/net/**/*.rs"),
        "product names belong in stores and wire",
    ),
    Banned(
        PRODUCTS,
        ("python/dbdyno/stats/**/*.py", "python/dbdyno/report/**/*.py", "python/dbdyno/verdict/**/*.py"),
        "product names belong in systems",
    ),
)


def banned_lines(house: House) -> Iterator[str]:
    """No line holds what BANNED lists."""
    yield from _search(house, BANNED)


def absences(house: House) -> Iterator[str]:
    """The sources of a part lack what the architecture says they lack."""
    yield from _search(house, ABSENT)


def _search(house: House, table: tuple[Banned, ...]) -> Iterator[str]:
    for banned in table:
        pattern = re.compile(banned.pattern)
        for path in house.paths(*banned.files):
            for number, line in house.lines(path):
                if pattern.search(line):
                    yield f"{path}:{number}: {banned.instead}"


# How often `.unwrap()` may stand outside tests, per file. Only ever lowered.
UNWRAPS: dict[str, int] = {}


def unwraps(house: House) -> Iterator[str]:
    """Outside tests Rust does not unwrap: an error is passed on, or `expect` says why it cannot be."""
    for path in house.paths("crates/**/*.rs"):
        line_numbers = [
            number for number, line in lines_outside_tests(house, path) if ".unwrap()" in line.split("//")[0]
        ]
        allowed = UNWRAPS.get(path, 0)
        if len(line_numbers) > allowed:
            surplus = f"{len(line_numbers)} unwraps, {allowed} allowed"
            yield f"{path}:{line_numbers[-1]}: {surplus}: pass the error on, or expect it"
        elif len(line_numbers) < allowed:
            yield f"{path}: only {len(line_numbers)} unwraps are left: lower UNWRAPS to that"
    for path in UNWRAPS:
        if not house.exists(path):
            yield f"{path}: gone: take it out of UNWRAPS"
