"""Throughput and latency against a setting that the experiment varied: a buffer pool, rows, processors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

from dbdyno.report.core.loads import Load, time_name, times_us
from dbdyno.report.core.named_workload import named_workload
from dbdyno.report.core.page import PERCENTILES, Page
from dbdyno.report.core.plots import Figure, plot_unit, scaled
from dbdyno.report.core.section import Part, Section
from dbdyno.report.core.series import Series, places_of, representatives, trials_of
from dbdyno.report.core.trial_documents import TrialDocument
from dbdyno.results.rivals import base_of

_SUFFIXES = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_Own = Literal["rows", "pipeline", "network_delay_us", "memory_limit_bytes"]
_Cpus = Literal["client_cpus", "server_cpus"]
_OF_TRIAL: dict[_Own, str] = {
    "rows": "rows",
    "pipeline": "pipeline",
    "network_delay_us": "network delay, µs",
    "memory_limit_bytes": "memory limit, bytes",
}
_CPUS: dict[_Cpus, str] = {"client_cpus": "client processors", "server_cpus": "server processors"}
"""The number of these processors is the value."""
_OF_VARIANT = {
    "client CPUs": "client processors",
    "server CPUs": "server processors",
    "memory limit": "memory limit, bytes",
}
"""Keys of a variant, in its words, that go by another name here."""


@dataclass(frozen=True, slots=True)
class Line:
    """Trials that differ in one setting alone: for each of its values and each load, a system's representative
    trial."""

    name: str
    series: Series
    trials: Mapping[tuple[str, Load], TrialDocument]


@dataclass(frozen=True, slots=True)
class _Point:
    series: Series
    load: Load
    trial: TrialDocument
    settings: Mapping[str, str]


def settings_of(trial: TrialDocument) -> dict[str, str]:
    """Return what an experiment may vary in a trial, by name: settings, workload options, rows, keys of its variant."""
    given = {**(trial["settings"] or {}), **named_workload(trial["workload"]).options, **(trial["options"] or {})}
    own = {name: trial.get(key) for key, name in _OF_TRIAL.items()}
    counts = {name: len(cpus) for key, name in _CPUS.items() if (cpus := trial.get(key))}
    variant = {_OF_VARIANT.get(key, key): value for key, value in trial.get("variant", {}).items()}
    return {name: str(value) for name, value in (variant | given | own | counts).items() if value is not None}


def varied(all_series: Sequence[Series]) -> dict[str, list[Line]]:
    """Return the settings with several values, each with its lines; all other settings of a line are equal.

    Settings that change together, one value of the one with one value of the other, count as one.
    """
    by_setting: dict[str, list[Line]] = {}
    systems: dict[tuple[str | None, str], list[_Point]] = {}
    for series in all_series:
        for load, trial in representatives(series).items():
            key = trial["system"], named_workload(trial["workload"]).name
            systems.setdefault(key, []).append(_Point(series, load, trial, settings_of(trial)))
    names = dict.fromkeys(name for points in systems.values() for point in points for name in point.settings)
    for name in names:
        if lines := [line for points in systems.values() for line in _lines(name, points)]:
            by_setting[name] = lines
    return by_setting


def _lines(name: str, points: Sequence[_Point]) -> Iterator[Line]:
    """Yield the lines of a setting through the trials of one system."""
    points = [point for point in points if name in point.settings]
    together = _together(name, points)
    lines: dict[tuple[tuple[str, str], ...], list[_Point]] = {}
    for point in points:
        others = tuple(sorted(item for item in point.settings.items() if item[0] not in together))
        lines.setdefault(others, []).append(point)
    for line in lines.values():
        if len({point.settings[name] for point in line}) > 1:
            trials = {(point.settings[name], point.load): point.trial for point in line}
            yield Line(_without(together, line[0]), line[0].series, trials)


def _together(name: str, points: Sequence[_Point]) -> set[str]:
    """Return the settings that change with `name` alone, and it with them; it itself is one."""
    together = {name}
    for other in {other for point in points for other in point.settings}:
        pairs = {(point.settings[name], point.settings.get(other)) for point in points}
        if len(pairs) == len({ours for ours, _ in pairs}) == len({theirs for _, theirs in pairs}):
            together.add(other)
    return together


def _without(names: Iterable[str], point: _Point) -> str:
    """Return the name of a system without what it says of some settings."""
    label = point.series.name
    for name in names:
        label = re.sub(rf"[ ?&]?{re.escape(name)}=[^ &,]*", "", label)
    variant = point.trial.get("variant", {})
    return base_of(label, {key: value for key, value in variant.items() if _OF_VARIANT.get(key, key) in names})


def rising(values: Sequence[str]) -> list[str]:
    """Return values by size, `64M` before `1G`; values that are no numbers come last, in their order."""
    return sorted(dict.fromkeys(values), key=lambda value: (_size(value) is None, _size(value) or 0.0))


def _size(value: str) -> float | None:
    factor = _SUFFIXES.get(value[-1:].lower(), 1)
    digits = value if factor == 1 else value[:-1]
    try:
        return float(digits) * factor
    except ValueError:
        return None


def figures(all_series: Sequence[Series]) -> dict[str, Figure]:
    """Return the plots by id: `setting-0-throughput`, `setting-0-p99` of the first setting, and so on."""
    unit, length_us = plot_unit(all_series)
    time, places = time_name(trials_of(all_series)), places_of(all_series)
    plots = {}
    for number, (name, lines) in enumerate(varied(all_series).items()):
        values = rising([value for line in lines for value, _ in line.trials])
        per_s = {id(trial): trial["throughput_per_s"] for line in lines for trial in line.trials.values()}
        plots[f"setting-{number}-throughput"] = _figure(name, values, lines, places, per_s, "/s")
        for key in PERCENTILES:
            times = {
                id(trial): scaled(times_us(trial["transaction"], time)[key], length_us)
                for line in lines
                for trial in line.trials.values()
            }
            plots[f"setting-{number}-{key}"] = _figure(name, values, lines, places, times, unit)
    return plots


def _figure(
    name: str,
    values: Sequence[str],
    lines: Sequence[Line],
    places: Mapping[Load, int],
    figure_of: Mapping[int, float | None],
    unit: str,
) -> Figure:
    order = {"categoryorder": "array", "categoryarray": list(values)}
    return {
        "data": [trace for line in lines for trace in _traces(line, values, places, figure_of, unit)],
        "layout": {
            "xaxis": {"type": "category", "title": {"text": escape(name)}} | order,
            "yaxis": {"rangemode": "tozero", "ticksuffix": "" if unit == "/s" else f" {unit}"},
            "showlegend": len(lines) > 1,
            "hovermode": "closest",
        },
    }


def _traces(
    line: Line, values: Sequence[str], places: Mapping[Load, int], figure_of: Mapping[int, float | None], unit: str
) -> Iterator[Figure]:
    look = line.series.look
    for load in dict.fromkeys(load for _, load in line.trials):
        points = [(value, trial) for value in values if (trial := line.trials.get((value, load)))]
        yield {
            "type": "scatter",
            # A line cannot run between words.
            "mode": "markers" if None in map(_size, values) else "lines+markers",
            "x": [value for value, _ in points],
            "y": [None if (y := figure_of[id(trial)]) is None else round(y, 4) for _, trial in points],
            "name": escape(line.name),
            "line": {"color": look.colour, "dash": look.dash, "width": 2},
            "marker": {"color": look.colour, "symbol": look.symbol, "size": 8},
            "hovertemplate": f"{escape(line.name)}, %{{x}}<br><b>%{{y:,.5g}} {unit}</b><extra></extra>",
            # The line belongs to several systems, so no system's button hides it.
            "meta": {"s": None, "c": places[load]},
        }


def part(page: Page) -> Part | None:
    """Return the plots of every varied setting, or `None` if nothing but the load was varied."""
    settings = list(varied(page.series)) if page.clients_loaded else []
    return Part({"settings": settings}, figures(page.series)) if settings else None


SECTION = Section("against_setting.html.j2", part)
