"""The table of counts in docs/torture.md: what was done, how often, from which seed, where, and what it found."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from dbdyno import __version__
from torture.part import Part, Report

BEGIN, END = "<!-- counts: written by `make test-torture` -->", "<!-- end of counts -->"


def write_counts(document: Path, command: str, done: list[tuple[Part, Report, float]]) -> None:
    """Put a new table between the two marks of a document; raises ValueError if it has none."""
    before, begin, rest = document.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{document}: has no place for the counts: {BEGIN} … {END}")
    table = "\n".join(lines(command, done))
    document.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{after}", encoding="utf-8")


def lines(command: str, done: list[tuple[Part, Report, float]]) -> Iterator[str]:
    """Yield the lines of the table, and of what is said with it."""
    memory_gib = psutil.virtual_memory().total / 2**30
    yield f"`{command}`, {time.strftime('%Y-%m-%d', time.gmtime())}, dbdyno {__version__}, on"
    yield f"Linux {platform.release()}, {psutil.cpu_count()} processors, {memory_gib:.0f} GiB of memory."
    yield ""
    yield "| Part | Of | Cases | Findings | Minutes |"
    yield "|---|---|--:|--:|--:|"
    for part, report, took_s in done:
        for number, (group, cases, findings) in enumerate(report.rows()):
            minutes = f"{took_s / 60:.1f}" if number == 0 else ""
            yield f"| {part.name} | {group} | {cases:,} {part.unit} | {findings:,} | {minutes} |"
    skipped = [(part.name, group, why) for part, report, _ in done for group, why in report.skipped.items()]
    if skipped:
        yield ""
        yield "Left out: " + "; ".join(f"{part}, {group}: {why}" for part, group, why in skipped) + "."
