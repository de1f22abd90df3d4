"""The host's section of a report: its gauges before and after the run, as a table and as small plots."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from dbdyno.report.core.page import Page
from dbdyno.report.core.plots import Figure
from dbdyno.report.core.section import Part, Section
from dbdyno.report.sections.hosts import GAUGES, Gauge, course, slot_s, worsened, worst
from dbdyno.results.environment import Environment, MeasuredHost

COLOURS = {"before": "#8a8f98", "after": "#7d6bc9"}
"""The colours of the two measurements: the host's plots show no store."""
MOST_OVER_MEDIAN = 4.0
"""How far above its median an axis goes: a single stall of a hundred medians would flatten all the rest."""


@dataclass(frozen=True, slots=True)
class HostSection:
    """The host's section of a page.

    Attributes:
        when: `before` and, if it was measured again, `after`, each with its colour.
        rows: the rows of the table: a gauge's name, and its figure at each of these times.
        plots: the id of each plot, and its caption with the unit.
        worse: what became worse during the run, in sentences.
        not_measured: gauges that could not be measured, with the reason.
    """

    when: Mapping[str, str]
    rows: Sequence[tuple[str, Sequence[str]]]
    plots: Sequence[tuple[str, str]]
    worse: Sequence[str]
    not_measured: Mapping[str, str]


def host_section(environment: Environment) -> HostSection | None:
    """Return the section of a host (docs/run-folder.md, environment.json); `None` if it was not measured."""
    seen = _seen(environment)
    if not seen:
        return None
    rows = []
    for gauge in GAUGES:
        values = [gauge.value(measured) for measured in seen.values()]
        rows.append((gauge.name, ["–" if value is None else gauge.written(value) for value in values]))
    refused = {name: why for measured in seen.values() for name, why in (measured.get("not_measured") or {}).items()}
    return HostSection(
        {when: COLOURS[when] for when in seen},
        rows,
        [(id, f"{gauge.short},{gauge.unit}") for id, gauge in _plotted(seen)],
        list(worsened(seen.get("before"), seen.get("after"))),
        refused,
    )


def host_figures(environment: Environment) -> dict[str, Figure]:
    """Return a plot for each gauge, by id: the median of each slot of its measurement as a line, the worst as a point.

    The axis begins at zero and ends at four times the median of all slots at most. A point beyond that stands at its
    end as a triangle and says its value.
    """
    seen = _seen(environment)
    return {id: _figure(seen, gauge) for id, gauge in _plotted(seen)}


def _seen(environment: Environment) -> dict[str, MeasuredHost]:
    measurements = {"before": environment.get("measured"), "after": environment.get("measured_after")}
    return {when: measured for when, measured in measurements.items() if measured}


def _plotted(seen: Mapping[str, MeasuredHost]) -> Iterator[tuple[str, Gauge]]:
    for index, gauge in enumerate(GAUGES):
        if any(value is not None for measured in seen.values() for value in course(measured, gauge)):
            yield f"host-{index}", gauge


def _figure(seen: Mapping[str, MeasuredHost], gauge: Gauge) -> Figure:
    values = {when: _scaled(course(measured, gauge), gauge) for when, measured in seen.items()}
    extremes = {when: _scaled(worst(measured, gauge), gauge) for when, measured in seen.items()}
    top = _top(values.values(), extremes.values())
    data = []
    for when, measured in seen.items():
        length_s = slot_s(measured, gauge)
        at_s = [round((slot + 0.5) * length_s, 5) for slot in range(len(values[when]))]
        data += [*_line(when, at_s, values[when], gauge), *_points(when, at_s, extremes[when], gauge, top)]
    return {
        "data": data,
        "layout": {
            "xaxis": {"ticksuffix": " s", "nticks": 4, "rangemode": "tozero"},
            "yaxis": {"range": [0, top], "nticks": 4},
        },
    }


def _top(values: Collection[Sequence[float | None]], extremes: Collection[Sequence[float | None]]) -> float:
    """Return the end of the axis of some courses."""
    known = [[value for value in of if value is not None] for of in values]
    peak = max(value for of in (*values, *extremes) for value in of if value is not None)
    # A host that lost nothing to its neighbours has only zeros, and needs an axis too.
    return 1.05 * min(peak, MOST_OVER_MEDIAN * max(median(of) for of in known if of) or peak) or 1.0


def _scaled(values: Sequence[float | None], gauge: Gauge) -> list[float | None]:
    return [None if value is None else round(value / gauge.scale, 6) for value in values]


def _line(when: str, at_s: list[float], values: list[float | None], gauge: Gauge) -> list[Figure]:
    if not values:
        return []
    line = {"type": "scatter", "mode": "lines+markers", "x": at_s, "y": values, "marker": {"size": 3}}
    looks = {"line": {"color": COLOURS[when], "width": 1.5}, "connectgaps": False, "name": when, "showlegend": False}
    return [line | looks | {"hovertemplate": f"%{{y:,.4g}}{gauge.unit} {when} the run<extra></extra>"}]


def _points(when: str, at_s: list[float], values: list[float | None], gauge: Gauge, top: float) -> Iterator[Figure]:
    known = [(at, value) for at, value in zip(at_s, values, strict=False) if value is not None]
    for beyond in (False, True):
        points = [(at, value) for at, value in known if (value > top) is beyond]
        if points:
            symbol = {"symbol": "triangle-up", "size": 7} if beyond else {"symbol": "circle", "size": 4}
            yield {
                "type": "scatter",
                "mode": "markers",
                "x": [at for at, _ in points],
                "y": [min(value, top) for _, value in points],
                "cliponaxis": False,
                "opacity": 0.55,
                "marker": {"color": COLOURS[when], **symbol},
                "text": [f"worst {gauge.written(value * gauge.scale)} {when} the run" for _, value in points],
                "hoverinfo": "text",
                "showlegend": False,
            }


def part(page: Page) -> Part | None:
    """Return the host's section, if the host was measured."""
    host = host_section(page.document["environment"])
    return Part({"host": host}, host_figures(page.document["environment"])) if host else None


SECTION = Section("hosts.html.j2", part)
