"""The sizes of an experiment: what its file gives by scale, `seconds = { small = 2, medium = 20, full = 3600 }`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dbdyno.experiment.toml import Table

SCALES = ("small", "medium", "full")
"""From what anyone can try out to what was published; an experiment that names none is at the first."""
SIZED = ("rows", "clients", "seconds", "warmup_seconds", "repeat", "memory_limit")

_TABLES = ("options", "cpus")
"""Tables whose values can be given by scale."""


def at_scale(document: Table) -> Table:
    """Return an experiment's file as it is at its scale.

    Each of SIZED can be a table of scales. So can `number` and `rate` of a group of clients, the value of an option or
    a setting, the processors of a side, and the `at` of an event. The key `scale` of a table of `system` says at which
    scales the system is there.
    Raises ValueError for a scale that is unknown, that something is not given for, or that nothing depends on.
    """
    chosen = document.get("scale")
    if chosen is not None and not isinstance(chosen, str):
        return dict(document)
    scale = chosen or SCALES[0]
    result = {key: _of(scale, key, value) if key in SIZED else value for key, value in document.items()}
    if isinstance(groups := document.get("clients"), list):
        result["clients"] = [_group(scale, group) for group in groups]
    for key in _TABLES:
        if isinstance(table := document.get(key), dict):
            result[key] = _each_of(scale, key, table)
    if isinstance(events := document.get("events"), list):
        result["events"] = [_each_of(scale, "events", event) if isinstance(event, dict) else event for event in events]
    if isinstance(systems := document.get("system"), dict | list):
        chosen_systems = _systems(scale, systems if isinstance(systems, list) else [systems])
        # One that is given by itself stays so: what is the same as in the file is not given by scale.
        is_alone = isinstance(systems, dict) and len(chosen_systems) == 1
        result["system"] = chosen_systems[0] if is_alone else chosen_systems
        if systems and not result["system"]:
            raise ValueError(f"scale = '{scale}': there is no system at that scale")
    if chosen is not None and result == document:
        raise ValueError(
            "scale: this file gives nothing by scale, e.g. rows = { small = …, full = … }: leave scale out"
        )
    return {**result, "scale": scale} if result != document else result


def has_sizes(document: Table) -> bool:
    """Return whether something in an experiment's file is given by scale."""
    plain = {key: value for key, value in document.items() if key != "scale"}
    try:
        return at_scale(plain) != plain
    except ValueError:
        return True  # It is wrong at this scale.


def _systems(scale: str, entries: list[Any]) -> list[Any]:
    """Return those systems that are there at a scale, each table without its key `scale`."""
    there = []
    for entry in entries:
        if not isinstance(entry, dict):
            there.append(entry)
            continue
        of_scales = entry.get("scale", SCALES)
        of_scales = of_scales if isinstance(of_scales, list | tuple) else [of_scales]
        for scale_name in of_scales:
            _check(f"system {entry.get('system')}", scale_name)
        if scale in of_scales:
            kept = {key: value for key, value in entry.items() if key != "scale"}
            settings = kept.get("settings")
            there.append(
                {**kept, "settings": _each_of(scale, "settings", settings)} if isinstance(settings, dict) else kept
            )
    return there


def _group(scale: str, group: Any) -> Any:
    """Return a group of clients at a scale; a rate may be a table for itself."""
    if not isinstance(group, dict):
        return group
    by_scale = [
        key for key in ("number", "rate") if isinstance(group.get(key), dict) and group[key].keys() <= {*SCALES}
    ]
    return {**group, **{key: _of(scale, f"clients.{key}", group[key]) for key in by_scale}}


def _each_of(scale: str, table: str, values: Table) -> Table:
    return {key: _of(scale, f"{table}.{key}", value) for key, value in values.items()}


def _of(scale: str, key: str, value: Any) -> Any:
    """Return the value at a scale of what is given by scale; anything else as it is."""
    if not isinstance(value, dict):
        return value
    for scale_name in value:
        _check(key, scale_name)
    if scale not in value:
        raise ValueError(f"scale = '{scale}': {key} has only {', '.join(value)}")
    return value[scale]


def _check(what: str, scale: Any) -> None:
    if scale not in SCALES:
        raise ValueError(f"{what}: there is no scale '{scale}'; the scales are {', '.join(SCALES)}")
