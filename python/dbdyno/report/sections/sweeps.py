"""The scalability of each system, from its sweep of client counts, as plain JSON values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dbdyno.report.cells import cell_of
from dbdyno.results.usable import compared_rate_per_s, unusable
from dbdyno.stats.scalability import scalability
from dbdyno.verdict.judge import judged

if TYPE_CHECKING:
    from dbdyno.report.core.documents import FitDocument, SweepDocument, SweptDocument
    from dbdyno.results.model import Run, Trial


def sweeps(run: Run) -> list[SweepDocument]:
    """Return the scalability of each system, workload, pipeline and network delay, from closed loops that can be used.

    `law` is `None` and the figures are absent if the sweep is too small. If the client limited a trial, `words` say so:
    the apparent ceiling of the store may be the client's.
    """
    groups: dict[tuple[str, str, int, int], list[Trial]] = {}
    for trial in run.trials:
        if trial.system is not None and not unusable(trial) and not (cell := cell_of(trial)).rate:
            groups.setdefault((trial.label, cell.workload, cell.pipeline, cell.network_delay_us), []).append(trial)
    drawn = str(run.facts.order or "").startswith("randomised")
    return [_sweep(*key, trials, drawn) for key, trials in groups.items()]


def _sweep(label: str, workload: str, pipeline: int, delay_us: int, trials: list[Trial], drawn: bool) -> SweepDocument:
    clients = np.array([cell_of(trial).clients for trial in trials])
    fitted = scalability(clients, np.array([compared_rate_per_s(trial) for trial in trials]))
    about: SweptDocument = {
        "label": label,
        "workload": workload,
        "pipeline": pipeline,
        "network_delay_us": delay_us,
        "trials": len(trials),
    }
    if fitted is None:
        none: FitDocument = {}
        too_few = "too few trials to say how it scales: sweep four client counts, twice"
        return {**about, "law": None, "words": too_few, **none}
    limited = sum(judged(trial).client_limited is not None for trial in trials)
    once = max(trial.facts.repeat or 1 for trial in trials) == 1
    caution = "; one pass" + ("" if drawn else ", in the order listed") if once else ""
    caution += f"; {limited} of {len(trials)} trials were limited by the client" if limited else ""
    law = fitted.law
    return {
        **about,
        "law": law.name,
        "contention": fitted.contention,
        "coherency": fitted.coherency,
        "peak_clients": fitted.peak_clients,
        "peak_interval": fitted.peak_interval,
        "words": fitted.words + caution,
        "ceiling": fitted.ceiling,
        "parameters": {
            "rate_per_s": law.rate_per_s,
            "contention": law.contention,
            "coherency": law.coherency,
            "ceiling_per_s": law.ceiling_per_s,
        },
        "aicc": {fit.name: fit.aicc for fit in fitted.laws},
    }
