"""Made-up throughput series whose steady state is known, for tests and for the hit rates in docs/statistics.md."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

LEVEL_PER_S = 10_000.0
SECONDS = 600


def ar1(rng: np.random.Generator, seconds: int, variation: float, rho: float) -> np.ndarray:
    """Noise around 1 with a standard deviation of `variation` and a correlation of `rho` from second to second."""
    shocks = rng.normal(0, variation * np.sqrt(1 - rho**2), seconds)
    shocks[0] = rng.normal(0, variation)
    for second in range(1, seconds):
        shocks[second] += rho * shocks[second - 1]
    return 1 + shocks


@dataclass(frozen=True)
class Case:
    """A shape, and what must be said of it: any of these classes, and the cut to within 20 s."""

    name: str
    shape: Callable[[np.random.Generator, np.ndarray], np.ndarray]
    kinds: tuple[str, ...]
    cut_s: int | None


def _flat(rng, time_s):
    return np.ones(len(time_s))


def _warm_up(rng, time_s):
    return 1 - 0.6 * np.exp(-time_s / 40)


def _step(rng, time_s):
    return np.where(time_s < 120, 0.8, 1.0)


def _cliff(rng, time_s):
    return np.where(time_s < 200, 1.0, 0.55)


def _checkpoints(rng, time_s):
    return np.where((time_s + rng.integers(0, 60)) % 60 < 12, 0.6, 1.0)


def _warm_up_and_checkpoints(rng, time_s):
    return _warm_up(rng, time_s) * _checkpoints(rng, time_s)


def _drift(rng, time_s):
    return 1 - 0.15 * time_s / len(time_s)


def _late_drop(rng, time_s):
    return np.where(time_s < 0.8 * len(time_s), 1.0, 0.6)


def _stalls(rng, time_s):
    shape = np.ones(len(time_s))
    for start in rng.choice(len(time_s) - 10, 6, replace=False):
        shape[start : start + rng.integers(1, 6)] = 0.02
    return shape


CASES = (
    Case("flat", _flat, ("flat",), 0),
    Case("warm-up, exponential", _warm_up, ("warm-up",), 120),
    Case("step up after 120 s", _step, ("warm-up",), 120),
    Case("cliff after 200 s", _cliff, ("slowdown",), 200),
    Case("checkpoints every 60 s", _checkpoints, tuple(f"periodic({t} s)" for t in (59, 60, 61)), 0),
    Case("drift of −15 %", _drift, ("drifting",), None),
    Case("drop in the last fifth", _late_drop, ("no steady state",), None),
    Case("random stalls", _stalls, ("flat",), 0),
)
NOISES = ((0.02, 0.0), (0.05, 0.0), (0.03, 0.5), (0.03, 0.8), (0.03, 0.9))
"""Standard deviation of a second over the mean, and its correlation from second to second."""


def series(case: Case, variation: float, rho: float, seed: int, seconds: int = SECONDS) -> np.ndarray:
    """One trial of a case, in transactions per second, shape (seconds,)."""
    rng = np.random.default_rng([seed, int(1000 * variation), int(1000 * rho)])
    shape = case.shape(rng, np.arange(seconds))
    return np.maximum(LEVEL_PER_S * shape * ar1(rng, seconds, variation, rho), 0)
