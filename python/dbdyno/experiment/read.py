"""From a name or a file, and the overrides of a command line, to a checked experiment."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from dbdyno.errors import UserError, did_you_mean
from dbdyno.experiment.bounds import MOST_DEPTH, brief, cut, read_bounded
from dbdyno.experiment.events import Event, EventError, line_of_key, place_events
from dbdyno.experiment.groups import Group
from dbdyno.experiment.hosts import Hosts
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.own_workload import KEYS, OwnWorkload
from dbdyno.experiment.redact import redact
from dbdyno.experiment.scale import has_sizes
from dbdyno.experiment.shipped_files import SHIPPED, shipped_experiments
from dbdyno.experiment.think_time import ThinkTime
from dbdyno.experiment.toml import Table, as_list, parse_toml
from dbdyno.experiment.variant import Cpus
from dbdyno.experiment.workloads import (
    ADD,
    EXPIRE,
    FIND_SECONDARY,
    FIND_UNIQUE,
    INCREMENT,
    READ_ONLY,
    SUM,
    TRANSACTION,
    UPDATE,
)
from dbdyno.experiment.ycsb import is_ycsb, read_ycsb

_GIVES_WAY = (
    *(("rate", "find_rate"), ("find_rate", "rate"), ("warmup_seconds", "warmup")),
    *((key, "until_flat") for key in ("rate", "find_rate", "repeat", "precise", "restart")),
)
"""A key that is given, and the one of the file that then no longer holds."""
_COMBINE = re.compile(r"\s*combine\s*=")


_ASKING = {
    **{UPDATE: r"operation *= *[\"'](update|read-modify-write)[\"']", EXPIRE: r"\bttl_s *="},
    **dict.fromkeys((ADD, INCREMENT, SUM), r"operation *= *[\"']add[\"']"),
    **dict.fromkeys((FIND_UNIQUE, FIND_SECONDARY), r"operation *= *[\"']find[\"']|\bindexes *="),
    **dict.fromkeys((TRANSACTION, READ_ONLY), r"\bwithin *="),
}
"""Patterns of what asks for an operation in a file, if that is not its name."""


@dataclass(frozen=True)
class NamedExperiment:
    """A checked experiment, the name it goes by (the file's, without `.toml`), and the file if there is one."""

    name: str
    experiment: Experiment
    path: Path | None = None

    def place_of(self, workload: str, operation: str) -> str:
        """Return where an own workload asks for an operation, `mine.toml: line 12: `; empty if no file does."""
        if self.path is None or workload not in self.experiment.workloads:
            return ""
        lines = self.path.read_text(encoding="utf-8").splitlines()
        begin = next((i for i, line in enumerate(lines) if f"workloads.{workload}" in line), len(lines))
        asking = re.compile(_ASKING.get(operation, rf"operation *= *[\"']{operation}[\"']"))
        numbers = (number for number, line in enumerate(lines[begin:], begin + 1) if asking.search(line))
        return next((f"{_name_of(self.path)}: line {number}: " for number in numbers), "")


def find_experiment(name_or_file: str) -> Path:
    """Return the file of a shipped experiment's name, or the file itself; raises UserError if there is neither."""
    shipped = shipped_experiments()
    if name_or_file in shipped:
        return shipped[name_or_file]
    path = Path(name_or_file)
    if is_file(path):
        return path
    hint = did_you_mean(name_or_file, shipped)
    raise UserError(
        f"'{cut(name_or_file)}' is neither a file nor a shipped experiment{hint} `dbdyno list` names them all."
    )


def is_file(path: Path) -> bool:
    """Return whether a file is there; what the system takes for no path, such as one with a null character, is none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def read_experiment(
    name_or_file: str,
    overrides: Table | None = None,
    in_range: Callable[[str], list[str]] = lambda text: [text],
) -> NamedExperiment:
    """Read an experiment, put in the overrides, and check everything a file alone can tell.

    overrides: key of the file to value; a dotted key (`cpus.client`) reaches into a table.
    in_range: returns the systems of a range of versions, `mysql@5.5..8.0`; of anything else the text alone.
    Raises UserError naming the file, the key, the value, and what would be accepted.
    """
    path = find_experiment(name_or_file)
    file = read_toml(path)
    document = override(file, overrides or {})
    if "scale" in (overrides or {}) and has_sizes(file) and not has_sizes(document):
        raise UserError(
            f"{_name_of(path)}: --scale {cut(str(document['scale']))} has no effect: other options replace all that it "
            "gives by scale; leave --scale out"
        )
    systems = [system for entry in as_list(document.get("system")) for system in _each_version(entry, in_range)]
    if systems != as_list(document.get("system")):
        document = {**document, "system": systems}
    try:
        experiment = Experiment.model_validate(document)
    except ValidationError as error:
        raise UserError(_explain(path, overrides or {}, error)) from None
    if "events" not in (overrides or {}):
        place_events(experiment.events, path.read_text(encoding="utf-8"))
    return NamedExperiment(path.stem, experiment, path)


def _each_version(entry: object, in_range: Callable[[str], list[str]]) -> list[object]:
    """Return a system for each version of its range; what is not a system is left to whoever checks it."""
    if isinstance(entry, str):
        return list(in_range(entry))
    if isinstance(entry, dict) and isinstance(entry.get("system"), str):
        return [{**entry, "system": text} for text in in_range(entry["system"])]
    return [entry]


def read_toml(path: Path) -> Table:
    """Return the tables of a file; raises UserError if it cannot be read or is no TOML."""
    try:
        text = read_bounded(path).decode()
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: cannot be read: {error}") from None
    if is_ycsb(text):
        return _read_ycsb(path, text)
    try:
        return parse_toml(text)
    except ValueError as error:
        raise UserError(f"{path}: no valid TOML: {redact(str(error))}") from None


def _read_ycsb(path: Path, text: str) -> Table:
    try:
        return read_ycsb(text)
    except ValueError as error:
        raise UserError(f"{path}: {redact(str(error))}") from None


def override(document: Table, overrides: Table) -> Table:
    """Return `document` with each override applied.

    Rows given as one number are no scale's, so they drop the file's scale; one that is given beside them still says all
    the other sizes. A rate excludes the search for one, and the other way round. A warm-up in seconds drops the
    automatic one. An override that reorders the steps of a sweep, or fixes their throughput, drops its early end.

    Raises UserError if a dotted key reaches into something that is not a table.
    """
    result = dict(document)
    if _has_groups(document) and "clients" in overrides and not _has_groups(overrides):
        raise UserError("clients: this experiment has groups of clients; change 'number' in its [[clients]] instead")
    for key, value in overrides.items():
        if key.count(".") >= MOST_DEPTH:
            raise UserError(f"--set {cut(key)}: tables nest at most {MOST_DEPTH} deep")
        head, _, rest = key.partition(".")
        if not rest:
            result[head] = value
        elif isinstance(inner := result.get(head, {}), Mapping):
            result[head] = override(inner, {rest: value})
        else:
            raise UserError(f"--set {key}: '{head}' is not a table in this experiment")
    if "rows" in overrides and "scale" not in overrides and not isinstance(overrides["rows"], dict):
        result.pop("scale", None)
    for given, other in _GIVES_WAY:
        if given in overrides and other not in overrides:
            result.pop(other, None)
    return result


def _has_groups(document: Table) -> bool:
    """Return True if `clients` are groups."""
    clients = document.get("clients")
    return isinstance(clients, list) and any(isinstance(entry, dict) for entry in clients)


def _explain(path: Path, overrides: Table, error: ValidationError) -> str:
    details = error.errors(include_url=False)
    more = f" (and {len(details) - 1} more like this)" if len(details) > 1 else ""
    return f"{_source(path, overrides, details[0])}: {_line(path, details[0])}{_explain_one(details[0])}{more}"


def _source(path: Path, overrides: Table, detail: ErrorDetails) -> str:
    """Return who said what is wrong: a person's command line or file, or a shipped experiment, by its name."""
    if detail["loc"] and detail["loc"][0] in {key.partition(".")[0] for key in overrides}:
        return "on the command line"
    return _name_of(path)


def _name_of(path: Path) -> str:
    return path.stem if path.parent == SHIPPED else str(path)


def _line(path: Path, detail: ErrorDetails) -> str:
    """Return the line of what is wrong in an own workload, an event or a zip, `line 12: `; empty if there is none.

    The parser of TOML tells no places, so the wrong word is looked for from where that workload begins. A zip that does
    not fit has the line that asks for it.
    """
    if detail["msg"].startswith("Value error, combine = "):
        lines = path.read_text(encoding="utf-8").splitlines()
        return next((f"line {number}: " for number, line in enumerate(lines, 1) if _COMBINE.match(line)), "")
    location = [str(part) for part in detail["loc"]]
    if location[:1] == ["events"]:
        return _line_of_event(path, detail)
    lines = path.read_text(encoding="utf-8").splitlines()
    begin = _begin(location, detail, lines)
    if begin is None:
        return ""
    if detail["type"] == "missing" and location[0] == "groups":
        return f"line {begin + 1}: "
    if not location or location[0] == "groups":
        lines = lines[: begin + len(_table_at(lines, begin))]
    location = location or [""]
    whole = _inline_table(detail)
    word = re.escape(_wrong_word(location, detail))
    # First behind its key, then as a value or within SQL, as the same word may be in what is said for people.
    key = rf"{re.escape(location[-1])} *= *[\"']?{word}(?![\w-])"
    for pattern in (*whole, key, rf"[\"'{{]{word}[\"'}}.]", rf"(?<![\w-]){word}(?![\w-])"):
        for number, line in enumerate(lines[begin:], begin + 1):
            if re.search(pattern, line):
                return f"line {number}: "
    return f"line {begin + 1}: " if location[0] in ("", "groups") else ""


def _begin(location: list[str], detail: ErrorDetails, lines: list[str]) -> int | None:
    """Return the index of the line from which a wrong word is looked for; None if there is no telling."""
    if len(location) > 1 and location[0] == "workloads":
        return next((i for i, line in enumerate(lines) if f"workloads.{location[1]}" in line), len(lines))
    groups = [i for i, line in enumerate(lines) if re.match(r"\s*\[\[ *clients *\]\]", line)]
    if len(location) > 1 and location[0] == "groups":
        return groups[int(location[1])] if int(location[1]) < len(groups) else None
    named = None if location else re.match(r"Value error, clients '(\w+)':", detail["msg"])
    if named is None:
        return None
    of_name = rf"\s*name *= *[\"']{named[1]}[\"']"
    return next((i for i in groups if any(re.match(of_name, line) for line in _table_at(lines, i))), None)


def _table_at(lines: list[str], begin: int) -> list[str]:
    """Return the lines of the table whose heading is there."""
    end = next((i for i in range(begin + 1, len(lines)) if lines[i].startswith("[")), len(lines))
    return lines[begin:end]


def _line_of_event(path: Path, detail: ErrorDetails) -> str:
    error = detail.get("ctx", {}).get("error")
    number, key = [*detail["loc"][1:3], None, None][:2]
    if isinstance(error, EventError):
        number, key = error.number, "at"
    if not isinstance(number, int):
        return ""
    line = line_of_key(path.read_text(encoding="utf-8"), number, None if key is None else str(key))
    return f"line {line}: " if line else ""


def _inline_table(detail: ErrorDetails) -> list[str]:
    """Return a pattern of a line with all keys of a wrong table of parameters, in order: its `kind` is no rare word."""
    table = detail["input"]
    if detail["type"] != "value_error" or not isinstance(table, dict) or "kind" not in table or "name" in table:
        return []
    return [r"{ *" + ".*".join(rf"\b{re.escape(str(key))} *=" for key in table)]


def _wrong_word(location: list[str], detail: ErrorDetails) -> str:
    """Return the unknown key, the value, or what the message names: whose the error is, or the name that is unknown."""
    if detail["type"] == "extra_forbidden":
        return location[-1]
    if detail["type"] == "missing":
        return str(detail["input"].get("name", location[1]))
    if not location[0]:
        # The word that is wrong is quoted last, whose it is first.
        sentence = re.split(r"[;.] ", detail["msg"])[0]
        return str(re.findall(r"'([^']+)'", sentence)[-1])
    if isinstance(detail["input"], str | int | float):
        return str(detail["input"])
    message = detail["msg"].removeprefix("Value error, ")
    whose = re.match(r"\w+ '([^']+)':", message)
    named = re.findall(r"'([^']+)'", re.split(r"[;.] ", message)[0])
    return whose[1] if whose else next(reversed(named), location[1])


def _explain_one(detail: ErrorDetails) -> str:
    location = ["clients" if part == "groups" else str(part) for part in detail["loc"]]
    key = ".".join(location)
    message = detail["msg"].removeprefix("Value error, ").removeprefix("Input ")
    if detail["type"] == "extra_forbidden":
        return _explain_unknown(location)
    if detail["type"] == "missing":
        return f"the key '{key}' is missing"
    if not location:
        return message
    if detail["type"] == "value_error":
        return f"{key}: {message}"
    return f"{key} = {redact(brief(detail['input']))}: {message}"


def _explain_unknown(location: list[str]) -> str:
    # Groups of clients are written as [[clients]].
    keys = [key for key in _table_of(location).model_fields if key != "groups"]
    return f"there is no key '{'.'.join(location)}'{did_you_mean(location[-1], keys)} The keys are {', '.join(keys)}."


def _table_of(location: list[str]) -> type[BaseModel]:
    """Return what the table that holds the key at `location` may have."""
    if len(location) > 1 and location[0] == "cpus":
        return Cpus
    if len(location) > 1 and location[0] == "hosts":
        return Hosts
    if len(location) > 2 and location[0] == "events":
        return Event
    if len(location) > 2 and location[0] == "clients":
        return ThinkTime if "think_time" in location[2:-1] else Group
    if len(location) > 2 and location[0] == "workloads":
        return next((KEYS[part] for part in reversed(location[2:-1]) if part in KEYS), OwnWorkload)
    return Experiment
