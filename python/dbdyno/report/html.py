"""The report: one HTML file that needs nothing else, no network among it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from dbdyno.errors import RunFailed
from dbdyno.report import plots, words
from dbdyno.report.document import document
from dbdyno.report.libraries import understated
from dbdyno.report.loads import Document, at, is_open, load_of, time_label, time_name, times_us
from dbdyno.results.model import Run

TEMPLATES = Path(__file__).parent / "templates"
EVERY_TRIAL_OPEN_UP_TO = 30
STEADY_STATE_SECONDS = 30
"""Shorter trials cannot show a steady state (METHODS §2)."""


def write_report(run: Run, path: Path) -> None:
    """Write the report of `run` to `path`, whole or not at all.

    Raises:
        RunFailed: it cannot be written, for want of room or of permission.
    """
    page = render(document(run))
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        unfinished.write_text(page, encoding="utf-8")
        os.replace(unfinished, path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise RunFailed(f"{path}: the report cannot be written: {error.strerror}") from error


def render(shown: Document) -> str:
    """Return the page of what `dbdyno.report.document.document` returned.

    Labels, settings, errors and anything a server said are untrusted text: the template escapes all of it, and what
    the script reads is JSON without a `<`.
    """
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"significant": words.significant, "whole": words.whole, "text": _text}
    series = plots.series_of(shown)
    figures = plots.figures(series)
    best = words.best_by_group(shown)
    trials = [trial for one in series for trial in one.trials]
    labels = plots.load_labels(series)
    chosen = list(labels).index(load_of(best[0])) if best else len(labels) - 1
    operations = [
        (plot, name, kind)
        for place, (name, kind) in enumerate(plots.operations(series).items())
        if (plot := f"operation-{place}") in figures
    ]
    unit, length_us = words.latency_unit(trials)
    time = time_name(trials)
    return environment.get_template("report.html.j2").render(
        shown=shown,
        series=series,
        best=_ranked(best, series),
        careful=list(_careful(shown)),
        understated=list(understated(shown)),
        figures=figures,
        data=json_for_script({"figures": figures}),
        load_labels=list(labels.values()),
        chosen=chosen,
        at=at,
        open=is_open(trials),
        of_time=lambda counted: times_us(counted, time),
        time_name=time_label(trials).split(",")[0],
        time_label=time_label(trials),
        operations=operations,
        reads=plots.READS,
        unit=unit,
        plot_unit=plots.plot_unit(series)[0],
        length_us=length_us,
        words=words,
        scope=_scope(shown),
        when=_when(shown["started_unix_s"]),
        environment_rows=list(flattened(shown["environment"])),
        open_every=sum(len(one.trials) for one in series) <= EVERY_TRIAL_OPEN_UP_TO,
        style=_inlined("report.css"),
        script=_inlined("report.js"),
        plotly=Markup(get_plotlyjs()),
    )


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
            yield path, _text(leaf)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value)) or words.UNKNOWN
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={_text(leaf)}" for key, leaf in value.items()) or words.UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    return words.UNKNOWN if value is None else str(value)


def _inlined(name: str) -> Markup:
    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))


def _when(unix_s: float | None) -> str:
    return datetime.fromtimestamp(unix_s, UTC).strftime("%Y-%m-%d %H:%M UTC") if unix_s else "at an unknown time"


def _ranked(best: list[Document], series: list[plots.Series]) -> list[tuple[Document, plots.Series, float]]:
    """The highest figure of each series with its share of the highest of all."""
    by_trial = {trial["trial"]: one for one in series for trial in one.trials}
    return [
        (trial, by_trial[trial["trial"]], trial["throughput_per_s"] / best[0]["throughput_per_s"]) for trial in best
    ]


def _scope(shown: Document) -> str:
    """What was measured, in one sentence."""
    trials = [trial for trial in shown["trials"] if trial["system"] is not None]
    if not trials:
        return "No trial was reached."
    rows = _span(trial["rows"] for trial in trials)
    clients, seconds = _span(trial["clients"] for trial in trials), _span(round(trial["seconds"]) for trial in trials)
    complete = sum(trial["state"] == "complete" for trial in shown["trials"])
    workloads = ", ".join(dict.fromkeys(str(trial["workload"]) for trial in trials))
    systems = len(dict.fromkeys(trial["label"] for trial in trials))
    return (
        f"{workloads} on {systems} system{'s' if systems > 1 else ''}: {rows} rows a table, "
        f"{_loop(trials)} of {clients} clients, {seconds} s measured a trial after the warm-up. "
        f"{complete} of {len(shown['trials'])} trials are complete."
    )


def _loop(trials: list[Document]) -> str:
    if not is_open(trials):
        return "closed loop"
    arrivals = " and ".join(dict.fromkeys(trial["rate"]["arrivals"] for trial in trials if trial["rate"]))
    return f"open loop ({arrivals} arrivals)"


def _span(values: Iterator[int | None]) -> str:
    known = sorted({value for value in values if value is not None})
    if not known:
        return words.UNKNOWN
    return f"{known[0]:,}" if len(known) == 1 else f"{known[0]:,} to {known[-1]:,}"


def _careful(shown: Document) -> Iterator[str]:
    """What a reader must know before quoting a figure."""
    trials = [trial for trial in shown["trials"] if trial["system"] is not None]
    for sentence in (words.run_state(shown), words.caution(shown), words.durability_caution(shown)):
        if sentence:
            yield sentence
    if wrong := sum(trial["mismatches"] for trial in trials):
        yield f"{wrong:,} read{'s were' if wrong > 1 else ' was'} wrong: the figures of that store do not count."
    elif not any(trial["reads_verified"] for trial in trials):
        yield "No answer was checked."
    if any(0 < trial["seconds"] < STEADY_STATE_SECONDS for trial in trials):
        yield f"Trials under {STEADY_STATE_SECONDS} s are too short to tell whether a steady state was reached."
    yield from _where_it_ran(trials)
    yield from _what_it_may_not_say(trials)
    if warned := len(words.warnings_by_text(shown)):
        yield f"{warned} trial{'s carry' if warned > 1 else ' carries'} a warning: see Checks."


def _where_it_ran(trials: list[Document]) -> Iterator[str]:
    embedded = _labels(trial for trial in trials if not trial["attached"] and _without_server(trial))
    attached = _labels(trial for trial in trials if trial["attached"])
    if embedded:
        yield f"Embedded, so that client CPU is the store's too and no network is paid for: {embedded}."
    if attached:
        yield f"Attached, so that neither the server's CPU nor its host was seen: {attached}."
    if any(not trial["attached"] and not _without_server(trial) for trial in trials):
        yield f"Client and servers shared one host; {_pinning(trials)}."


def _what_it_may_not_say(trials: list[Document]) -> Iterator[str]:
    if limited := _labels(trial for trial in trials if trial["client_limited"]):
        yield f"Limited by the client, so that figures are lower bounds of what the store can do: {limited}."
    if behind := _labels(trial for trial in trials if trial.get("followed") is False):
        yield f"Could not follow what was offered, so response times grow for as long as the trial lasts: {behind}."


def _without_server(trial: Document) -> bool:
    return bool(trial["processes"]) and all(used["process"] == "client" for used in trial["processes"])


def _labels(trials: Iterator[Document]) -> str:
    return ", ".join(dict.fromkeys(trial["label"] for trial in trials))


def _pinning(trials: list[Document]) -> str:
    pinned = {(_text(trial["client_cpus"]), _text(trial["server_cpus"])) for trial in trials if trial["client_cpus"]}
    if not pinned:
        return "neither was pinned to processors"
    if len(pinned) > 1:
        return "each trial's processors are under Settings"
    client, server = pinned.pop()
    return f"the client was pinned to CPU {client}, servers to {server}"
