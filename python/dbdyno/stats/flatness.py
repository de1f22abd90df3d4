"""Tells whether a curve of throughput over rising clients is flat, so that further steps would add nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dbdyno.stats.student_t import quantile

CONFIDENCE = 0.95
"""One-sided, of the noise that a rise must exceed."""
LAST_STEPS = 2
"""So many steps in a row must not have risen: a single one may have met a checkpoint or a stall."""
MOST_NOISE = 0.2
"""With more noise than this nothing is concluded: a third more clients may gain as little on a curve that rises."""


@dataclass(frozen=True, slots=True)
class Flat:
    """A curve that has become flat.

    Attributes:
        best: the step with the highest throughput before the last two, from 0.
        rises: of each of the last two over that one, as a share of it; 0.02 is 2 % more.
        noise: what within-trial noise alone may make of such a rise, the larger of the two, as a share; `None` if no
            trial has two whole seconds to tell.
    """

    best: int
    rises: tuple[float, ...]
    noise: float | None


def flatness(steps: Sequence[Sequence[float]], share: float) -> Flat | None:
    """Return that the last two steps of a sweep did not rise by `share` over the best before, or `None` if one did.

    A step has risen if its mean exceeds the best one before the last two by `share`, and beyond that by noise. Noise
    is the one-sided 95 % bound of a difference of two means (Student's t). The seconds' relative standard deviation is
    pooled over all steps. Seconds in a row resemble each other, so the noise is rather more than that. A sweep
    therefore goes on too long rather than ends too early.

    Args:
        steps: the throughput of each measured whole second, transactions per second, of each step in the order of
            rising clients, at least one second a step.
        share: the least rise that counts, 0.03 is 3 %.
    """
    if len(steps) <= LAST_STEPS:
        return None
    means = np.array([np.mean(step) for step in steps])
    best = int(np.argmax(means[:-LAST_STEPS]))
    if means[best] <= 0:
        return None
    rises = means[-LAST_STEPS:] / means[best] - 1
    noises = [_noise(steps, means, best, step) for step in range(len(steps) - LAST_STEPS, len(steps))]
    known = [rise_noise for rise_noise in noises if rise_noise is not None]
    noise = max(known) if len(known) == len(noises) else None
    if (noise or 0.0) > MOST_NOISE:
        return None
    beyond = [0.0 if rise_noise is None else rise_noise for rise_noise in noises]
    flat = all(rise < share + rise_noise for rise, rise_noise in zip(rises, beyond, strict=True))
    return Flat(best, tuple(map(float, rises)), noise) if flat else None


def _noise(steps: Sequence[Sequence[float]], means: np.ndarray, best: int, step: int) -> float | None:
    """Return what noise may make of a step's rise, as a share; `None` if no step has two seconds."""
    freedom = sum(len(rates) - 1 for rates in steps)
    if not freedom:
        return None
    squares = sum(
        float(np.sum((np.asarray(rates) / mean - 1) ** 2)) for rates, mean in zip(steps, means, strict=True) if mean > 0
    )
    variation = np.sqrt(squares / freedom)
    error = variation * np.sqrt(1 / len(steps[best]) + 1 / len(steps[step]))
    return float(quantile(CONFIDENCE, freedom) * error)
