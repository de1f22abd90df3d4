"""Settings a server was given, held against those it says are in force, however either writes a value."""

import re
from collections.abc import Collection, Iterable, Mapping

from dbdyno.errors import UserError

BINARY = {"": 1, "b": 1, **{f"{prefix}{b}": 1 << 10 * (i + 1) for i, prefix in enumerate("kmgtpe") for b in ("", "b")}}
"""Factors of the suffixes of numbers; both `64M` and `64mb`."""
_BOOLEANS = {"on": True, "1": True, "true": True, "yes": True, "off": False, "0": False, "false": False, "no": False}
_NUMBER = re.compile(r"([-+]?\d+(?:\.\d+)?)([a-z]*)")
_SECRET = re.compile(r"secret|access_key|(pass|passwd|password|passphrase|pwd|token|auth|_command|conninfo)$")
"""Names of secrets: their end decides, as in `wsrep_sst_auth`; `default_authentication_plugin` is no secret."""

PRIVATE = frozenset(
    (
        *("port", "bind", "bind_address", "host", "listen_address", "listen_addresses", "socket", "unixsocket"),
        *("user", "password", "requirepass", "init_file", "pid_file", "pidfile", "config_file"),
        *("dir", "datadir", "data_dir", "data_directory"),
    )
)
"""Settings for the address, login and folders of a private server, by every system's name: dbdyno sets them itself."""


def refuse_own(label: str, given: Iterable[str], own: Collection[str]) -> None:
    """Raise UserError for a setting that is dbdyno's own, however it is written: `PORT`, `bind-address`.

    own: the names, in small letters with underscores.
    """
    for key in given:
        if plain(key) in own:
            raise UserError(f"{label}: dbdyno sets '{key}' for every server it starts: leave it out")


def plain(name: str) -> str:
    """Return the name of a setting in small letters with underscores: many servers read it in any way."""
    return name.lower().replace("-", "_")


def check(label: str, given: Mapping[str, str], there: Mapping[str, str], scales: Mapping[str, int] = BINARY) -> None:
    """Raise UserError, with both values, for a setting of `given` that `there` has with another one.

    scales: what the suffix of a number stands for, as that server has it.
    """
    for key, value in given.items():
        if key in there and not is_same(value, there[key], scales):
            raise UserError(f"{label}: {key}={value} was given, and the server has {there[key] or 'nothing'}")


def is_same(given: str, there: str, scales: Mapping[str, int] = BINARY) -> bool:
    """Return whether two values are one: the same words, number or truth, or all of a list that has more."""
    given, there = given.strip().strip('"').lower(), there.strip().lower()
    if given == there:
        return True
    numbers = _number(given, scales), _number(there, scales)
    if None not in numbers:
        return numbers[0] == numbers[1]
    if given in _BOOLEANS and there in _BOOLEANS:
        return _BOOLEANS[given] == _BOOLEANS[there]
    return given != "" and _words(given) <= _words(there)


def _words(text: str) -> set[str]:
    """The members of a list: `a,b`, `a=on,b=off`, or Galera's `a = 1; b = 2`."""
    return set(filter(None, re.split(r"[,;\s]+", re.sub(r"\s*=\s*", "=", text))))


def _number(text: str, scales: Mapping[str, int]) -> float | None:
    match = _NUMBER.fullmatch(text)
    return float(match[1]) * scales[match[2]] if match and match[2] in scales else None


def without_secrets(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings whose values may be stored."""
    return {key: value for key, value in settings.items() if not _SECRET.search(key.lower())}
