"""Draws the conclusions of a trial when it ends; they are kept in its folder, and drawn anew if missing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dbdyno.results.conclusions import Budget, Conclusions
from dbdyno.results.read import read_trial
from dbdyno.results.write import write_compact
from dbdyno.verdict.budget import TimeBudget, time_budget
from dbdyno.verdict.decision import limited
from dbdyno.verdict.evidence import Measured, others_cores
from dbdyno.verdict.hosts import by_host
from dbdyno.verdict.limits import CLIENT
from dbdyno.verdict.locks import locks_seen
from dbdyno.verdict.queries import verdicts_of_queries
from dbdyno.verdict.sentence import verdict_of

if TYPE_CHECKING:
    from dbdyno.results.model import Trial

DIGITS = 4
"""Digits after the point of operations in flight: a tenth of a thousandth of one is nothing."""


def judged(trial: Trial) -> Conclusions:
    """Return what was concluded of a trial when it ended, or conclude it now (docs/run-folder.md, verdict.json)."""
    return trial.judged or judge(trial)


def judge(trial: Trial) -> Conclusions:
    """Conclude, from what was recorded and observed, where a trial's operations were and what limited it.

    `verdict` is `None` for a trial that did not run to its end, `time_budget` where nothing was measured. Both are
    `None` for an analysis: its servers begin anew for each query, so each query has a verdict.
    """
    budget = None if trial.facts.analysis else time_budget(trial)
    limited_by = limited(trial, budget) if budget and trial.state == "complete" and trial.recorded.completed else None
    client = trial.client_limited
    if limited_by:
        # The load client's records alone do not say which side was full first.
        client = " and ".join(limited_by.signs) if limited_by.limit == CLIENT else None
    measured = Measured.of(trial)
    disturbed = (
        max(filter(None, (others_cores(own) for _, own in by_host(measured))), default=None) if measured else None
    )
    return Conclusions(
        client_limited=client,
        others_cores=None if disturbed is None else round(disturbed, DIGITS),
        verdict=verdict_of(trial, limited_by) if limited_by else None,
        time_budget=rounded(budget) if budget else None,
        locks=locks_seen(trial),
        queries=verdicts_of_queries(trial),
    )


def rounded(budget: TimeBudget) -> Budget:
    """Return a time budget with as many digits as `verdict.json` keeps."""
    return Budget(
        in_flight=round(budget.in_flight, DIGITS),
        bands={name: round(value, DIGITS) for name, value in budget.bands.items()},
        per_second={name: np.round(values, DIGITS).tolist() for name, values in budget.per_second.items()},
        not_seen=budget.not_seen,
    )


def judge_folder(folder: Path) -> Conclusions:
    """Judge the trial in `folder` by what is in it, keep that in `verdict.json` there, and return it.

    Raises:
        UserError: a file in it cannot be understood.
        OSError: it cannot be written.
    """
    (folder / "verdict.json").unlink(missing_ok=True)
    concluded = judge(read_trial(folder))
    write_compact(folder / "verdict.json", concluded.document())
    return concluded
