"""Settings and versions that differ between the two sides: the causes that somebody chose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from dbdyno.contract import JsonObject
from dbdyno.report.why.evidence import Evidence, Pairs
from dbdyno.results.jsonfiles import read_object
from dbdyno.results.model import Trial

ABSENT = "not set"
GIVEN = "given by the experiment"
_MOST_CHARACTERS = 60


def settings(pairs: Pairs) -> list[Evidence]:
    """Return the effective settings that differ.

    Those that the experiment gives come first, then those that decide what is measured, then all others.

    A value that has the path of its build differs only if the rest of it does.
    """
    by_side = [_constant(map(_effective_settings, pairs.side(which))) for which in (0, 1)]
    given = {name for which in (0, 1) for trial in pairs.side(which) for name in trial.facts.settings or {}}
    both = {*by_side[0]} & {*by_side[1]} | given
    names = [name for name in dict.fromkeys([*by_side[0], *by_side[1]]) if name in both]
    names = [name for name in names if by_side[0].get(name) != by_side[1].get(name)]
    folders = [_build_folders(pairs.side(which), side) for which, side in enumerate(by_side)]
    values = [{name: _without(side.get(name), of) for name in names} for side, of in zip(by_side, folders, strict=True)]
    names = [name for name in names if values[0][name] != values[1][name]]
    deciding = _deciding(pairs)
    names.sort(key=lambda name: (_of(name) not in given, _of(name) not in deciding))
    return [
        Evidence("setting", name, *_both(by_side, name), note=GIVEN if _of(name) in given else "") for name in names
    ]


def versions(pairs: Pairs) -> list[Evidence]:
    """Return the servers whose version differs, and the client library if it does."""
    by_side = [_constant(map(_versions, pairs.side(which))) for which in (0, 1)]
    return [
        Evidence("version", name, *_both(by_side, name))
        for name in by_side[0]
        if name in by_side[1] and by_side[0][name] != by_side[1][name]
    ]


def _of(name: str) -> str:
    """Return the name of a setting without that of its server."""
    return name.rpartition(" ")[2]


def _deciding(pairs: Pairs) -> set[str]:
    """Return the settings that each system shows because they decide what is measured (`shown_variables`)."""
    servers = (server for which in (0, 1) for trial in pairs.side(which) for server in trial.facts.known_servers)
    return {name for server in servers for name in server.effective_settings or {}}


def _build_folders(trials: Sequence[Trial], settings_of_side: Mapping[str, str]) -> list[str]:
    """Return the folders of the builds, the deepest first: of those with a path, and of what the server states."""
    paths = {str(server.build["path"]) for trial in trials for server in trial.facts.known_servers if server.build}
    stated = [value.rstrip("/") for name, value in settings_of_side.items() if _of(name) == "basedir"]
    return [*(str(folder) for path in sorted(paths) for folder in list(Path(path).parents)[:2]), *filter(None, stated)]


def _without(value: str | None, folders: Sequence[str]) -> str | None:
    for folder in folders:
        value = value and value.replace(folder, "")
    return value and value.rstrip("/")


def _both(sides: Sequence[Mapping[str, str]], name: str) -> tuple[str, str]:
    return _shown(sides[0].get(name)), _shown(sides[1].get(name))


def _effective_settings(trial: Trial) -> dict[str, str]:
    """Return every effective setting, by server and name; the server is left out if there is one."""
    servers: JsonObject = {server.name: server.effective_settings or {} for server in trial.facts.known_servers}
    file = trial.folder and trial.folder.parent.parent / "preparations" / str(trial.facts.preparation) / "settings.json"
    if file and file.is_file():
        servers = read_object(file) or servers
    several = len(servers) > 1
    flat = {
        f"{server} {name}" if several else name: str(value)
        for server, values in servers.items()
        for name, value in (values or {}).items()
    }
    # A library may not report a setting that it was given; the setting is effective all the same.
    return {name: str(value) for name, value in (trial.facts.settings or {}).items()} | flat


def _versions(trial: Trial) -> dict[str, str]:
    servers = trial.facts.known_servers
    names = [f"server {number}" if len(servers) > 1 else "server" for number in range(1, len(servers) + 1)]
    versions = {name: server.version for name, server in zip(names, servers, strict=True) if server.version}
    library = trial.recorded.hello.get("library") if trial.recorded.hello else None
    return versions | ({"client library": str(library)} if library else {})


def _constant(trials: Iterator[dict[str, str]]) -> dict[str, str]:
    """Return the values that all trials of a side share: ports and directories are new in each, and explain nothing."""
    first, *others = trials
    return {name: value for name, value in first.items() if all(other.get(name) == value for other in others)}


def _shown(value: str | None) -> str:
    text = ABSENT if value is None else " ".join(value.split()) or "(empty)"
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}…"
