"""The command that repeats a trial's load on its system, as words of a command line."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import quote

from dbdyno.results.clients import without_client
from dbdyno.results.read import read_command

if TYPE_CHECKING:
    from dbdyno.results.model import Trial

_USER = re.compile(r"(?<=://)[^/@]*@")
_OF_EVERY_TRIAL = frozenset(("--scale", "--rows", "--seed", "--seconds", "--warmup", "--csv", "--hosts", "--set"))
"""Options of a run that the load of each of its trials depends on."""
_RATES = ("--rate", "--find-rate")


def repeating(trial: Trial, changed: Sequence[str] = ()) -> list[str] | None:
    """Return the words of the command; `None` if its run does not say how it was started.

    Args:
        trial: with its run's folder, which has the command.
        changed: the options that will be added. They replace the run's own.
    """
    words = _command(trial)
    if words[:2] != ["dbdyno", "run"] or len(words) < 3 or words[2].startswith("-"):
        return None
    # A program such as sysbench is its workload's own, and is not chosen.
    is_chosen = without_client(trial.label, trial.facts.client) is not None
    client = [("--set", f"client={trial.facts.client}")] if is_chosen else []
    replaced = {"client", *(_key(*option) for option in _options(changed))}
    load = _without_overridden(option for option in _load(trial, words) if _key(*option) not in replaced)
    systems = [("--system", system) for system in ([system_of(trial)] if _is_known(trial) else _given(trial))]
    return [*words[:3], *(word for option in [*systems, *load, *client] for word in option)]


def _without_overridden(options: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return options without each `--set` of a key that an option of its own gives too: that one counts."""
    every = list(options)
    named = {_key(option, value) for option, value in every if option != "--set"}
    return [(option, value) for option, value in every if option != "--set" or _key(option, value) not in named]


def system_of(trial: Trial, changed: Mapping[str, str] | None = None) -> str:
    """Return the trial's system as `--system` takes it: its name, and the settings that it was given.

    Its variant is the experiment's. A URL has the user that the run's command gave it.

    Args:
        changed: settings that replace its own, or are added.
    """
    name = _name(trial)
    settings = {key: str(value) for key, value in {**(trial.facts.settings or {}), **(changed or {})}.items()}
    of_parts: dict[str, dict[str, str]] = {}
    for key in list(settings):
        part, dot, setting = key.partition(".")
        if dot and _part(part).search(name):
            of_parts.setdefault(part, {})[setting] = settings.pop(key)
    for part, own in of_parts.items():
        name = _with_part(name, part, own)
    return with_settings(_users(trial).get(name, name), settings)


def with_settings(system: str, settings: Mapping[str, str]) -> str:
    """Return the text of a system with more settings; a setting without a value is an option that takes none."""
    escaped = ((_escaped(key), _escaped(value)) for key, value in settings.items())
    pairs = "&".join(f"{key}={value}" if value else key for key, value in escaped)
    return f"{system}{'&' if '?' in system.rpartition(')')[2] else '?'}{pairs}" if pairs else system


def _name(trial: Trial) -> str:
    return trial.facts.system or trial.label


def _is_known(trial: Trial) -> bool:
    """Return whether the name is all that it takes: a URL may lack its user, or be another way to a socket."""
    return not trial.facts.attached or _name(trial) in _users(trial)


def _command(trial: Trial) -> list[str]:
    command = read_command(trial.folder.parent.parent) if trial.folder else None
    return shlex.split(command) if command else []


def _load(trial: Trial, words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the options that the trial's load depends on: the run's, but the trial's own rate and pipeline."""
    per_s = (trial.facts.rate or {}).get("per_s")
    for option, value in _options(words):
        if option in _OF_EVERY_TRIAL:
            yield option, value
        elif option in _RATES and per_s:
            yield "--rate", f"{per_s:.10g}"
        elif option == "--pipeline":
            yield option, str(trial.facts.pipeline)


def _options(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each option with its value; an option that takes none has the next word, which its reader ignores."""
    for word, following in pairwise([*words, ""]):
        name, equals, value = word.partition("=")
        if name.startswith("--"):
            yield name, value if equals else following


def _key(option: str, value: str) -> str:
    """Return the key of the file that an option sets."""
    return value.partition("=")[0] if option == "--set" else option.removeprefix("--")


def _given(trial: Trial) -> list[str]:
    """Return the systems that the run's command names."""
    return [value for option, value in _options(_command(trial)) if option == "--system"]


def _users(trial: Trial) -> dict[str, str]:
    """Return the URLs of the run's command by their text without the user; both are without settings."""
    urls = [system.partition("?")[0] for system in _given(trial)]
    return {_USER.sub("", url): url for url in urls}


def _part(name: str) -> re.Pattern[str]:
    """Return the pattern of a part of an arrangement: `cache`, `cache*3`, `store@5.6`, `scheme://host`."""
    return re.compile(rf"(?<=[(\s]){re.escape(name)}(?:@[^,()*]+|://[^,()*]+|\([^()]*\))?(?:\*\d+)?(?=[,)])")


def _with_part(system: str, part: str, settings: Mapping[str, str]) -> str:
    return _part(part).sub(lambda match: with_settings(match[0], settings), system)


def _escaped(text: str) -> str:
    return quote(text, safe="/:.+ ")
