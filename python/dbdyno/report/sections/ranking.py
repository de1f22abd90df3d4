"""The tables a report begins with: systems at the load of the headline, and their ratios at every load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbdyno.report.core import words
from dbdyno.report.core.loads import LOAD_KEYS, Document, Load, at, load_of, time_label
from dbdyno.report.core.page import Page
from dbdyno.report.core.ratios import limit_of, turned
from dbdyno.report.core.section import Part, Section
from dbdyno.report.core.series import Series, representatives
from dbdyno.report.sections import capacity

MARKS = {"equivalent": "~", "faster": "▲", "slower": "▼", "inconclusive": "?", "invalid": ""}


@dataclass(frozen=True, slots=True)
class Ranked:
    """One system at the load of the headline.

    Attributes:
        share: its throughput over the highest.
        ratio: over the leader with its interval, as text; empty where there is no comparison.
        verdict: of that comparison, the leader's `leader`, or empty.
        badges: of its fairness card; `durability` where its class is not the leader's.
    """

    series: Series
    trial: Document
    share: float
    ratio: str
    verdict: str
    reason: str
    limit: str
    badges: tuple[str, ...]
    durability_differs: bool


@dataclass(frozen=True, slots=True)
class Entry:
    """One system at one load: its throughput, how even that was, and its ratio to the leader; `verdict` names how it is
    drawn."""

    throughput: str
    even: str
    ratio: str
    verdict: str
    reason: str


def ranked(shown: Document, series: Sequence[Series]) -> list[Ranked]:
    """Return the systems that have a trial at the load of the headline, the highest throughput first."""
    headline = shown["headline"]
    by_name = {trial["trial"]: (one, trial) for one in series for trial in one.trials}
    found = [by_name[name] for name in headline["trials"].values()]
    found.sort(key=lambda pair: -pair[1]["throughput_per_s"])
    badges = {one["label"]: tuple(one["badges"]) for one in shown["fairness"]["systems"]}
    rows = []
    for one, trial in found:
        leads = trial["label"] == headline["leader"]
        ratio = headline["ratios"].get(trial["label"])
        rows.append(
            Ranked(
                one,
                trial,
                trial["throughput_per_s"] / found[0][1]["throughput_per_s"],
                "1" if leads and headline["ratios"] else words.ratio(ratio),
                "leader" if leads else (ratio or {}).get("verdict", ""),
                (ratio or {}).get("reason") or "",
                limit_of(trial),
                badges.get(trial["label"], ()),
                trial["durability"] != by_name[headline["trials"][headline["leader"]]][1]["durability"],
            )
        )
    return rows


def matrix(shown: Document, series: Sequence[Series], loads: Sequence[Load]) -> list[tuple[Series, list[Entry | None]]]:
    """Return, for each system, its entry at every load; `None` where it has no complete trial there."""
    leader = shown["headline"]["leader"]
    rows = []
    for one in series:
        standing = representatives(one)
        rows.append((one, [_entry(shown, standing.get(load), leader) for load in loads]))
    return rows


def _entry(shown: Document, trial: Document | None, leader: str | None) -> Entry | None:
    if trial is None:
        return None
    throughput = ("≥ " if trial["client_limited"] else "") + words.significant(trial["throughput_per_s"])
    figures = throughput, words.evenness(trial["stability"])
    if trial["label"] == leader:
        return Entry(*figures, "", "leader", "")
    for cell in (shown["comparison"] or {}).get("cells", ()):
        labels = cell["baseline"]["label"], cell["candidate"]["label"]
        same = all(cell[key] == trial[key] for key in LOAD_KEYS)
        if set(labels) == {leader, trial["label"]} and same and (cell["rate"] or "") == load_of(trial).words:
            found = turned(cell, labels[1] == leader)
            return Entry(*figures, words.ratio(found), found["verdict"], found["reason"] or "")
    return Entry(*figures, "", "", "")


def first_part(page: Page) -> Part | None:
    """Return the table of the systems at the load of the headline."""
    rows = ranked(page.shown, page.series)
    if not (rows and page.clients_loaded):
        return None
    p99s = capacity.p99s(page.shown)
    return Part(
        {
            "ranked": rows,
            "at_words": at(rows[0].trial),
            "ranked_time": time_label([row.trial for row in rows]),
            "p99s": p99s,
            "shares": sorted({share for by_share in p99s.values() for share in by_share}),
        }
    )


def every_load(page: Page) -> Part | None:
    """Return the table of the systems at every load, if there are several."""
    if not (page.first and page.clients_loaded and len(page.load_labels) > 1):
        return None
    return Part({"matrix": matrix(page.shown, page.series, list(page.load_labels)), "marks": MARKS})


RANKING = Section("ranking.html.j2", first_part)
MATRIX = Section("matrix.html.j2", every_load)
