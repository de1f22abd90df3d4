"""Latency below capacity: open loops at shares of the capacity that closed loops measured.

At capacity, latency says how long the queue is; below capacity it describes the store (docs/statistics.md, section
1.3).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING

from dbdyno.report.core import words
from dbdyno.report.core.loads import share_of
from dbdyno.report.core.section import Part, Section

if TYPE_CHECKING:
    from dbdyno.report.core.documents import RunDocument
    from dbdyno.report.core.page import Page
    from dbdyno.report.core.trial_documents import TrialDocument

_TIMES = ("p50", "p99", "max")
"""A terminal has no room for more; `dbdyno show RUN --json` has them all."""
HEADINGS = (
    *("system", "clients", "share", "offered\nper s", "done\nper s"),
    *("p50\nms", "p99\nms", "max\nms", "state"),
)
NOTE = (
    "Response time of transactions, from due to answered, in an open loop at a share of the system's capacity. "
    "Capacity is the highest throughput of its closed loops; the open loop has as many clients as that trial. Behind: "
    "it could not follow, so its times grow for as long as the trial lasts."
)
BEHIND = "behind"


def at_shares(document: RunDocument) -> list[TrialDocument]:
    """Return the trials of a run that were offered a share of capacity, by system, share and repetition."""
    trials = [trial for trial in document["trials"] if trial["system"] is not None and share_of(trial) is not None]
    labels = list(dict.fromkeys(map(_name, trials)))
    return sorted(trials, key=lambda trial: (labels.index(_name(trial)), share_of(trial) or 0, trial["repeat"] or 1))


def _name(trial: TrialDocument) -> str:
    return f"{words.label_of(trial)}, {trial['workload']}"


def rows(trials: Sequence[TrialDocument]) -> list[list[str]]:
    """Return a row of `HEADINGS` for each trial; the workload is named if there are several."""
    several = len({trial["workload"] for trial in trials}) > 1
    return [_row(trial, _name(trial) if several else words.label_of(trial)) for trial in trials]


def _row(trial: TrialDocument, name: str) -> list[str]:
    repeat = f" #{trial['repeat']}" if (trial["repeat"] or 1) > 1 else ""
    state = trial["state"]
    if state == "complete":
        state = BEHIND if trial.get("followed") is False else "ok"
    return [
        *(name + repeat, str(trial["clients"] or words.UNKNOWN), words.percent(share_of(trial))),
        *(words.whole(trial.get("offered_per_s")), words.whole(trial.get("achieved_per_s"))),
        *(words.significant(_time_ms(trial, key)) for key in _TIMES),
        state,
    ]


def _time_ms(trial: TrialDocument, key: str) -> float | None:
    times = trial["transaction"].get("response_time_us")
    return None if times is None or (time_us := times[key]) is None else time_us / 1000


def p99s(document: RunDocument) -> dict[tuple[str, str], dict[float, str]]:
    """Return the p99 of response times in words, by (label, workload) and share, of complete trials.

    With several repetitions it is the median trial's, because percentiles may not be averaged. A store that could not
    follow has none: its times say how long the trial was.
    """
    times_ms: dict[tuple[str, str], dict[float, list[float]]] = defaultdict(lambda: defaultdict(list))
    for trial in at_shares(document):
        p99 = inf if trial.get("followed") is False else _time_ms(trial, "p99")
        if trial["state"] == "complete" and p99 is not None:
            times_ms[words.label_of(trial), str(trial["workload"])][share_of(trial) or 0].append(p99)
    return {
        system: {share: _in_words(sorted(times)[(len(times) - 1) // 2]) for share, times in sorted(by_share.items())}
        for system, by_share in times_ms.items()
    }


def _in_words(time_ms: float) -> str:
    return BEHIND if time_ms == inf else f"{words.significant(time_ms)} ms"


def sentence(document: RunDocument) -> str | None:
    """Return each system's latency in one sentence; `None` if no trial offered a share of capacity."""
    known = p99s(document)
    several = len({workload for _, workload in known}) > 1
    said = [
        (f"{label}, {workload}: " if several else f"{label}: " if len(known) > 1 else "")
        + ", ".join(f"{said} at {words.percent(share)}" for share, said in by_share.items())
        for (label, workload), by_share in known.items()
    ]
    return f"Latency (p99 of response times) at shares of capacity: {'; '.join(said)}." if said else None


def part(page: Page) -> Part | None:
    """Return the table of the trials at shares of capacity."""
    trials = at_shares(page.document)
    content = {"heading": "Latency below capacity", "note": NOTE, "headings": HEADINGS, "left": (0, len(HEADINGS) - 1)}
    return Part(content | {"rows": rows(trials)}) if trials else None


SECTION = Section("table.html.j2", part)
