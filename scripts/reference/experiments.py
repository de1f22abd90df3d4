"""The beginning of a page of docs/experiments: it repeats the experiment's file."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scripts.reference.markdown import code, codes, table

from dbdyno.experiment.scale import SCALES, SIZED

COLUMNS = ("rows", "clients", "seconds")


def at_a_glance(root: Path, name: str) -> str:
    """Return the question, what to look for, and the sizes of a shipped experiment."""
    experiment = tomllib.loads((root / f"experiments/{name}.toml").read_text(encoding="utf-8"))
    facts = [
        ("Question", experiment["question"]),
        ("Command", code(f"dbdyno run {name}")),
        ("Workload", codes(_listed(experiment["workload"]))),
        ("Systems", ", ".join(dict.fromkeys(_systems(experiment["system"])))),
    ]
    sizes = [(size, *(_at(experiment.get(key, ""), size) for key in COLUMNS)) for size in _sizes(experiment)]
    return "\n\n".join([table(("", name), facts), table(("Size", "Rows", "Clients", "Seconds a trial"), sizes)])


def _systems(value: Any) -> Iterator[str]:
    for system in _listed(value):
        name = system["system"] if isinstance(system, dict) else system
        yield code(re.sub(r"(?<=[a-z])\?.*", "", name) if "(" not in name else name)


def _sizes(experiment: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the sizes that the file has; the smallest if it has none."""
    return SCALES if any(isinstance(experiment.get(key), dict) for key in SIZED) else SCALES[:1]


def _at(value: Any, size: str) -> str:
    if isinstance(value, list) and all(isinstance(group, dict) for group in value):
        return "; ".join(f"{group['name']}: {_at(group.get('number', 1), size)}" for group in value)
    chosen = value[size] if isinstance(value, dict) else value
    return ", ".join(f"{number:,}" if isinstance(number, int) else str(number) for number in _listed(chosen))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
