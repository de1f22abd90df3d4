"""A configuration file of the user's: read as settings, so that they are checked and shown as all others are."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dbdyno.errors import UserError, system_words
from dbdyno.experiment.bounds import read_bounded
from dbdyno.experiment.system_spec import checked_setting
from dbdyno.later import LaterModule
from dbdyno.systems.settings import plain, without_secrets

if TYPE_CHECKING:
    import hashlib
    from xml.etree import ElementTree

    from dbdyno.results.json_types import ConfigStated
else:
    hashlib = LaterModule("hashlib")
    ElementTree = LaterModule("xml.etree.ElementTree")

MOST_BYTES = 1 << 20
_NO_GROUP_OF_A_VERSION = re.compile(r"(?:mysqld|mariadbd?)-[\d.]+")
Reader = Callable[[Iterable[str]], Iterator[tuple[str, str]]]
"""Yields the settings of a file's lines; raises ValueError for what is none."""


@dataclass(frozen=True)
class Config:
    """A file that was read. settings: of the server, as they are written there."""

    path: Path
    sha256: str
    settings: Mapping[str, str]

    def describe(self) -> ConfigStated:
        """Return it as `trial.json` has it (docs/run-folder.md)."""
        return {"path": str(self.path), "sha256": self.sha256, "settings": without_secrets(self.settings)}


def read_config(label: str, given: str, read: Reader, reserved: Collection[str]) -> Config:
    """Return the settings of a file; the last one of a name counts.

    Raises UserError if it cannot be read or understood, or has settings that are dbdyno's own, naming all of these.
    """
    path = Path(given).expanduser().absolute()
    settings: dict[str, str] = {}
    try:
        content = read_bounded(path, MOST_BYTES)
        for key, value in read(content.decode().splitlines()):
            key, value = checked_setting(key, value)  # noqa: PLW2901
            settings[key] = value
    except OSError as error:
        raise UserError(f"{label}: config = '{path}': {system_words(error)}") from None
    except UnicodeDecodeError:
        raise UserError(f"{label}: config = '{path}' is not UTF-8 text") from None
    except ValueError as error:
        raise UserError(f"{label}: config = '{path}': {error}") from None
    if own := [key for key in settings if plain(key) in reserved]:
        raise UserError(
            f"{label}: config = '{path}' sets {', '.join(own)}, which dbdyno sets for every server it starts: "
            "give a copy without"
        )
    return Config(path, hashlib.sha256(content).hexdigest(), settings)


def options_of_groups(*groups: str) -> Reader:
    """Return the reader of files such as my.cnf, which takes these groups; others are of other programs."""

    def read(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
        group = ""
        for line in _meant(lines, "#;"):
            if line.startswith("!"):
                raise ValueError(f"'{line}': other files are not read: put their settings into this one")
            if line.startswith("["):
                group = line.strip("[]").strip()
                if _NO_GROUP_OF_A_VERSION.fullmatch(group):
                    raise ValueError(f"[{group}] is for one version: put its settings into [{groups[0]}]")
            elif not group:
                raise ValueError(f"'{line}' is in no group, such as [{groups[0]}]")
            elif group in groups:
                key, _, value = line.partition("=")
                yield plain(key.strip()), _unquoted(value.partition(" #")[0].strip())

    return read


def directives(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the settings of files such as redis.conf; a directive that is there several times has all its words."""
    settings: dict[str, str] = {}
    for line in _meant(lines, "#"):
        key, *words = line.split(maxsplit=1)
        key, value = key.lower(), _unquoted(words[0].strip()) if words else ""
        # An empty one takes back those before it, as the server does.
        settings[key] = f"{settings[key]} {value}" if settings.get(key) and value else value
    yield from settings.items()


def assignments(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the settings of files such as postgresql.conf."""
    for line in _meant(lines, "#"):
        words = shlex.split(line.replace("=", " ", 1), comments=True)
        if words[0].lower().startswith("include"):
            raise ValueError(f"'{line}': other files are not read: put their settings into this one")
        if len(words) != 2:
            raise ValueError(f"'{line}' is not a setting: write name = value")
        yield words[0].lower(), words[1]


def scalars(*structured: str) -> Reader:
    """Return the reader of files such as cassandra.yaml, whose settings stand alone; `structured` have parts."""

    def read(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
        key = ""
        for line in lines:
            text = line.partition(" #")[0].rstrip()
            if not text or text.lstrip().startswith("#") or text == "---":
                continue
            if text[0] in " \t-":
                if key not in structured:
                    raise ValueError(f"'{key or text.strip()}' has parts, and only settings of one value are read")
                continue
            key, colon, value = text.partition(":")
            if not colon or (value and not value.startswith(" ")):
                raise ValueError(f"'{text}' is not a setting: write name: value")
            if value.strip() or key in structured:
                yield key, _unquoted(value.strip())

    return read


def paths(settings: Mapping[str, str], *kept: str) -> Reader:
    """Return the reader of files such as mongod.conf, in which sections nest by how far they are indented.

    settings: path of a value, `storage.engine`, to the name of its setting. kept: sections whose paths are the names.
    """

    def read(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
        above: list[tuple[int, str]] = []
        for line in lines:
            text = line.partition(" #")[0].strip()
            if not text or text.startswith("#") or text == "---":
                continue
            indent = len(line) - len(line.lstrip(" "))
            key, colon, value = text.partition(":")
            if not colon or (value and not value.startswith(" ")) or key.startswith(("-", "\t")):
                raise ValueError(f"'{text}' is not a setting: write name: value")
            above = [(at, name) for at, name in above if at < indent]
            path = ".".join([*(name for _, name in above), key])
            if not value.strip():
                above.append((indent, key))
            elif path in settings or path.partition(".")[0] in kept:
                yield settings.get(path, path), _unquoted(value.strip())
            else:
                raise ValueError(f"'{path}': dbdyno knows no option for it: leave it out")

    return read


def elements(path: str) -> Reader:
    """Return the reader of files such as ClickHouse's users.xml: the elements below this path are its settings."""

    def read(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
        try:
            root = ElementTree.fromstring("\n".join(lines))
        except ElementTree.ParseError as error:
            raise ValueError(f"is not XML: {error}") from None
        for element in root.iterfind(f"{path}/*"):
            if len(element):
                raise ValueError(f"'{element.tag}' has parts, and only settings of one value are read")
            yield element.tag, (element.text or "").strip()

    return read


def options(settings: Mapping[str, str]) -> Reader:
    """Return the reader of files that have an option of a command line in each line, such as memcached.conf.

    settings: option to the name of its setting.
    """

    def read(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
        for line in _meant(lines, "#"):
            option, _, value = line.replace("=", " ", 1).partition(" ")
            if option not in settings:
                raise ValueError(f"'{line}': dbdyno gives no option {option}; it gives {', '.join(settings)}")
            yield settings[option], value.strip()

    return read


def _meant(lines: Iterable[str], comments: str) -> Iterator[str]:
    for line in map(str.strip, lines):
        if line and line[0] not in comments:
            yield line


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text
