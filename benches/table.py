"""The table of results, as Markdown, which is also what the terminal shows, and as JSON."""

import json
import os
import platform
import subprocess
import textwrap
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

from benches.rows import Line
from dbdyno.systems.postgresql.postgresql import programs

HEAD = ("row", "measured", "placement", "dbdyno", "against", "figure: median (min – max)", "must be", "met")
NOTE_WIDTH = 90
"""The most characters of a reason why a row could not be run; `results.json` has it whole."""


def number(value: float) -> str:
    """Write a number as finely as a limit may need it: 1.003 is not 1."""
    size = abs(value)
    return f"{value:,.0f}" if size >= 100 else f"{value:.1f}" if size >= 10 else f"{value:.3f}"


def _cells(line: Line) -> tuple[str, ...]:
    met = {None: "", True: "met", False: "**not met**"}[line.met]
    limit = "" if line.limit is None else f"{'≥' if line.at_least else '≤'} {number(line.limit)} {line.figure_unit}"
    if not line.figures:
        note = textwrap.shorten(line.note, NOTE_WIDTH, placeholder=" …")
        return (line.row, line.what, line.placement, "", "", note, limit, "**not met**" if limit else "")
    spread = f"{number(median(line.figures))} {line.figure_unit}"
    spread += f" ({number(min(line.figures))} – {number(max(line.figures))})"
    theirs = f"{number(median(line.theirs))} {line.unit}" if line.theirs else ""
    ours = f"{number(median(line.ours))} {line.unit}"
    return (line.row, line.what, line.placement, ours, theirs, spread, limit, met)


def brief(line: Line) -> str:
    """Return a line for the terminal while the others are still running."""
    return "  ".join(filter(None, _cells(line)))


def markdown(lines: Iterable[Line]) -> str:
    """Return the table, its columns padded so that it can be read as it is."""
    rows = [HEAD, *map(_cells, lines)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    padded = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    padded.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(padded) + "\n"


def save(folder: Path, lines: list[Line], settings: dict[str, Any]) -> None:
    """Write `results.json`, with every pair's figures, and `results.md`."""
    (folder / "results.md").write_text(markdown(lines))
    results = {"settings": settings, "host": host(), "lines": [asdict(line) | {"met": line.met} for line in lines]}
    (folder / "results.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")


def host() -> dict[str, Any]:
    """Return what the figures depend on: kernel, processors, versions."""
    versions = {}
    for command in (
        ["mariadbd", "--version"],
        ["redis-server", "--version"],
        ["memcached", "--version"],
        ["sysbench", "--version"],
        [str((programs() or Path()) / "postgres"), "--version"],
    ):
        said = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
        versions[Path(command[0]).name] = said.splitlines()[0] if said else "?"
    models = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    model = models[0].partition(": ")[2] if models else platform.machine()
    return {"kernel": platform.release(), "cpu": model, "cpus": os.cpu_count(), "versions": versions}
