"""Runs over time as the CSV that Apache Otava imports: a run is a row, a figure of a cell is a column.

Its importer reads neither an empty figure nor rows in another order than that of time.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from statistics import median
from typing import NamedTuple

from dbdyno.contract import JsonObject
from dbdyno.errors import UserError
from dbdyno.results.model import Run
from dbdyno.tables.redaction import redacted_text
from dbdyno.tables.trials import name_of, trials_of

_FIGURES = ("throughput_per_s", "p50_us", "p99_us")


class OtavaCsv(NamedTuple):
    """The CSV, and the columns that not every run has, which are left out of it."""

    text: str
    left_out: tuple[str, ...]


def to_otava(runs: Sequence[Run]) -> OtavaCsv:
    """Return runs as a row each, oldest first; repetitions of a cell are one figure, their median.

    Raises UserError if the runs have no figure in common.
    """
    ordered = sorted(runs, key=lambda run: run.facts.started_unix_s or 0.0)
    figures = [_figures(run) for run in ordered]
    known = dict.fromkeys(name for of_run in figures for name in of_run)
    names = [name for name in known if all(name in of_run for of_run in figures)]
    if not names:
        raise UserError("the runs have no complete cell in common; Otava needs a figure in every row")
    left_out = tuple(name for name in known if name not in names)
    return OtavaCsv(_table(names, list(zip(ordered, figures, strict=True))), left_out)


def _table(names: Sequence[str], rows: Sequence[tuple[Run, Mapping[str, float]]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["time", "run", "dbdyno", *names])
    for run, of_run in rows:
        at = datetime.fromtimestamp(run.facts.started_unix_s or 0.0, UTC).isoformat(timespec="seconds")
        writer.writerow([at, redacted_text(name_of(run)), run.facts.dbdyno or "", *(of_run[name] for name in names)])
    return text.getvalue()


def to_otava_row(runs: Sequence[Run]) -> str:
    """Return several runs of one moment, each of another experiment, as one row; empty if nothing was completed."""
    figures: dict[str, float] = {}
    for run in runs:
        figures |= _figures(run)
    if not figures:
        return ""
    first = min(runs, key=lambda run: run.facts.started_unix_s or 0.0)
    return _table(list(figures), [(first, figures)])


def _figures(run: Run) -> dict[str, float]:
    """Return the medians of a run's complete trials, by column: `mariadb game c16 throughput_per_s`."""
    table = trials_of([run])
    names = [column.name for column in table.columns]
    values: dict[str, list[float]] = {}
    for row in table.rows():
        trial = dict(zip(names, row, strict=True))
        if trial["state"] == "complete":
            for figure, value in _values(trial).items():
                values.setdefault(f"{_cell(trial)} {figure}", []).append(value)
    return {name: median(series) for name, series in values.items()}


def _values(trial: JsonObject) -> dict[str, float]:
    time = "service_time" if trial["response_time_max_us"] is None else "response_time"
    columns = ("throughput_per_s", f"{time}_p50_us", f"{time}_p99_us")
    return {
        figure: trial[column] for figure, column in zip(_FIGURES, columns, strict=True) if trial[column] is not None
    }


def _cell(trial: JsonObject) -> str:
    pipeline = f" p{trial['pipeline']}" if trial["pipeline"] > 1 else ""
    delay = f" d{trial['network_delay_us']}" if trial["network_delay_us"] else ""
    rate = f" at {trial['rate']}" if trial["rate"] else ""
    return f"{trial['label']} {trial['workload']} c{trial['clients']}{pipeline}{delay}{rate}"
