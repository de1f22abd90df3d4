"""The time of a transaction on either side, by the time budget (docs/statistics.md, section 5.1)."""

from __future__ import annotations

from dbdyno.report.core import words
from dbdyno.report.why.evidence import LEAST_SHARE, QUEUED, Evidence, Pairs, beyond_noise
from dbdyno.results.model import Trial
from dbdyno.verdict.judge import judged

_NOTES = {"unexplained": "no observation tells where"}


def time_bands(pairs: Pairs) -> list[Evidence]:
    """Return the bands of the time budget that changed, as time of a transaction.

    By Little's law, the operations in a band divided by the throughput are the time that a transaction spends there.
    The bands add up to the time of a transaction, so their changes add up to the difference. The band of full
    processors also explains the queue before them.
    """
    sides = [[_bands_us(trial) for trial in pairs.side(which)] for which in (0, 1)]
    if not all(all(side) for side in sides) or not pairs.time_us:
        return []
    names = dict.fromkeys(name for side in sides for bands in side for name in bands)
    values = {
        name: ([bands.get(name, 0.0) for bands in sides[0]], [bands.get(name, 0.0) for bands in sides[1]])
        for name in names
    }
    evidence = []
    for name in beyond_noise(values):
        before, after = (sum(side) / len(side) for side in values[name])
        factor = pairs.queue_factors.get(name, 1.0)
        share = (after - before) * factor / pairs.time_us
        if share >= LEAST_SHARE:
            note = QUEUED if factor > 1 else _NOTES.get(name, "")
            times = words.length(before), words.length(after)
            evidence.append(Evidence("time", name.replace("_", " "), *times, min(1.0, share), note))
    return evidence


def _bands_us(trial: Trial) -> dict[str, float]:
    """Return the time that a transaction spends in each band, in µs; empty if nothing was measured."""
    budget, rate = judged(trial).time_budget, trial.recorded.throughput_per_s
    return {name: 1e6 * held / rate for name, held in budget.bands.items()} if budget and rate else {}
