"""The environment, as the host describes itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from dbdyno.contract import JsonObject
from dbdyno.report.core import words
from dbdyno.report.core.page import Page
from dbdyno.report.core.section import Part, Section

MEASURED = ("measured", "measured_after")
"""Keys that have their own section."""
_WRITTEN = {"_unix_s": words.when, "_bytes": words.short_bytes}
"""The format of a figure of the environment, by the end of its name."""


def part(page: Page) -> Part | None:
    """Return the environment's facts, each with its path."""
    described = {name: value for name, value in page.document["environment"].items() if name not in MEASURED}
    rows = list(flattened(described))
    return Part({"environment_rows": rows}) if rows else None


SECTION = Section("environment.html.j2", part)


def flattened(value: JsonObject, before: str = "") -> Iterator[tuple[str, str]]:
    """Yield the leaves of nested JSON objects as (path in words, text)."""
    for key, leaf in value.items():
        path = f"{before}{_in_words(key)}"
        if isinstance(leaf, Mapping):
            yield from flattened(leaf, f"{path} · ")
        else:
            unit = next((unit for unit in _WRITTEN if key.endswith(unit)), None)
            yield path, _WRITTEN[unit](leaf) if unit else as_text(leaf)


def _in_words(key: str) -> str:
    """Return a key without its unit, which the text has."""
    unit = next((unit for unit in _WRITTEN if key.endswith(unit)), "")
    return re.sub(r"\bcpu", "CPU", key.removesuffix(unit).replace("_", " "))


def as_text(value: object) -> str:
    """Return a JSON value as a person reads it."""
    if isinstance(value, list):
        return ", ".join(map(as_text, value)) or words.UNKNOWN
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={as_text(leaf)}" for key, leaf in value.items()) or words.UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return words.significant(value)
    return words.UNKNOWN if value is None else f"{value:,}" if isinstance(value, int) else str(value)
