"""How often comparison, scalability, change points and searches are right on made-up trials.

`python -m tests.stats.measured [NAME …]` prints all, or those named.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from itertools import product

import numpy as np

from dbdyno.stats.bisection import search
from dbdyno.stats.change_points import LIKELIHOOD_RATIO, SHORTEST_SEGMENT, change_points
from dbdyno.stats.change_points import _fit as fitted

from . import test_bisection, test_comparison, test_scalability
from .synthetic_series import ar1

NOISE = 0.015
"""The noise of a run, in histories with a step."""


def _line(what: str, hits: Iterable[object]) -> None:
    outcomes = [bool(hit) for hit in hits]
    print(f"{what}: {sum(outcomes) / len(outcomes):.1%} of {len(outcomes)}")


def comparison() -> None:
    """Print false positives and power at 1.5 % noise of a trial."""
    for pairs in (5, 10, 20):
        for effect in (0.0, 0.03):
            comparisons = test_comparison.verdicts(pairs, effect)
            _line(
                f"{pairs} pairs, effect {effect:.0%}, a winner named",
                (v.verdict in ("faster", "slower") for v in comparisons),
            )


def scaling() -> None:
    """Print how often each curve is given each law, and how often a peak is stated, at 2 % noise of a trial."""
    curves: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "retrograde": test_scalability.usl,
        "Amdahl": test_scalability.amdahl,
        "hard plateau": test_scalability.plateau,
        "soft plateau": test_scalability.soft_plateau,
        "closed queue": test_scalability.closed_queue,
    }
    for name, curve in curves.items():
        fitted = test_scalability.fits(curve)
        _line(f"{name}, a peak stated", (fit.peak_clients for fit in fitted))
    peaks = [fit.peak_interval for fit in test_scalability.fits(test_scalability.usl) if fit.peak_interval]
    _line("retrograde, the interval holds the peak", (low <= test_scalability.PEAK <= high for low, high in peaks))


def changes(count: int = 200) -> None:
    """Print how often a history without a change is given one, and one with a step of three times its noise is not.

    One row for each number of runs and correlation of a run with the next: false changes at 1 and at 4 % noise of a
    run; a step in the middle and after a quarter found within 2 runs, at 1.5 % noise; its interval holds the step.
    """
    print("| runs | ρ | false, 1 % noise | false, 4 % | found, middle | found, quarter | interval holds |")
    for runs, rho in product((20, 30, 40, 60), (0.0, 0.2, 0.5, 0.8)):
        false = [_share(map(change_points, _histories(rho, runs, noise, count))) for noise in (0.01, 0.04)]
        named, held = [], []
        for first in (runs // 2, runs // 4):
            step = np.log(1 - 3 * NOISE) * (np.arange(runs) >= first)
            near = [
                [change for change in change_points(values + step) if abs(change.index - first) <= 2]
                for values in _histories(rho, runs, NOISE, count)
            ]
            named.append(_share(near))
            held += [change.low <= -3 * NOISE <= change.high for changes in near for change in changes]
        print(f"| {runs} | {rho} | {' | '.join([*false, *named, _share(held)])} |", flush=True)


def thresholds(count: int = 400) -> None:
    """Print what thresholds of the likelihood ratio do, by themselves, where each error is most frequent.

    That is a false change in 60 runs correlated by 0.8; and a step of three times the noise after a quarter of 20 runs
    correlated by 0.5, found within 2 runs of its place.
    """
    first, runs = 5, 20
    step = np.log(1 - 3 * NOISE) * (np.arange(runs) >= first)
    without = [_likeliest(values)[1] for values in _histories(0.8, 60, NOISE, count)]
    steps = [_likeliest(values + step) for values in _histories(0.5, runs, NOISE, count)]
    print("| threshold | false, 60 runs, ρ = 0.8 | found, 20 runs, ρ = 0.5 |")
    for threshold in (8, 10, 12, LIKELIHOOD_RATIO, 16):
        false = _share(gain > threshold for gain in without)
        in_place = _share(gain > threshold and abs(index - first) <= 2 for index, gain in steps)
        print(f"| {threshold} | {false} | {in_place} |")


def _likeliest(values: np.ndarray) -> tuple[int, float]:
    """Return the likeliest place of a change, and twice the log-likelihood that it gains."""
    places = range(SHORTEST_SEGMENT, len(values) - SHORTEST_SEGMENT + 1)
    gained, index = max((fitted(values, [index]).log_likelihood, index) for index in places)
    return index, 2 * (gained - fitted(values, []).log_likelihood)


def _histories(rho: float, runs: int, noise: float, count: int) -> list[np.ndarray]:
    return [np.log(ar1(np.random.default_rng(seed), runs, noise, rho)) for seed in range(count)]


def _share(hits: Iterable[object]) -> str:
    outcomes = [bool(hit) for hit in hits]
    return f"{sum(outcomes) / len(outcomes):.1%}" if outcomes else ""


def searches(count: int = 100) -> None:
    """Print how often the first slow one of 16 builds is found, whether the range that is left holds it, and its cost.

    One row for each effect and noise of a trial.
    """
    print("| effect | noise of a trial | found | the range holds it | pairs, mean |")
    for effect, noise in ((-0.03, 0.01), (-0.03, 0.015), (-0.03, 0.03), (-0.05, 0.03), (-0.05, 0.015), (-0.10, 0.015)):
        rng, hits, spent = np.random.default_rng(16), [], []
        for slow in rng.integers(1, test_bisection.BUILDS, count):
            left = search(test_bisection.BUILDS, test_bisection.scripted(rng, slow, effect, noise, spent=spent))
            hits.append((left.is_exact and left.first_bad == slow, left.last_good < slow <= left.first_bad))
        exact, held = (_share(hit[number] for hit in hits) for number in (0, 1))
        print(f"| {effect:.0%} | {noise:.1%} | {exact} | {held} | {sum(spent) / count:.0f} |")


TABLES = {table.__name__: table for table in (comparison, scaling, changes, thresholds, searches)}

if __name__ == "__main__":
    for name in sys.argv[1:] or TABLES:
        TABLES[name]()
