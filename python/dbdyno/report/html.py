"""The report: one HTML file that needs nothing else, no network among it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from dbdyno.errors import RunFailed
from dbdyno.report import analyses, batches, capacity, copies, crashes, locks, plots, ranking, replication, words
from dbdyno.report.crash_plots import figures as figures_of_crashes
from dbdyno.report.document import document
from dbdyno.report.host_plots import host_figures, host_section
from dbdyno.report.kinds import kinds_of
from dbdyno.report.loads import Document, at, is_open, load_of, share_of, time_label, time_name, times_us
from dbdyno.report.names import short_names
from dbdyno.report.over_time import Recordings, by_load, by_trial, recordings_of
from dbdyno.report.series import Series, load_labels, operations, representatives, series_of, trials_of
from dbdyno.report.steadiness import steady_class
from dbdyno.report.templating import TEMPLATES, templates
from dbdyno.report.unfair import unfair
from dbdyno.results.jsonfiles import read_object
from dbdyno.results.model import Run
from dbdyno.results.operations import group_of

_WRITTEN = {"_unix_s": words.when, "_bytes": words.short_bytes}
"""How a figure of the environment is written, by the end of its name."""
CARD_NAMES = {
    "versions": "Versions",
    "settings": "Default or tuned",
    "started with": "What dbdyno told the server",
    "memory": "Data and cache",
    "durability": "An acknowledged write survives",
    "flushes": "Flushes",
    "temperature": "Cold, lukewarm or hot",
    "place": "Client and server",
    "answers": "Answers",
}


def write_report(run: Run, path: Path) -> None:
    """Write the report of `run` to `path`, whole or not at all.

    Raises:
        RunFailed: it cannot be written, for want of room or of permission.
    """
    write_page(render(document(run), recordings_of(run), flame_graphs(run.path), without_names(run.path)), path)


def write_page(page: str, path: Path) -> None:
    """Write a page whole or not at all; raises RunFailed as `write_report`."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        unfinished.write_text(page, encoding="utf-8")
        os.replace(unfinished, path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise RunFailed(f"{path}: the page cannot be written: {error.strerror}") from error


def flame_graphs(folder: Path) -> list[tuple[str, str]]:
    """Return the stacks that were taken during a run, as (trial and name, the SVG)."""
    found = sorted(folder.glob("trials/*/profile/*.svg"))
    return [(f"{path.parent.parent.name}: {path.stem}", path.read_text(encoding="utf-8")) for path in found]


def without_names(folder: Path) -> list[tuple[str, str | None]]:
    """Return the files whose functions stand without names in a run's stacks, each with the package that has them."""
    found: dict[str, str | None] = {}
    for path in sorted(folder.glob("trials/*/profile/profile.json")):
        for stacks in read_object(path).get("stacks", {}).values():
            found |= {one["file"]: one["package"] for one in stacks.get("unnamed", ())}
    return sorted(found.items())


def environment_of_templates() -> Environment:
    """Return what fills pages in, with the ways they write figures."""
    environment = templates()
    environment.filters |= {
        "significant": words.significant,
        "whole": words.whole,
        "text": _text,
        "bytes": words.short_bytes,
        "percent": words.percent,
    }
    return environment


def render(
    shown: Document,
    recordings: Recordings | None = None,
    flames: Sequence[tuple[str, str]] = (),
    nameless: Sequence[tuple[str, str | None]] = (),
) -> str:
    """Return the page of what `dbdyno.report.document.document` returned.

    Labels, settings, errors and anything a server said are untrusted text: the template escapes all of it, and what
    the script reads is JSON without a `<`.

    Args:
        recordings: what the plots over time need beside it; without, they show throughput only.
        flames: names and SVGs of flame graphs; they are shown in a frame that may not touch the page.
        nameless: files whose functions stand in them without names, and the packages that have these.
    """
    series = series_of(shown)
    clients_loaded = not (copies.copied(shown) or analyses.analysed(shown))
    figures = _figures(shown, series) if clients_loaded else copies.figures(series) | analyses.figures(series)
    figures |= host_figures(shown["environment"])
    over_time, parts = _over_time(series, recordings or Recordings()) if clients_loaded else ({}, {})
    return (
        environment_of_templates()
        .get_template("report.html.j2")
        .render(
            shown=shown,
            series=series,
            figures=figures,
            over_time=over_time,
            clients_loaded=clients_loaded,
            data=json_for_script({"figures": figures}),
            parts=[(id, json_for_script(part)) for id, part in parts.items()],
            flames=flames,
            nameless=nameless,
            operations=_operations(series, figures),
            host=host_section(shown["environment"]),
            environment_rows=list(flattened(_described(shown["environment"]))),
            card_lines=_card_lines(shown),
            kinds=any(kinds_of(trial) for trial in shown["trials"]),
            **_of_every_run(),
            **_first_screen(shown, series),
            **_of_some_runs(shown),
            **_times(series),
        )
    )


def _of_every_run() -> dict[str, Any]:
    """What the template calls, and what the page brings along."""
    return {
        "words": words,
        "steady_class": steady_class,
        "marks": ranking.MARKS,
        "group_of": group_of,
        "kinds_of": kinds_of,
        "representatives": representatives,
        "style": inlined("page.css") + inlined("report.css"),
        "script": inlined("report.js"),
        "theme": inlined("theme.js"),
        "plotly": Markup(get_plotlyjs()),
    }


def _figures(shown: Document, series: Sequence[Series]) -> dict[str, Any]:
    """The plots of a run of clients but those over time."""
    return plots.figures(series, shown["scalability"]) | batches.figures(series) | figures_of_crashes(series)


def _over_time(series: Sequence[Series], recorded: Recordings) -> tuple[dict[int, Any], dict[str, Any]]:
    """The plots over time by the place of their load, and, by id, what the page parses when it is first looked at."""
    over_time = by_load(series, recorded)
    parts = {f"load-{place}": part for place, part in over_time.items()}
    parts |= {f"trial-{one}-{load}": part for (one, load), part in by_trial(series, recorded).items()}
    return over_time, parts


def _of_some_runs(shown: Document) -> dict[str, Any]:
    """What only some experiments have a section of, and the modules that know its table."""
    return {
        "analyses": analyses,
        "analysed": analyses.analysed(shown),
        "crashes": crashes,
        "crashed": crashes.crashed(shown),
        "copies": copies,
        "copied": copies.copied(shown),
        "replication": replication,
        "replicated": replication.replicated(shown),
        "locks": locks,
        "locked": locks.shown_trials(shown),
        "capacity": capacity,
        "below_capacity": capacity.at_shares(shown),
    }


def _described(environment: Mapping[str, Any]) -> dict[str, Any]:
    """The environment without what was measured of it, which has a section of its own."""
    return {name: value for name, value in environment.items() if name not in ("measured", "measured_after")}


def _first_screen(shown: Document, series: Sequence[Series]) -> dict[str, Any]:
    """What the page begins with, and which load and system it shows first."""
    labels = load_labels(series)
    ranked = ranking.ranked(shown, series)
    trials = trials_of(series)
    return {
        "ranked": ranked,
        "matrix": ranking.matrix(shown, series, list(labels)),
        "at_words": at(ranked[0].trial) if ranked else "",
        "ranked_time": time_label([row.trial for row in ranked]),
        "load_labels": list(labels.values()),
        "chosen": list(labels).index(load_of(ranked[0].trial)) if ranked else len(labels) - 1,
        "chosen_series": ranked[0].series.place if ranked else 0,
        "unfair": list(unfair(shown)),
        "limits": words.limits(shown["headline"]),
        "latency": capacity.sentence(shown),
        "left_out_of_names": _left_out_of_names(series),
        **_shares(shown),
        "scope": _scope(shown),
        "when": words.when(shown["started_unix_s"]),
        "fits": [sweep for sweep in shown["scalability"] if sweep["law"]],
        "one_load": plots.at_one_load(series),
        "several_workloads": len({one.workload for one in series}) > 1,
        "worst": words.worst_stall(trials),
        "trial_count": len(trials),
    }


def _left_out_of_names(series: Sequence[Series]) -> str:
    _, left_out = short_names([one.name for one in series])
    return f"After each name, in this order: {left_out}" if left_out else ""


def _shares(shown: Document) -> dict[str, Any]:
    """The p99 of response times below capacity, which stands in the place of a closed loop's where there is one."""
    p99s = capacity.p99s(shown)
    return {"p99s": p99s, "shares": sorted({share for by_share in p99s.values() for share in by_share})}


def _times(series: Sequence[Series]) -> dict[str, Any]:
    """Which of the times is shown, in which unit, and how it is called."""
    trials = trials_of(series)
    unit, length_us = words.latency_unit(trials)
    time = time_name(trials)
    return {
        "open": is_open(trials),
        "of_time": lambda counted: times_us(counted, time),
        "time_name": time_label(trials).split(",")[0],
        "time_label": time_label(trials),
        "unit": unit,
        "length_us": length_us,
        "plot_unit": plots.plot_unit(series)[0],
    }


def _operations(series: Sequence[Series], figures: Mapping[str, Any]) -> list[tuple[str, str, str | None]]:
    """Each operation that has a plot: the plot's id, its name, and the logical operation it is."""
    found = enumerate(operations(series).items())
    return [(id, name, kind) for place, (name, kind) in found if (id := f"operation-{place}") in figures]


def _card_lines(shown: Document) -> list[tuple[str, list[tuple[str, list[str]]]]]:
    """The fairness card by line, and in each the systems of which it says the same together."""
    systems = shown["fairness"]["systems"]
    lines = []
    for name in dict.fromkeys(name for system in systems for name in system["card"]):
        told: dict[str, list[str]] = {}
        for system in systems:
            told.setdefault(system["card"].get(name, words.UNKNOWN), []).append(system["label"])
        lines.append((CARD_NAMES.get(name, name), list(told.items())))
    return lines


def json_for_script(value: Any) -> Markup:
    """Return JSON that cannot end the script element it stands in, whatever its strings hold."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def flattened(value: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Yield the leaves of nested JSON objects as (path, text)."""
    for key, leaf in value.items():
        path = f"{before}{key}"
        if isinstance(leaf, Mapping):
            yield from flattened(leaf, f"{path} · ")
        else:
            unit = next((unit for unit in _WRITTEN if key.endswith(unit)), None)
            yield path, _WRITTEN[unit](leaf) if unit else _text(leaf)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value)) or words.UNKNOWN
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={_text(leaf)}" for key, leaf in value.items()) or words.UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return words.significant(value)
    return words.UNKNOWN if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def inlined(name: str) -> Markup:
    """Return a file of the templates as part of a page."""
    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))


def _scope(shown: Document) -> str:
    """What was measured, in one sentence."""
    trials = [trial for trial in shown["trials"] if trial["system"] is not None]
    if not trials:
        return "No trial was reached."
    size = _size(trials)
    clients, seconds = (
        _span(trial["clients"] or None for trial in trials),
        _span(round(trial["seconds"]) for trial in trials),
    )
    complete = sum(trial["state"] == "complete" for trial in shown["trials"])
    workloads = ", ".join(dict.fromkeys(str(trial["workload"]) for trial in trials))
    systems = len(dict.fromkeys(trial["label"] for trial in trials))
    noun = "client" if clients == "1" else "clients"
    what = f"{workloads} on {systems} system{'s' if systems > 1 else ''}: {size}"
    if analyses.analysed(shown):
        return f"{what}. {complete} of {len(shown['trials'])} trials are complete."
    return (
        f"{what}, {_loop(trials)} of {clients} {noun}, {seconds} s measured a trial after the warm-up. "
        f"{complete} of {len(shown['trials'])} trials are complete."
    )


def _size(trials: list[Document]) -> str:
    """What the `rows` of the trials are, in words: of tpcc the number of warehouses."""
    rows = _span(trial["rows"] for trial in trials)
    if any(trial["workload"] != "tpcc" for trial in trials):
        return f"{rows} rows a table"
    return "1 warehouse" if rows == "1" else f"{rows} warehouses"


def _loop(trials: list[Document]) -> str:
    if not is_open(trials):
        return "closed loop"
    arrivals = " and ".join(dict.fromkeys(trial["rate"]["arrivals"] for trial in trials if trial["rate"]))
    closed_first = "closed loop, and below its capacity " if any(map(share_of, trials)) else ""
    return f"{closed_first}open loop ({arrivals} arrivals)"


def _span(values: Iterator[int | None]) -> str:
    known = sorted({value for value in values if value is not None})
    if not known:
        return words.UNKNOWN
    return f"{known[0]:,}" if len(known) == 1 else f"{known[0]:,} to {known[-1]:,}"
