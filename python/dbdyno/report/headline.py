"""The one sentence of a run (METHODS §8): what won, by how much, how sure, and what limited each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dbdyno.errors import UserError
from dbdyno.report import words
from dbdyno.report.cells import Side
from dbdyno.report.loads import LOAD_KEYS, Document, at, load_of
from dbdyno.results.model import Run

MARGIN = 0.02
LIMITS = {
    "client": "its client",
    "network": "the network",
    "server-cpu": "the server's processors",
    "disk": "the disk",
    "lock": "locks",
    "commit": "the flush of commits",
    "rate": "the rate asked for",
    "unexplained": words.UNEXPLAINED,
}
"""What limits a trial (METHODS §5), for people."""


def compared(run: Run) -> dict[str, Any] | None:
    """Return every pair of a run's systems, cell by cell, as `dbdyno compare` has it, the correction over all of them.

    `None` where there is nothing to compare: one trial a side, or one system.
    """
    reached = [trial for trial in run.trials if trial.system is not None]
    labels = list(dict.fromkeys(trial.label for trial in reached))
    if len(labels) < 2 or max((trial.about.get("repeat") or 1 for trial in reached), default=1) < 2:
        return None
    # Importing the arithmetic of Student's t takes a third of the second that `dbdyno show` may last.
    from dbdyno.report.comparison import compare_sides, comparison_document  # noqa: PLC0415

    sides = [Side(run, label, label) for label in labels]
    pairs = [(one, other) for place, one in enumerate(sides) for other in sides[place + 1 :]]
    try:
        return comparison_document(compare_sides(pairs, MARGIN, 0.0, force=False))
    except UserError:
        # No two systems were measured at the same load.
        return None


def headline(trials: list[Document], comparison: Document | None, found_rates: Iterable[Document]) -> dict[str, Any]:
    """Return what a run shows, as plain JSON values.

    Args:
        trials: as `dbdyno.report.document.document` has them.
        comparison: what `compared` returned.
        found_rates: the rate searches of the run.

    Returns:
        `sentence`; `winner`, a label or `None`; `leader`, whose throughput is the highest that was measured; `trials`:
        by label, the name of the trial that stands for the system at the leader's load; `ratios`: by label, the other
        systems over the leader there; `limits`: by label, what limited that trial.
    """
    top = max(filter(_usable, trials), key=lambda trial: trial["throughput_per_s"], default=None)
    nothing: dict[str, Any] = {"winner": None, "leader": None, "trials": {}, "ratios": {}, "limits": {}}
    if top is None:
        return nothing | {"sentence": "No trial was completed, so there is no figure to name."}
    chosen = {trial["label"]: trial for trial in _at_the_load_of(top, trials)}
    ratios = _ratios(top, comparison) if comparison else {}
    searched = " ".join(search["sentence"] for search in found_rates)
    winner, sentence = _verdict(top, chosen, ratios) if len(chosen) > 1 and ratios else (None, _observed(top, trials))
    return {
        "sentence": searched or sentence,
        "winner": None if searched else winner,
        "leader": top["label"],
        "trials": {label: trial["trial"] for label, trial in chosen.items()},
        "ratios": ratios,
        "limits": {label: limit_of(trial) for label, trial in chosen.items()},
    }


def limit_of(trial: Document) -> str:
    """Return what limited a trial, in a few words."""
    if verdict := trial.get("verdict"):
        if verdict["limit"] == "server-cpu" and trial.get("embedded"):
            return "the processors"
        return LIMITS.get(verdict["limit"], str(verdict["limit"]))
    return LIMITS["client"] if trial["client_limited"] else words.NOT_SEEN


def _usable(trial: Document) -> bool:
    return trial["system"] is not None and trial["state"] == "complete" and bool(trial["throughput_per_s"])


def _at_the_load_of(top: Document, trials: list[Document]) -> Iterable[Document]:
    """Of each system the trial of median throughput at the load of `top`."""
    same = [
        trial
        for trial in filter(_usable, trials)
        if load_of(trial) == load_of(top) and all(trial[key] == top[key] for key in LOAD_KEYS)
    ]
    for label in dict.fromkeys(trial["label"] for trial in same):
        repeated = sorted((one for one in same if one["label"] == label), key=lambda one: one["throughput_per_s"])
        yield repeated[(len(repeated) - 1) // 2]


def _ratios(top: Document, comparison: Document) -> dict[str, dict[str, Any]]:
    """The comparisons of other systems with the leader at its load, turned so that the leader is the baseline."""
    found = {}
    for cell in comparison["cells"]:
        same = all(cell[key] == top[key] for key in LOAD_KEYS)
        labels = cell["baseline"]["label"], cell["candidate"]["label"]
        if same and (cell["rate"] or "") == load_of(top).words and top["label"] in labels:
            found[labels[labels[0] == top["label"]]] = turned(cell, labels[1] == top["label"])
    return found


_TURNED = {"faster": "slower", "slower": "faster"}


def turned(cell: Document, around: bool) -> dict[str, Any]:
    """Return a comparison's ratio, interval and verdict, with its sides exchanged if `around`."""
    ratio, low, high = (cell[key] for key in ("ratio", "low", "high"))
    verdict = cell["verdict"]
    if around:
        low, high = (None if bound is None else 1 / bound for bound in (high, low))
        ratio, verdict = None if ratio is None else 1 / ratio, _TURNED.get(verdict, verdict)
    return {"ratio": ratio, "low": low, "high": high, "verdict": verdict} | {
        key: cell[key] for key in ("pairs", "margin", "reason", "p_holm")
    }


def _verdict(top: Document, chosen: Mapping[str, Document], ratios: Mapping[str, Document]) -> tuple[str | None, str]:
    """Who won over the next best, or why nobody did."""
    others = [trial for label, trial in chosen.items() if label in ratios]
    if not others:
        return None, _observed(top, list(chosen.values()))
    second = max(others, key=lambda trial: trial["throughput_per_s"])
    found, leader, following = ratios[second["label"]], top["label"], second["label"]
    where = f"{at(top)}, {found['pairs'] or 0} pair{'' if found['pairs'] == 1 else 's'} of trials"
    if top["durability"] != second["durability"]:
        where += f"; durability {top['durability']} against {second['durability']}, not like with like"
    where += f"; {' against '.join(words.evenness(trial['stability']) for trial in (top, second))}"
    if found["verdict"] == "invalid" or found["low"] is None:
        return None, f"No winner: {leader} did most, but {found['reason'] or 'there is no interval'} ({where})."
    most, least, times = (words.factor(1 / found[key]) for key in ("low", "high", "ratio"))
    times = f"{times}× [{least} to {most}]"
    if found["verdict"] == "slower":
        return leader, f"{leader} was fastest: {times} the throughput of {following}, the next ({where})."
    if found["verdict"] == "equivalent":
        margin = f"{100 * found['margin']:.3g} %"
        return None, f"No winner: {leader} and {following} are equivalent within {margin}, {times} ({where})."
    return None, f"No winner: {leader} is ahead of {following}, {times}, which cannot be told from chance ({where})."


def _observed(top: Document, trials: list[Document]) -> str:
    """The highest figure, as the observation it is."""
    several = len({trial["workload"] for trial in filter(_usable, trials)}) > 1
    of = f" of {top['workload']}" if several else ""
    least = "at least " if top["client_limited"] else ""
    kind = "achieved" if top["rate"] else "measured"
    once = max((trial["repeat"] or 1 for trial in trials), default=1) == 1
    caution = " No interval, no winner: one trial each." if once else " No winner: nothing stands beside it."
    figure = f"{least}{words.significant(top['throughput_per_s'])} transactions/s{of} {at(top)}"
    figure += f" ({words.evenness(top['stability'])})"
    return f"Highest {kind}: {words.label_of(top)}, {figure}.{caution}"
