"""The operations of a transaction that take longer, or shorter, on one side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dbdyno.report.core import words
from dbdyno.report.why.evidence import LEAST_SHARE, Evidence, Pairs, beyond_noise
from dbdyno.results.model import Trial


def operations(pairs: Pairs) -> list[Evidence]:
    """Return the operations whose time per transaction changed with the transaction's; none if there is only one.

    Operations of a transaction follow each other, so their times add up to it.
    """
    sides = [[operations_us(trial) for trial in pairs.side(which)] for which in (0, 1)]
    names = sorted(set.intersection(*(set(times) for side in sides for times in side))) if pairs.trials else []
    if len(names) < 2 or len(pairs.trials) < 2 or not pairs.time_us:
        return []
    values = {name: ([times[name] for times in sides[0]], [times[name] for times in sides[1]]) for name in names}
    evidence = []
    for name in beyond_noise(values):
        if (share := share_of(values[name], pairs)) >= LEAST_SHARE:
            before, after = (words.length(float(np.mean(side))) for side in values[name])
            evidence.append(Evidence("operation", name, before, after, min(1.0, share)))
    return evidence


def operations_us(trial: Trial) -> dict[str, float]:
    """Return the time of a transaction in each operation, in µs: its service times over all transactions."""
    done = trial.recorded.completed
    return {
        operation.name: operation.service_time.sum_ns / 1e3 / done
        for operation in trial.recorded.operations
        if done and operation.service_time.count
    }


def share_of(values: tuple[Sequence[float], Sequence[float]], pairs: Pairs) -> float:
    """Return the share of the difference in time that the change of a part is; values: of the baseline's trials and of
    the candidate's, in µs."""
    before, after = (float(np.mean(side)) for side in values)
    return (after - before) / pairs.time_us
