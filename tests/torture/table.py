"""The table of counts in docs/torture.md: a row for each part, seed and group, with its cases and findings."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from dbdyno import __version__
from torture.part import Part, Report

BEGIN, END = "<!-- counts: written by `make test-torture` -->", "<!-- end of counts -->"
HEAD = (
    "| Part | Seed | Of | Cases | Findings | Minutes | Taken |",
    "|---|--:|---|--:|--:|--:|---|",
)


def write_counts(document: Path, done: list[tuple[Part, Report, float]]) -> None:
    """Write rows between the two marks of a document, replacing those of the same part and seed.

    done: each part with its report and the seconds it took. Raises ValueError if the document lacks the marks.
    """
    before, begin, rest = document.read_text(encoding="utf-8").partition(BEGIN)
    old, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{document}: has no place for the counts: {BEGIN} … {END}")
    again = {(part.name, str(report.seed)) for part, report, _ in done}
    kept = [line for line in old.splitlines() if _is_row(line) and _key(line) not in again]
    rows = sorted([*kept, *(row for part_done in done for row in _rows(*part_done))], key=_key)
    table = "\n".join([*HEAD, *rows])
    document.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{after}", encoding="utf-8")


def _is_row(line: str) -> bool:
    return line.startswith("| ") and line not in HEAD


def _key(row: str) -> tuple[str, str]:
    """Return the part and the seed of a row."""
    _, part, seed, *_ = (cell.strip() for cell in row.split("|"))
    return part, seed


def _rows(part: Part, report: Report, took_s: float) -> Iterator[str]:
    memory_gib = psutil.virtual_memory().total / 2**30
    host = f"Linux {platform.release().partition('-')[0]}, {psutil.cpu_count()} CPUs, {memory_gib:.0f} GiB"
    taken = f"{time.strftime('%Y-%m-%d', time.gmtime())}, dbdyno {__version__}, {host}"
    minutes = f"{took_s / 60:.1f}"
    for group, cases, findings in report.rows():
        yield f"| {part.name} | {report.seed} | {group} | {cases:,} {part.unit} | {findings:,} | {minutes} | {taken} |"
        minutes = taken = ""
    for group, reason in report.skipped.items():
        yield f"| {part.name} | {report.seed} | {group} | left out: {reason} | | | |"
