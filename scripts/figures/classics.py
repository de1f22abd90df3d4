"""The classic questions from kept summaries: a table with both answers, then and now, and the first lines of a page."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scripts.figures.declared import Figures
from scripts.figures.form import three
from scripts.figures.tables import best, day, quoted
from scripts.reference.markdown import code, prose, table

from dbdyno.report.option_answer import by_option
from dbdyno.report.warm_up_answer import by_restart


def classics(root: Path, runs: Mapping[str, Figures]) -> str:
    """Return a row for each documented run that repeats a published experiment."""
    rows = [_row(root, figures) for figures in runs.values() if figures.classic]
    return table(("Question", "Answer then", "Answer now", "Limited by", "Command and evidence"), rows)


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
    return prose(f"- {text}").replace("\n", "\n  ")


def _row(root: Path, figures: Figures) -> tuple[str, ...]:
    run = json.loads((root / figures.result).read_text(encoding="utf-8"))
    evidence = f"[page]({figures.name}.md#a-run), [summary](../../{figures.result.as_posix()})"
    return (
        figures.classic,
        figures.then,
        " ".join(_answer(figures, run)),
        _limits(run["headline"]["limits"]),
        f"{code(' '.join(quoted(figures.command)))}; {evidence}",
    )


def _answer(figures: Figures, run: Mapping[str, Any]) -> list[str]:
    """Return what answers the question: declared pairs, else restarts, else the variants of a workload, else all."""
    declared = [_pair(run, *pair) for pair in figures.pairs]
    answers = declared or by_restart(run["trials"]) or by_option(run.get("option_comparison"))
    return answers or [run["headline"]["sentence"]]


def _pair(run: Mapping[str, Any], system: str, other: str) -> str:
    """Say how many times as much a system did as another, at the load of the headline, with the interval."""
    load = best([trial for trial in run["trials"] if trial["label"] == run["headline"]["leader"]])["clients"]
    for cell in run["comparison"]["cells"]:
        sides = cell["candidate"]["label"], cell["baseline"]["label"]
        if set(sides) == {system, other} and cell["clients"] == load:
            ratio, low, high = (cell[key] for key in ("ratio", "low", "high"))
            if sides != (system, other):
                ratio, low, high = 1 / ratio, 1 / high, 1 / low
            interval = f"{three(ratio)}× [{three(low)} to {three(high)}]"
            doubt = "" if cell["verdict"] in ("faster", "slower") else f" ({cell['verdict']})"
            return f"{code(system)} did {interval} as much as {code(other)} with {load} clients{doubt}."
    raise ValueError(f"{run['run']} has no comparison of {system} and {other} with {load} clients")


def _limits(by_label: Mapping[str, str]) -> str:
    """Return each limit with the systems that it limited."""
    limits = dict.fromkeys(by_label.values())
    if len(limits) == 1:
        return next(iter(limits))
    systems = {limit: [label for label in by_label if by_label[label] == limit] for limit in limits}
    return "; ".join(f"{limit}: {', '.join(labels)}" for limit, labels in systems.items())
