"""Transactions of several kinds, as TPC-C has them: how many a minute of the first, and how long each took."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from dbdyno.report.loads import Document, time_name, times_us
from dbdyno.report.words import latency_unit, significant, whole

KIND = "transaction"
"""The operation that stands for whole transactions of one kind (docs/contract.md)."""


def kinds_of(trial: Document) -> dict[str, Document]:
    """Return the kinds of transaction that a trial had, by name; none where all are of one kind."""
    return {name: one for name, one in trial["operations"].items() if one["operation"] == KIND and "per_minute" in one}


def print_kinds(trials: Sequence[Document], console: Console) -> None:
    """Print a row for each trial that had several kinds: how many of the first a minute, median and p99 of each."""
    trials = [trial for trial in trials if kinds_of(trial)]
    if not trials:
        return
    names = list(dict.fromkeys(name for trial in trials for name in kinds_of(trial)))
    unit, length_us = latency_unit(trials)
    table = Table(box=None, padding=(0, 0, 0, 2), header_style="dim")
    headings = ["system", "clients", f"{names[0]}\nper minute", *(name.replace("_", "\n") for name in names)]
    for place, heading in enumerate(headings):
        justify = "left" if place == 0 else "right"
        table.add_column(Text(heading), justify=justify, vertical="bottom", overflow="fold")
    for trial in trials:
        kinds = kinds_of(trial)
        first = whole(kinds[names[0]]["per_minute"]) if names[0] in kinds else "–"
        times = (_times(kinds[name], time_name(trials), length_us) if name in kinds else "–" for name in names)
        table.add_row(Text(trial["label"]), str(trial["clients"]), first, *times)
    console.print(table)
    console.print(Text(f"Of each kind p50 / p99, {unit}.", style="dim"), soft_wrap=True)


def _times(kind: Document, name: str, length_us: float) -> str:
    times = times_us(kind, name)
    both = (times[key] for key in ("p50", "p99"))
    return " / ".join(significant(None if time is None else time / length_us) for time in both)
