"""What each system's sweep of client counts says of its scalability, as plain JSON values."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from dbdyno.report.cells import cell_of
from dbdyno.results.model import Run, Trial
from dbdyno.results.usable import compared_rate_per_s, unusable
from dbdyno.stats.scalability import scalability
from dbdyno.verdict.judge import judged


def sweeps(run: Run) -> list[dict[str, Any]]:
    """Return the scalability of each system, workload, pipeline and network delay, from closed loops that can be used.

    `law` and the figures are `None` where the sweep is too small. Where the client limited a trial, `words` say so:
    what looks like the store's ceiling may be the client's.
    """
    found: dict[tuple[str, str, int, int], list[Trial]] = {}
    for trial in run.trials:
        if trial.system is not None and not unusable(trial) and not (cell := cell_of(trial)).rate:
            found.setdefault((trial.label, cell.workload, cell.pipeline, cell.network_delay_us), []).append(trial)
    drawn = str(run.facts.order or "").startswith("randomised")
    return [_sweep(*key, trials, drawn) for key, trials in found.items()]


def _sweep(label: str, workload: str, pipeline: int, delay_us: int, trials: list[Trial], drawn: bool) -> dict[str, Any]:
    clients = np.array([cell_of(trial).clients for trial in trials])
    fitted = scalability(clients, np.array([compared_rate_per_s(trial) for trial in trials]))
    load = {"pipeline": pipeline, "network_delay_us": delay_us}
    about: dict[str, Any] = {"label": label, "workload": workload, **load, "trials": len(trials)}
    if fitted is None:
        return about | {"law": None, "words": "too few trials to say how it scales: sweep four client counts, twice"}
    figures = asdict(fitted)
    law, laws = figures.pop("law"), figures.pop("laws")
    limited = sum(judged(trial).client_limited is not None for trial in trials)
    once = max(trial.facts.repeat or 1 for trial in trials) == 1
    caution = "; one pass" + ("" if drawn else ", in the order listed") if once else ""
    caution += f"; {limited} of {len(trials)} trials were limited by the client" if limited else ""
    return about | {
        "law": law["name"],
        **figures,
        "words": fitted.words + caution,
        "parameters": {key: value for key, value in law.items() if key not in ("name", "aicc")},
        "aicc": {one["name"]: one["aicc"] for one in laws},
    }
