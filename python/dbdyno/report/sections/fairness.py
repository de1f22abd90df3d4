"""Prints the fairness card in short, with the versions (docs/statistics.md, section 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console

from dbdyno.report.core.section import Part, Section
from dbdyno.report.core.terminal import say
from dbdyno.report.core.words import UNKNOWN

if TYPE_CHECKING:
    from dbdyno.report.core.documents import FairnessDocument, SystemCardDocument
    from dbdyno.report.core.page import Page

CARD_NAMES = {
    "versions": "Versions",
    "settings": "Default or tuned",
    "started with": "Settings that dbdyno gave the server",
    "memory": "Data and cache",
    "durability": "An acknowledged write survives",
    "flushes": "Flushes",
    "temperature": "Cold, lukewarm or hot",
    "place": "Client and server",
    "answers": "Answers",
}
PROGRAMS = 2
"""The versions of a system end with those of the load client and of dbdyno."""


def print_card(fairness: FairnessDocument, console: Console) -> None:
    """Print the card in short; `dbdyno show --json` and the report have all of it."""
    named = versions(fairness["systems"])
    for line in (*fairness["short"], *([f"versions: {named}"] if named else [])):
        say(console, f"· {line}", hang=2)


def versions(systems: Sequence[SystemCardDocument]) -> str:
    """Return every version that the card names, each once, the programs that measured last."""
    by_system = [system["card"].get("versions", "").split(", ") for system in systems]
    ordered = [version for named in by_system for version in named[:-PROGRAMS]] + [
        version for named in by_system for version in named[-PROGRAMS:]
    ]
    return ", ".join(filter(None, dict.fromkeys(ordered)))


def part(page: Page) -> Part | None:
    """Return the card line by line; in each line, systems with the same text stand together."""
    lines = card_lines(page.document["fairness"]["systems"])
    return Part({"card_lines": lines}) if lines else None


SECTION = Section("fairness.html.j2", part)


def card_lines(systems: Sequence[SystemCardDocument]) -> list[tuple[str, list[tuple[str, list[str]]]]]:
    """Return each line's name, and each of its texts with the systems that have it."""
    lines = []
    for name in dict.fromkeys(name for system in systems for name in system["card"]):
        by_text: dict[str, list[str]] = {}
        for system in systems:
            by_text.setdefault(system["card"].get(name, UNKNOWN), []).append(system["label"])
        lines.append((CARD_NAMES.get(name, name), list(by_text.items())))
    return lines
