"""Losses of stores in a crash and their time to recover, as bars: for each system one a kind of crash."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from dbdyno.report.core.looks import HUES
from dbdyno.report.core.page import Page
from dbdyno.report.core.plots import Figure
from dbdyno.report.core.section import Part, Section
from dbdyno.report.core.series import Series, trials_of
from dbdyno.report.core.trial_documents import TrialDocument
from dbdyno.report.core.words import label_of, significant, whole
from dbdyno.report.sections import crashes
from dbdyno.report.sections.crashes import crash_of, crashed

_AROUND_PX, _SYSTEM_PX = 100, 60
"""Heights in the plots: legend and axis together, and each system's name with its bars."""
_HUES = (5, 6)
"""Hues of kill and power cut: the colours distinguish these, not the stores."""
_Value = Callable[[TrialDocument], float | None]
_Words = Callable[[TrialDocument], str]


def figures(all_series: Sequence[Series]) -> dict[str, Figure]:
    """Return the plots of a run of crashes: missing writes, and the time to the first row read; empty for another run.

    With repetitions a bar is the worst. Names stand above their bars: a phone has no room for them beside the bars.
    """
    if not crashed(trials_of(all_series)):
        return {}
    missing = _figure(all_series, _missing_percent, _missing_words, "of the acknowledged writes, %")
    missing["layout"]["xaxis"]["range"] = [0, 100]
    read = _figure(all_series, _read_s, _read_words, "s from the start after the crash to the first row read")
    return {name: plot for name, plot in {"crash-missing": missing, "crash-read": read}.items() if plot["data"]}


def _missing_percent(trial: TrialDocument) -> float | None:
    crash = crash_of(trial)
    return 100 * crash["missing"] / crash["acknowledged"] if crash["acknowledged"] else None


def _missing_words(trial: TrialDocument) -> str:
    crash = crash_of(trial)
    broken = ", BROKEN" if crash["verdict"] == "broken" else ""
    return f"{whole(crash['missing'])} of {whole(crash['acknowledged'])}{broken}"


def _read_s(trial: TrialDocument) -> float | None:
    return crash_of(trial)["first_read_s"]


def _read_words(trial: TrialDocument) -> str:
    return f"{significant(_read_s(trial))} s"


def _figure(all_series: Sequence[Series], value: _Value, in_words: _Words, title: str) -> Figure:
    worst = [(series, *trial_figure) for series in all_series if (trial_figure := _worst(series, value))]
    systems = list(dict.fromkeys(label_of(trial) for _, trial, _ in worst))
    worst.sort(key=lambda bar: crash_of(bar[1])["kind"])
    kinds = sorted({crash_of(trial)["kind"] for _, trial, _ in worst})
    bars = [
        _bar(series, trial, figure, in_words(trial), systems.index(label_of(trial)), kinds)
        for series, trial, figure in worst
    ]
    for index, bar in enumerate(bars):
        bar["showlegend"] = bar["name"] not in {earlier["name"] for earlier in bars[:index]}
    layout = {
        "height": _AROUND_PX + _SYSTEM_PX * len(systems),
        "bargap": 0,
        "barmode": "overlay",
        "showlegend": True,
        "xaxis": {"rangemode": "tozero", "title": {"text": title}},
        "yaxis": {"range": [len(systems) - 0.4, -0.5], "visible": False, "fixedrange": True},
    }
    return {"data": [*bars, *([_names(systems)] if bars else [])], "layout": layout}


def _worst(series: Series, value: _Value) -> tuple[TrialDocument, float] | None:
    known = [(trial, figure) for trial in crashed(series.trials) if (figure := value(trial)) is not None]
    return max(known, key=lambda pair: pair[1], default=None)


def _bar(series: Series, trial: TrialDocument, figure: float, said: str, row: int, kinds: Sequence[str]) -> Figure:
    kind, thick = crash_of(trial)["kind"], 0.64 / len(kinds)
    at = kinds.index(kind)
    # A bar of length 0 shows no colour, so its text names the kind.
    said = f"{kind}: {said}" if len(kinds) > 1 else said
    colour = HUES[_HUES[at]][0]
    return {
        "type": "bar",
        "orientation": "h",
        "x": [round(figure, 4)],
        "y": [round(row - 0.1 + thick * (at + 0.5), 4)],
        "width": [thick * 0.9],
        "text": [said],
        # With `auto`, a bar of length 0 has no text.
        "textposition": "auto" if figure else "outside",
        "constraintext": "none",
        "textangle": 0,
        "insidetextanchor": "end",
        # Without an outline a bar of length 0 is not drawn at all.
        "marker": {"color": colour, "line": {"color": colour, "width": 1}},
        "name": kind,
        "legendgroup": kind,
        "hovertemplate": f"{escape(label_of(trial))}, {said}<extra></extra>",
        "meta": {"s": series.index},
    }


def _names(systems: Sequence[str]) -> Figure:
    return {
        "type": "scatter",
        "mode": "text",
        "x": [0] * len(systems),
        "y": [row - 0.26 for row in range(len(systems))],
        "text": [escape(name) for name in systems],
        "textposition": "middle right",
        "hoverinfo": "skip",
        "showlegend": False,
        "cliponaxis": False,
        # A name belongs to several series, so no series' button hides it.
        "meta": {},
    }


def part(page: Page) -> Part | None:
    """Return the plots and the tables of what was there after the crash."""
    trials = crashed(page.document["trials"])
    if not (trials and page.series):
        return None
    plots = figures(page.series)
    titles = {
        "crash-missing": "Missing of what had been acknowledged",
        "crash-read": "Back: until a first row was read",
    }
    tables: list[tuple[Sequence[str], list[list[str]], str]] = [(crashes.HEADINGS, crashes.rows(trials), crashes.NOTE)]
    if held := crashes.agreement_rows(trials):
        tables.append((crashes.AGREEMENT_HEADINGS, held, crashes.AGREEMENT_NOTE))
    drawn = [(id, title, plots[id]["layout"]["height"]) for id, title in titles.items() if id in plots]
    return Part({"sentences": crashes.sentences(trials), "drawn": drawn, "tables": tables}, plots)


SECTION = Section(
    "crashes.html.j2",
    part,
    {
        "crash-missing": "Acknowledged writes that were missing after the crash",
        "crash-read": "Until a row could be read after the crash",
    },
)
