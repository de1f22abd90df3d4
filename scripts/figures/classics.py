"""The classic questions from kept summaries: each with both answers, then and now, and the first lines of a page."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any

from scripts.figures.declared import Figures
from scripts.figures.form import three
from scripts.figures.kinds import disturbances, floors_of, frequent_limits
from scripts.figures.tables import best, day, delay_us, row_name, wrapped
from scripts.reference.markdown import code, codes, prose

from dbdyno.report.batch_answer import by_batch
from dbdyno.report.option_answer import by_option
from dbdyno.report.sections import analyses, copies
from dbdyno.report.sections.connection_memory import per_connection
from dbdyno.report.warm_up_answer import by_restart


def classics(root: Path, runs: Mapping[str, Figures]) -> str:
    """Return a section for each documented run that repeats a published experiment."""
    return "\n\n".join(_section(root, figures) for figures in runs.values() if figures.classic)


def _section(root: Path, figures: Figures) -> str:
    """Return the question, its command, both answers, what limited today's, and where the evidence is."""
    run = json.loads((root / figures.result).read_text(encoding="utf-8"))
    kept = figures.result.as_posix()
    return "\n\n".join(
        (
            f"### {figures.classic}",
            f"```\n{wrapped(figures.command)}\n```",
            answer(figures, run),
            *_limits(_limited(run)),
            f"[The page]({figures.name}.md#a-run), [the kept summary](../../{kept})",
        )
    )


def answer(figures: Figures, run: Mapping[str, Any]) -> str:
    """Return a page's first lines: what was found then, what is found now, and why the two differ."""
    then, now, differs = (
        f"**Then**: {figures.then}",
        f"**Now**, on {day(run)}:",
        f"**Why they differ**: {figures.differs}",
    )
    answers = _answer(figures, run)
    today = prose(f"{now} {answers[0]}") if len(answers) == 1 else "\n".join([now, "", *map(_item, answers)])
    return "\n\n".join([prose(then), today, prose(differs)] if figures.differs else [today])


def _item(text: str) -> str:
    """Return an item of a list."""
    return prose(f"- {text}", indent="  ")


def _answer(figures: Figures, run: Mapping[str, Any]) -> list[str]:
    """Return what answers the question, the first of these that the run has; else the headline."""
    complete = [trial for trial in run["trials"] if trial["state"] == "complete"]
    asked = analyses.analysed(complete)
    answers = (
        [sentence for pair in figures.pairs for sentence in _pair(run, *pair)],
        list(_floors(run)) if figures.floors else [],
        [_library(cost) for cost in _at_best_load(run)],
        list(per_connection(run.get("connection_memory") or ())),
        copies.by_store(complete),
        analyses.by_store(asked) if asked else [],
        disturbances(run),
        by_restart(complete),
        by_batch(complete),
        by_option(run.get("option_comparison")),
    )
    return next(filter(None, answers), None) or [run["headline"]["sentence"]]


def _pair(run: Mapping[str, Any], system: str, other: str) -> list[str]:
    """Say how many times as much a system did as another on each workload, at the load of the headline."""
    load = _load_of_headline(run)
    of_pair = [cell for cell in run["comparison"]["cells"] if _labels(cell) == {system, other}]
    cells = [cell for cell in of_pair if cell["clients"] == load]
    if not cells:
        raise ValueError(f"{run['run']} has no comparison of {system} and {other} with {load} clients")
    names = [row_name((system, cell["workload"], delay_us(cell)), run) if len(cells) > 1 else system for cell in cells]
    return [_compared(cell, system, name, other) for name, cell in zip(names, cells, strict=True)]


def _load_of_headline(run: Mapping[str, Any]) -> int:
    """Return the number of clients at which the leader did most, on the workload on which it did most."""
    led = [trial for trial in run["trials"] if trial["label"] == run["headline"]["leader"]]
    complete = [trial for trial in led if trial["state"] == "complete"]
    workload = max(complete, key=lambda trial: float(trial["throughput_per_s"]))["workload"]
    return int(best([trial for trial in complete if trial["workload"] == workload])["clients"])


def _labels(cell: Mapping[str, Any]) -> set[str]:
    return {cell["candidate"]["label"], cell["baseline"]["label"]}


def _compared(cell: Mapping[str, Any], system: str, name: str, other: str) -> str:
    """Say how many times as much a system did as the other of a cell, with the interval; name: what it is called."""
    ratio, low, high = (cell[key] for key in ("ratio", "low", "high"))
    if cell["candidate"]["label"] != system:
        ratio, low, high = 1 / ratio, 1 / high, 1 / low
    interval = f"{three(ratio)}× [{three(low)} to {three(high)}]"
    doubt = "" if cell["verdict"] in ("faster", "slower") else f" ({cell['verdict']})"
    return f"{code(name)} did {interval} as much as {code(other)} with {_clients(cell)}{doubt}."


def _clients(cell: Mapping[str, Any]) -> str:
    return f"{cell['clients']} client{'s' * (cell['clients'] > 1)}"


def _floors(run: Mapping[str, Any]) -> Iterator[str]:
    """Say of each system to which share of its median second it regularly drops, with the range of its trials."""
    for label, floors, trials in floors_of(run):
        rate = f"{median(trial['throughput_per_s'] for trial in trials):,.0f}"
        yield f"{code(label)}: {rate}/s, floor {median(floors):.0%} ({floors[0]:.0%} to {floors[-1]:.0%})."


def _at_best_load(run: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the cost of each client library at the load at which the native client did most."""
    costs = sorted(run.get("client_libraries") or (), key=lambda cost: float(cost["native_throughput_per_s"]))
    return list({(cost["label"], cost["workload"]): cost for cost in costs}.values())


def _library(cost: Mapping[str, Any]) -> str:
    """Say how a client library compares with the native client; these ratios have a range, no interval."""
    ratio, low, high = (three(cost[key]) for key in ("throughput_ratio", "lowest", "highest"))
    spent = f", with {three(cost['client_cpu_ratio'])}× its processor time" if cost["client_cpu_ratio"] else ""
    return f"{code(cost['label'])} did {ratio}× ({low} to {high}) as much as the native client{spent}."


def _limited(run: Mapping[str, Any]) -> Mapping[str, str]:
    """Return what limited each system: most hot queries of an analysis, and nothing if stores were killed or copied."""
    if any(trial.get("crash") or trial.get("copy") for trial in run["trials"]):
        return {}
    limits: Mapping[str, str] = frequent_limits(run) or run["headline"]["limits"]
    return limits


def _limits(by_label: Mapping[str, str]) -> list[str]:
    """Return each limit with the systems that it limited, or one limit of all; empty if nothing is known."""
    limits = dict.fromkeys(by_label.values())
    if len(limits) <= 1:
        return [f"**Limited by** {limit}." for limit in limits]
    systems = {limit: [label for label in by_label if by_label[label] == limit] for limit in limits}
    items = (_item(f"{limit}: {codes(labels)}") for limit, labels in systems.items())
    return ["\n".join(["**Limited by**:", "", *items])]
