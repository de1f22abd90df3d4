"""The report's plots as SVG and PNG files with legend and title, for other pages and papers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from dbdyno.errors import RunFailed, UserError
from dbdyno.report.core import plotly
from dbdyno.report.core.loads import at, load_of
from dbdyno.report.core.page import Page
from dbdyno.report.core.plots import Figure
from dbdyno.report.core.ratios import limit_of
from dbdyno.report.core.recordings import recordings_of
from dbdyno.report.core.series import Series, places_of
from dbdyno.report.core.trial_documents import TrialDocument
from dbdyno.report.document import document
from dbdyno.report.html import clients_loaded, parts_of
from dbdyno.report.sections import over_time
from dbdyno.report.sections.order import SECTIONS
from dbdyno.report.sections.over_time import by_load, by_trial
from dbdyno.results.model import Run

FORMATS = ("svg", "png")
WIDTH, HEIGHT = 1000, 560
PNG_SCALE = 2
NAMES_IN_A_LINE = 6
LETTER_PX, KEY_PX, LINE_PX = 7, 46, 20
"""Sizes in a legend: a letter, the key before a name, and a line."""
_HEAT = [[0, "#e3edf7"], [0.55, "#3f86c8"], [1, "#06294f"]]
_INK, _GRID = "#1b1f24", "#e2e4e8"
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
    orders = [{"fig": figure, "path": path, "opts": _size(path, figure)} for path, figure in files.items()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory() as beside:
            library = Path(beside) / "plotly.js"
            library.write_bytes(plotly.script())
            # Without these the page that draws would load both libraries from the network.
            page = kaleido.PageGenerator(plotly=library, mathjax=False)
            kaleido.write_fig_from_object_sync(orders, kopts={"page_generator": page, "n": 1})
    except kaleido.errors.ChromeNotFoundError:
        raise UserError(WITHOUT_CHROME) from None
    except (OSError, RuntimeError, kaleido.errors.KaleidoError, kaleido.errors.BrowserFailedError) as error:
        raise RunFailed(f"{folder}: the pictures cannot be drawn: {error}") from error
    return list(files)


def _size(path: Path, figure: Figure) -> dict[str, str | int]:
    scale = PNG_SCALE if path.suffix == ".png" else 1
    return {"format": path.suffix[1:], "width": WIDTH, "height": figure["layout"]["height"], "scale": scale}


def _figures(run: Run) -> Iterator[tuple[str, str, Figure]]:
    """Yield each plot with its name and title; a plot of one load or system shows the headline's load or leader."""
    run_document = document(run)
    page = Page(run_document, clients_loaded=clients_loaded(run_document))
    time = page.time_name
    titled = [section for section in SECTIONS if section.titles and section is not over_time.SECTION]
    drawn = {
        name: (section.titles[name].format(time=time), figure)
        for section, part in parts_of(page, titled)
        for name, figure in part.figures.items()
        if name in section.titles
    }
    steps = drawn.pop("steps", None)
    for name, (title, figure) in drawn.items():
        yield name, title, figure
    headline = run_document["headline"]
    if not page.clients_loaded or headline["leader"] is None:
        return
    by_name = {trial["trial"]: (series, trial) for series in page.series for trial in series.trials}
    leader, trial = by_name[headline["trials"][headline["leader"]]]
    load_index = places_of(page.series)[load_of(trial)]
    if steps:
        title, figure = steps
        figure["data"] = [bar for bar in figure["data"] if bar["meta"]["c"] == load_index]
        yield "steps", f"{title}, {at(trial)}", figure
    yield from _over_time(run, page.series, leader, trial, time)


def _over_time(
    run: Run, series: Sequence[Series], leader: Series, trial: TrialDocument, time: str
) -> Iterator[tuple[str, str, Figure]]:
    """Yield the plots over time at the load of a trial, and those of that trial alone."""
    recordings, load = recordings_of(run), load_of(trial)
    alone = by_trial([leader], recordings)[leader.index, places_of([leader])[load]]
    for name, figure in by_load(series, recordings)[places_of(series)[load]].items():
        if name == "timeline":
            figure["layout"]["shapes"] += alone["shapes"]
        yield name, f"{over_time.SECTION.titles[name].format(time=time)}, {at(trial)}", figure
    whose = f"{leader.name}, {at(trial)}"
    if alone["heat"]:
        yield "heat", f"{whose}: {time}, coloured by how many", alone["heat"]
    if alone["budget"]:
        yield "budget", f"{whose}: where operations were; limited by {limit_of(trial)}", alone["budget"]


def _dressed(title: str, figure: Figure) -> Figure:
    """Return a figure in the style that the page gives it in a browser."""
    axis = {"gridcolor": _GRID, "linecolor": _GRID, "zerolinecolor": _GRID, "automargin": True}
    layout = dict(figure["layout"])
    layout |= {name: axis | layout.get(name, {}) for name in ("xaxis", "yaxis")}
    # Long names of bars would overlap a legend below them. Above there is room for one line.
    names = {trace["name"] for trace in figure["data"] if trace.get("name")}
    # If the height follows the number of bars, a share of it is no fixed distance.
    category = layout["xaxis"].get("type") == "category" or "height" in layout
    above = category and len(names) <= NAMES_IN_A_LINE
    columns = max(1, int(WIDTH / (LETTER_PX * max(map(len, names), default=1) + KEY_PX)))
    legend_px = 0 if above else max(0, ceil(len(names) / columns) - 2) * LINE_PX
    legend_position = {"y": 1, "yanchor": "bottom"} if above else {"y": -0.16, "yanchor": "top"}
    looks = {
        "title": {"text": title, "font": {"size": 16}, "x": 0.01, "xanchor": "left"},
        "showlegend": bool(names),
        # Otherwise a legend of many names takes its room from the plot.
        "height": max(HEIGHT, layout.get("height", 0)) + legend_px,
        "legend": {"orientation": "h", "x": 0} | legend_position,
        "font": {"family": "system-ui, sans-serif", "size": 13, "color": _INK},
        "paper_bgcolor": "#ffffff",
        "plot_bgcolor": "#ffffff",
        "margin": {"l": 20, "r": 20, "t": 90 if above else 60, "b": 20},
    }
    asked_for = [trace for trace in figure["data"] if not (trace.get("meta") or {}).get("fit")]
    return {"data": [_trace(trace) for trace in asked_for], "layout": layout | looks}


def _trace(trace: Figure) -> Figure:
    bare = {key: value for key, value in trace.items() if key not in ("meta", "counts", "labels")}
    if trace["type"] != "heatmap":
        return bare
    counts = np.array(trace["counts"], float)
    logarithm = [[float(np.log10(count)) if count else None for count in row] for row in counts]
    return bare | {"z": logarithm, "zmin": 0, "colorscale": _HEAT, "showscale": False}
