"""The answer of a run in a few short sentences: the fastest system, and how far to trust that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from dbdyno.report.batch_answer import by_batch
from dbdyno.report.core import words
from dbdyno.report.core.loads import at, is_open, load_of, rate_per_s, share_of, time_name, times_us
from dbdyno.report.core.names import listed
from dbdyno.report.core.ratios import limit_of
from dbdyno.report.factor_answer import by_variant
from dbdyno.report.headline import Standing, more_elsewhere, standing, verdict
from dbdyno.report.option_answer import by_option
from dbdyno.report.sections.connection_memory import per_connection
from dbdyno.report.sections.libraries import understated
from dbdyno.report.warm_up_answer import by_restart

if TYPE_CHECKING:
    from dbdyno.report.core.documents import RunDocument
    from dbdyno.report.core.trial_documents import TrialDocument
    from dbdyno.results.json_types import SearchStated

MOST_WORKLOADS = MOST_SEARCHES = 3
"""With more workloads or searches the answer names only the best; the table has the rest."""
ENOUGH_REPEATS = 5
_ONCE = "One trial per cell"
_PROMISES = {
    "D0": "does not flush commits",
    "D1": "does not flush every commit",
    "D2": "flushes every commit",
    "D3": "flushes every commit on several nodes",
}


def answer(document: RunDocument) -> list[list[str]]:
    """Return the paragraphs, each of sentences."""
    loaded = [trial for trial in document["trials"] if not any(trial.get(key) for key in ("analysis", "crash", "copy"))]
    if searches := document["find_rate"]:
        return [[sentence] for sentence in _searched(searches)]
    if libraries := list(understated(document)):
        return [[sentence] for sentence in libraries[:MOST_WORKLOADS]]
    if idle := list(per_connection(document["connection_memory"])):
        return [[sentence] for sentence in idle]
    if len(loaded) < len(document["trials"]) or not any(map(_has_figure, loaded)):
        return [[document["headline"]["sentence"]]]
    workloads = list(dict.fromkeys(trial["workload"] for trial in filter(_has_figure, loaded)))
    several = 1 < len(workloads) <= MOST_WORKLOADS
    groups = [[trial for trial in loaded if trial["workload"] == name] for name in workloads] if several else [loaded]
    peaks = [peak for group in groups if (peak := standing(group, document["comparison"]))]
    said = [list(_sentences(peak, len(workloads) > 1)) for peak in peaks]
    if swings := by_variant([trial for trial in loaded if _has_figure(trial)]):
        said.append(swings)
    if restarts := by_restart(filter(_has_figure, loaded)):
        said.append(restarts)
    if gains := by_batch(filter(_has_figure, loaded)):
        said.insert(0, gains)
    if costs := by_option(document["option_comparison"]):
        said.append(costs)
    repeats = _repeats(peaks, max(trial["repeat"] or 1 for trial in loaded))
    return [*said, [repeats]] if repeats else said


def brief(document: RunDocument) -> str:
    """Return the first paragraph of the answer, with the caution of a run that repeats nothing."""
    first, *others = answer(document)
    return " ".join([*first, *(text for paragraph in others for text in paragraph if text.startswith(_ONCE))])


def _searched(searches: Sequence[SearchStated]) -> list[str]:
    """Return the sentences of the rate searches; of many, only the one with the highest rate."""
    if len(searches) <= MOST_SEARCHES:
        return [search["sentence"] for search in searches]
    best = max(searches, key=lambda search: search["found_rate_per_s"] or 0.0)
    return [f"The highest rate of {len(searches)} searches: {best['sentence']}"]


def _has_figure(trial: TrialDocument) -> bool:
    return trial["system"] is not None and trial["state"] == "complete" and bool(trial["throughput_per_s"])


def _sentences(peak: Standing, name_workload: bool) -> Iterator[str]:
    on = f" on {peak.top['workload']}" if name_workload else ""
    figure = f"{_figure(peak.top)} {at(peak.top)}"
    leader = words.label_of(peak.top)
    if is_open([peak.top]):
        yield from _followed(peak)
    elif len(peak.chosen) == 1:
        yield f"{leader} reached {figure}{on}, limited by {_limit(peak.top)}."
    elif peak.judged:
        winner, who, _ = verdict(peak)
        yield f"{who} {at(peak.top)}{on}." if winner else f"{who}{on}."
        yield f"{leader} reached {_figure(peak.top) if winner else figure}."
        yield from more_elsewhere(peak)
    else:
        yield f"{leader} was fastest{on}: {figure}."
        bounds = [label for label, trial in peak.chosen.items() if trial["client_limited"] and trial is not peak.top]
        if bounds:
            yield f"{listed(bounds)} may be faster (≥)."
    yield from _durability(peak)


def _followed(peak: Standing) -> Iterator[str]:
    """Yield which systems followed the highest rate, and which had the lowest p99."""
    rate = load_of(peak.top).words
    behind = [label for label, trial in peak.chosen.items() if trial.get("followed") is False]
    p99s = {label: times_us(trial["transaction"], time_name([trial]))["p99"] for label, trial in peak.chosen.items()}
    known = {label: p99 for label, p99 in p99s.items() if p99 is not None and label not in behind}
    if known and len(peak.chosen) == 1:
        yield f"{peak.top['label']} followed {rate} with a p99 of {words.length(next(iter(known.values())))}."
    elif known:
        low = min(known, key=lambda label: known[label])
        highest = "" if len(known) == 1 else f" (highest: {words.length(max(known.values()))})"
        yield f"Lowest p99 at {rate}: {low}, {words.length(known[low])}{highest}."
    elif followed := [label for label in p99s if label not in behind]:
        yield f"{listed(followed)} followed {rate}, with too few transactions for a p99: give more --seconds."
    if behind:
        yield f"{listed(behind)} could not follow {rate}."


def _figure(trial: TrialDocument) -> str:
    return ("at least " if trial["client_limited"] else "") + f"{words.significant(trial['throughput_per_s'])}/s"


def _limit(trial: TrialDocument) -> str:
    limit = limit_of(trial)
    return {words.UNEXPLAINED: "something unknown", words.NOT_SEEN: "something not observed"}.get(limit, limit)


def _durability(peak: Standing) -> Iterator[str]:
    """Yield why the ranking is not like for like, and the fastest system of the strongest class."""
    classes = {label: str(trial["durability"] or "unknown") for label, trial in peak.chosen.items()}
    if len(set(classes.values())) == 1:
        return
    leader = peak.top["label"]
    own, strongest = classes[leader], max(_known(classes.values()), default="unknown")
    levels = sorted(set(classes.values()))
    others = {name: [label for label, level in classes.items() if level == name] for name in levels}
    if own == strongest:
        weaker = "; ".join(f"{name}: {listed(labels)}" for name, labels in others.items() if name != own)
        yield f"It also promises most: it {_promise(own)} ({own}). Weaker: {weaker}."
        return
    same = [label for label in others[own] if label != leader]
    who = f"Like {listed(same)}, {leader}" if same else f"{leader} alone"
    yield f"{who} {_promise(own)} ({own}): no like-for-like ranking."
    best = max((peak.chosen[label] for label in others[strongest]), key=rate_per_s)
    if len(others[strongest]) > 1:
        yield f"The fastest that {_promise(strongest)} ({strongest}) was {best['label']}: {_figure(best)} {at(best)}."


def _known(classes: Iterable[str]) -> list[str]:
    return [name for name in classes if name in _PROMISES]


def _promise(name: str) -> str:
    return _PROMISES.get(name, "has unknown durability")


def _repeats(peaks: Sequence[Standing], repeats: int) -> str | None:
    """Return what too few repeats leave open, or `None` if there are enough."""
    if repeats >= ENOUGH_REPEATS or not peaks or any(share_of(peak.top) for peak in peaks):
        return None
    if repeats > 1:
        wins = all(verdict(peak)[0] for peak in peaks if peak.judged)
        return None if wins else f"{repeats} repeats give a wide interval: add --repeat {ENOUGH_REPEATS}."
    if any(len(peak.chosen) > 1 for peak in peaks):
        return f"{_ONCE} names no winner: add --repeat {ENOUGH_REPEATS}."
    return f"{_ONCE} has no confidence interval: add --repeat {ENOUGH_REPEATS}."
