"""The first tables of a report: each system at its own best load, and all of them at every load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbdyno.report.core import words
from dbdyno.report.core.documents import RatioDocument, RunDocument
from dbdyno.report.core.loads import LOAD_KEYS, Load, load_of, rate_per_s, time_label
from dbdyno.report.core.page import Page
from dbdyno.report.core.ratios import limit_of, turned
from dbdyno.report.core.section import Part, Section
from dbdyno.report.core.series import Series, representatives
from dbdyno.report.core.trial_documents import TrialDocument
from dbdyno.report.sections import capacity
from dbdyno.stats.steady_state import FLAT, TOO_SHORT

MARKS = {"equivalent": "~", "faster": "▲", "slower": "▼", "inconclusive": "?", "invalid": ""}


@dataclass(frozen=True, slots=True)
class Ranked:
    """One system at its own best load.

    Attributes:
        share: its throughput over the highest of its group.
        ratio: to the group's first system at that system's best load, with its interval, as text; empty without one.
        verdict: of that comparison, `leader` for the group's first, or empty.
        badges: of its fairness card.
        durability_differs: its class is not that of the group's first.
    """

    series: Series
    trial: TrialDocument
    load: Load
    share: float
    ratio: str
    verdict: str
    reason: str
    limit: str
    badges: tuple[str, ...]
    durability_differs: bool


@dataclass(frozen=True, slots=True)
class Group:
    """Systems that a ranking may compare; `title` says what they share, and is empty if there is one group."""

    title: str
    rows: Sequence[Ranked]


@dataclass(frozen=True, slots=True)
class Entry:
    """One system at one load: its throughput, how uneven that was, and its ratio to the leader; `verdict` names the
    style."""

    throughput: str
    uneven: str
    ratio: str
    verdict: str
    reason: str


def best_trials(series: Sequence[Series]) -> list[tuple[Series, TrialDocument]]:
    """Return each system's trial at the load of its highest throughput, the highest first.

    With several repetitions it is the one of median throughput.
    """
    candidates = [(system, list(representatives(system).values())) for system in series]
    best = [(system, max(trials, key=rate_per_s)) for system, trials in candidates if any(map(rate_per_s, trials))]
    return sorted(best, key=lambda pair: -rate_per_s(pair[1]))


def ranking(document: RunDocument, series: Sequence[Series]) -> list[Group]:
    """Return the systems by workload, embedded ones apart from servers: an embedded one has no network cost."""
    grouped: dict[tuple[str | None, bool], list[tuple[Series, TrialDocument]]] = {}
    for system, trial in best_trials(series):
        grouped.setdefault((system.workload, bool(trial["embedded"])), []).append((system, trial))
    workloads, embedded = ({key[index] for key in grouped} for index in (0, 1))
    order = list(dict.fromkeys(system.workload for system in series))
    groups = []
    for key in sorted(grouped, key=lambda key: (order.index(key[0]), key[1])):
        kind = "Embedded in the client's process, no network" if key[1] else "Servers, over a connection"
        title = [str(key[0])] * (len(workloads) > 1) + [kind] * (len(embedded) > 1)
        groups.append(Group(": ".join(title), _rows(document, grouped[key])))
    return groups


def _rows(document: RunDocument, best: Sequence[tuple[Series, TrialDocument]]) -> list[Ranked]:
    badges = {system["label"]: tuple(system["badges"]) for system in document["fairness"]["systems"]}
    leader = best[0][1]
    rows = []
    for system, trial in best:
        ratio = _compared(document, leader, leader["label"], trial["label"])
        leads = trial is leader
        rows.append(
            Ranked(
                system,
                trial,
                load_of(trial),
                rate_per_s(trial) / rate_per_s(leader),
                words.ratio(ratio),
                "leader" if leads else ratio["verdict"] if ratio else "",
                (ratio["reason"] if ratio else None) or "",
                limit_of(trial),
                badges.get(trial["label"], ()),
                trial["durability"] != leader["durability"],
            )
        )
    return rows


def matrix(
    document: RunDocument, series: Sequence[Series], loads: Sequence[Load]
) -> list[tuple[Series, list[Entry | None]]]:
    """Return, for each system, its entry at every load; `None` if it has no complete trial there."""
    leader = document["headline"]["leader"]
    rows = []
    for system in series:
        standing = representatives(system)
        rows.append((system, [_entry(document, standing.get(load), leader) for load in loads]))
    return rows


def _entry(document: RunDocument, trial: TrialDocument | None, leader: str | None) -> Entry | None:
    if trial is None:
        return None
    throughput = ("≥ " if trial["client_limited"] else "") + words.significant(trial["throughput_per_s"])
    figures = throughput, words.unevenness(trial["stability"])
    if trial["label"] == leader:
        return Entry(*figures, "", "leader", "")
    ratio = _compared(document, trial, leader, trial["label"])
    if ratio is None:
        return Entry(*figures, "", "", "")
    return Entry(*figures, words.ratio(ratio), ratio["verdict"], ratio["reason"] or "")


def _compared(document: RunDocument, at: TrialDocument, leader: str | None, label: str) -> RatioDocument | None:
    """Return the ratio of a system to the leader at the load of a trial."""
    comparison = document["comparison"]
    for cell in comparison["cells"] if comparison else ():
        labels = cell["baseline"]["label"], cell["candidate"]["label"]
        same = all(cell[key] == at[key] for key in LOAD_KEYS)
        if set(labels) == {leader, label} and same and (cell["rate"] or "") == load_of(at).words:
            return turned(cell, labels[1] == leader)
    return None


def first_part(page: Page) -> Part | None:
    """Return the table of the systems, each at its own best load."""
    groups = ranking(page.document, page.series) if page.clients_loaded else []
    rows = [row for group in groups for row in group.rows]
    if not rows:
        return None
    p99s = capacity.p99s(page.document)
    return Part(
        {
            "groups": groups,
            "ranked": rows,
            "ratios": any(row.ratio for row in rows),
            "evenness": any(words.unevenness(row.trial["stability"]) for row in rows),
            "unsteady": any(row.trial["steady_state"]["class"] not in (FLAT, TOO_SHORT) for row in rows),
            "ranked_time": time_label([row.trial for row in rows]),
            "p99s": p99s,
            "shares": sorted({share for by_share in p99s.values() for share in by_share}),
        }
    )


def limits(series: Sequence[Series]) -> str:
    """Return what limited each system at its own best load, as a sentence."""
    return words.limits({system.name: limit_of(trial) for system, trial in best_trials(series)})


def every_load(page: Page) -> Part | None:
    """Return the table of the systems at every load, if there are several."""
    if not (page.first and page.clients_loaded and len(page.load_labels) > 1):
        return None
    return Part({"matrix": matrix(page.document, page.series, list(page.load_labels)), "marks": MARKS})


RANKING = Section("ranking.html.j2", first_part)
MATRIX = Section("matrix.html.j2", every_load)
