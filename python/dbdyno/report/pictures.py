"""The report's plots as files, for a page or paper that is not dbdyno's: SVG and PNG, with legend and title."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from dbdyno.errors import RunFailed, UserError
from dbdyno.report import analyses, batches, copies, crash_plots, plots
from dbdyno.report.document import document
from dbdyno.report.headline import limit_of
from dbdyno.report.loads import at, load_of, time_label
from dbdyno.report.over_time import by_load, by_trial, recordings_of
from dbdyno.report.plots import Figure
from dbdyno.report.series import Series, places_of, series_of, trials_of
from dbdyno.results.model import Run

FORMATS = ("svg", "png")
WIDTH, HEIGHT = 1000, 560
PNG_SCALE = 2
NAMES_IN_A_LINE = 6
LETTER_PX, KEY_PX, LINE_PX = 7, 46, 20
"""Of a legend: a letter, what stands before a name, and a line."""
_HEAT = [[0, "#e3edf7"], [0.55, "#3f86c8"], [1, "#06294f"]]
_INK, _GRID = "#1b1f24", "#e2e4e8"
TITLES = {
    "throughput": "Throughput, transactions/s",
    "latency-p50": "Median {time}",
    "latency-p99": "p99 {time}",
    "queries": "Queries, hot: the median of three",
    "scans": "A column of a row where every column is read, hot, at best",
    "batch": "Rows/s by keys a request",
    "copy-dump": "Dump, rows/s by workers",
    "copy-restore": "Restore, rows/s by workers",
    "crash-missing": "Acknowledged writes that were missing after the crash",
    "crash-read": "Until a row could be read after the crash",
    "steps": "Share of the transactions' time in each operation",
    "cost": "CPU time of a transaction: solid client, hatched server",
    "timeline": "Transactions in each second",
    "timeline-p99": "p99 of each second, {time}",
    "timeline-hits": "Cache hits of all lookups",
    "timeline-old": "Old row versions yet to be removed",
}
WITHOUT_KALEIDO = (
    "pictures need kaleido: pip install 'dbdyno[plots]'; or save single plots with the report's SVG button"
)
WITHOUT_CHROME = "pictures are drawn by Chrome or Chromium, which is not installed: apt install chromium"


def write_pictures(run: Run, folder: Path) -> list[Path]:
    """Write each plot of a run's report to `folder`, as `NAME.svg` and `NAME.png`. Returns the files.

    Raises:
        UserError: kaleido or a browser is missing, or nothing was measured.
        RunFailed: the browser failed, or a file cannot be written.
    """
    try:
        import kaleido.errors  # noqa: PLC0415
    except ImportError:
        raise UserError(WITHOUT_KALEIDO) from None
    drawn = {name: _dressed(title, figure) for name, title, figure in _figures(run)}
    if not drawn:
        raise UserError(f"{run.path.name}: there is nothing to draw, no trial was measured")
    files = {folder / f"{name}.{kind}": figure for name, figure in drawn.items() for kind in FORMATS}
    # Without this the page that draws would load a library for formulas from the network.
    page = kaleido.PageGenerator(mathjax=False)
    orders = [{"fig": figure, "path": path, "opts": _size(path, figure)} for path, figure in files.items()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        kaleido.write_fig_from_object_sync(orders, kopts={"page_generator": page, "n": 1})
    except kaleido.errors.ChromeNotFoundError:
        raise UserError(WITHOUT_CHROME) from None
    except (OSError, RuntimeError, kaleido.errors.KaleidoError, kaleido.errors.BrowserFailedError) as error:
        raise RunFailed(f"{folder}: the pictures cannot be drawn: {error}") from error
    return list(files)


def _size(path: Path, figure: Figure) -> dict[str, Any]:
    scale = PNG_SCALE if path.suffix == ".png" else 1
    return {"format": path.suffix[1:], "width": WIDTH, "height": figure["layout"]["height"], "scale": scale}


def _figures(run: Run) -> Iterator[tuple[str, str, Figure]]:
    """Every plot with its name and title; those of one load are of the headline's, those of one system its leader's."""
    shown = document(run)
    series = series_of(shown)
    time = time_label(trials_of(series)).split(",")[0]
    drawn = copies.figures(series) | analyses.figures(series)
    of_load = {} if drawn else _of_every_load(shown, series)
    steps = of_load.pop("steps", None)
    for name, figure in (drawn | of_load).items():
        yield name, TITLES[name].format(time=time), figure
    headline = shown["headline"]
    if drawn or headline["leader"] is None:
        return
    by_name = {trial["trial"]: (one, trial) for one in series for trial in one.trials}
    leader, trial = by_name[headline["trials"][headline["leader"]]]
    place = places_of(series)[load_of(trial)]
    if steps:
        steps["data"] = [bar for bar in steps["data"] if bar["meta"]["c"] == place]
        yield "steps", f"{TITLES['steps']}, {at(trial)}", steps
    yield from _over_time(run, series, leader, trial, time)


def _of_every_load(shown: Mapping[str, Any], series: Sequence[Series]) -> dict[str, Figure]:
    found = plots.figures(series, shown["scalability"]) | batches.figures(series) | crash_plots.figures(series)
    return {name: figure for name, figure in found.items() if not name.startswith("operation-")}


def _over_time(
    run: Run, series: Sequence[Series], leader: Series, trial: Mapping[str, Any], time: str
) -> Iterator[tuple[str, str, Figure]]:
    """The plots over time at the load of a trial, and those of that trial alone."""
    recordings, load = recordings_of(run), load_of(trial)
    alone = by_trial([leader], recordings)[leader.place, places_of([leader])[load]]
    for name, figure in by_load(series, recordings)[places_of(series)[load]].items():
        if name == "timeline":
            figure["layout"]["shapes"] += alone["shapes"]
        yield name, f"{TITLES[name].format(time=time)}, {at(trial)}", figure
    whose = f"{leader.name}, {at(trial)}"
    if alone["heat"]:
        yield "heat", f"{whose}: {time}, coloured by how many", alone["heat"]
    if alone["budget"]:
        yield "budget", f"{whose}: where operations were; limited by {limit_of(trial)}", alone["budget"]


def _dressed(title: str, figure: Mapping[str, Any]) -> Figure:
    """A figure with the looks that the page gives it in a browser."""
    axis = {"gridcolor": _GRID, "linecolor": _GRID, "zerolinecolor": _GRID, "automargin": True}
    layout = dict(figure["layout"])
    layout |= {name: axis | layout.get(name, {}) for name in ("xaxis", "yaxis")}
    # Names of bars are as long as they are; what is below them would lie on them. Above there is room for one line.
    names = {trace["name"] for trace in figure["data"] if trace.get("name")}
    # Of a plot that is as high as its bars are many a share of the height is no distance.
    category = layout["xaxis"].get("type") == "category" or "height" in layout
    above = category and len(names) <= NAMES_IN_A_LINE
    columns = max(1, int(WIDTH / (LETTER_PX * max(map(len, names), default=1) + KEY_PX)))
    legend_px = 0 if above else max(0, ceil(len(names) / columns) - 2) * LINE_PX
    place = {"y": 1, "yanchor": "bottom"} if above else {"y": -0.16, "yanchor": "top"}
    looks = {
        "title": {"text": title, "font": {"size": 16}, "x": 0.01, "xanchor": "left"},
        "showlegend": bool(names),
        # A legend of many names would else take its room from the plot.
        "height": max(HEIGHT, layout.get("height", 0)) + legend_px,
        "legend": {"orientation": "h", "x": 0} | place,
        "font": {"family": "system-ui, sans-serif", "size": 13, "color": _INK},
        "paper_bgcolor": "#ffffff",
        "plot_bgcolor": "#ffffff",
        "margin": {"l": 20, "r": 20, "t": 90 if above else 60, "b": 20},
    }
    return {"data": [_trace(trace) for trace in figure["data"]], "layout": layout | looks}


def _trace(trace: Mapping[str, Any]) -> Figure:
    bare = {key: value for key, value in trace.items() if key not in ("meta", "counts", "labels")}
    if trace["type"] != "heatmap":
        return bare
    counts = np.array(trace["counts"], float)
    logarithm = [[float(np.log10(count)) if count else None for count in row] for row in counts]
    return bare | {"z": logarithm, "zmin": 0, "colorscale": _HEAT, "showscale": False}
