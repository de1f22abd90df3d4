"""Transactions of several kinds, such as TPC-C's: how many a minute of the first, and how long each took."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console

from dbdyno.report.core.loads import time_name, times_us
from dbdyno.report.core.section import Part, Section
from dbdyno.report.core.terminal import Column, print_columns, say
from dbdyno.report.core.words import latency_unit, significant, whole
from dbdyno.results.operations import KIND

if TYPE_CHECKING:
    from dbdyno.report.core.page import Page
    from dbdyno.report.core.times import TimeName
    from dbdyno.report.core.trial_documents import OperationDocument, TrialDocument


def kinds_of(trial: TrialDocument) -> dict[str, OperationDocument]:
    """Return the kinds of transaction that a trial had, by name; empty if all are of one kind."""
    kinds = {
        name: operation
        for name, operation in trial["operations"].items()
        if operation["operation"] == KIND and operation.get("per_minute")
    }
    return kinds if len(kinds) > 1 else {}


def print_kinds(trials: Sequence[TrialDocument], console: Console) -> None:
    """Print a row for each trial that had several kinds: how many of the first a minute, median and p99 of each."""
    trials = [trial for trial in trials if kinds_of(trial)]
    if not trials:
        return
    names = list(dict.fromkeys(name for trial in trials for name in kinds_of(trial)))
    unit, length_us = latency_unit(trials)
    headings = ["", "clients", f"{names[0]}\nper min", *(name.replace("_", "\n") for name in names)]
    rows = [_row(trial, names, length_us) for trial in trials]
    cells = [[trial["label"] for trial in trials], *zip(*rows, strict=True)]
    columns = [Column(name, column) for name, column in zip(headings, cells, strict=True)]
    print_columns(columns, console, 0, titled=True)
    say(console, f"p50/p99 of each kind of transaction, {unit}.", "dim")


def _row(trial: TrialDocument, names: Sequence[str], length_us: float) -> list[str]:
    kinds, time = kinds_of(trial), time_name([trial])
    first = whole(kinds[names[0]]["per_minute"]) if names[0] in kinds else "–"
    times = (_times(kinds[name], time, length_us) if name in kinds else "–" for name in names)
    return [str(trial["clients"]), first, *times]


def _times(kind: OperationDocument, name: TimeName, length_us: float) -> str:
    times = times_us(kind, name)
    both = (times[key] for key in ("p50", "p99"))
    return "/".join(significant(None if time is None else time / length_us) for time in both)


def part(page: Page) -> Part | None:
    """Return an empty part if a trial has several kinds of transaction."""
    has_kinds = page.clients_loaded and page.series and any(kinds_of(trial) for trial in page.document["trials"])
    return Part({"kinds_of": kinds_of}) if has_kinds else None


SECTION = Section("kinds.html.j2", part)
