"""Prints the fairness card in short, with versions and the command to repeat it (docs/statistics.md, section 7)."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from dbdyno.report.loads import Document

PROGRAMS = 2
"""The versions of a system end with those of the load client and of dbdyno."""


def print_card(fairness: Document, console: Console) -> None:
    """Print the card in short; `dbdyno show --json` and the report have all of it."""
    named = versions(fairness["systems"])
    for line in (*fairness["short"], *([f"versions: {named}"] if named else [])):
        console.print(Text(f"· {line}", style="dim"))
    for line in fairness["not_seen"]:
        console.print(Text(f"· not seen: {line}", style="dim"))
    if command := fairness["command"]:
        console.print(Text("· repeat it with:", style="dim"))
        for line in command_lines(command, console.width - 2):
            console.print(Text(f"  {line}"), soft_wrap=True)


def versions(systems: Sequence[Document]) -> str:
    """Return every version that the card names, each once, the programs that measured last."""
    told = [system["card"].get("versions", "").split(", ") for system in systems]
    ordered = [one for named in told for one in named[:-PROGRAMS]] + [
        one for named in told for one in named[-PROGRAMS:]
    ]
    return ", ".join(filter(None, dict.fromkeys(ordered)))


def command_lines(command: str, width: int) -> Iterator[str]:
    """Yield a command in lines that a shell takes as one when they are copied; words are not broken."""
    try:
        quoted = [shlex.quote(word) for word in shlex.split(command)]
    except ValueError:
        yield command
        return
    line = ""
    for word in quoted:
        if line and len(line) + len(word) + len("  \\") > width:
            yield f"{line} \\"
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield line
