"""How often comparison, scalability and change points are right on made-up trials: `python -m tests.stats.measured`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from dbdyno.stats.change_points import change_points

from . import test_change_points, test_comparison, test_scalability


def _line(what: str, hits: Iterable[object]) -> None:
    found = [bool(hit) for hit in hits]
    print(f"{what}: {sum(found) / len(found):.1%} of {len(found)}")


def comparison() -> None:
    """Print false positives and power at 1.5 % noise of a trial."""
    for pairs in (5, 10, 20):
        for effect in (0.0, 0.03):
            found = test_comparison.verdicts(pairs, effect)
            _line(
                f"{pairs} pairs, effect {effect:.0%}, a winner named",
                (v.verdict in ("faster", "slower") for v in found),
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
        found = test_scalability.fits(curve)
        _line(f"{name}, a peak stated", (one.peak_clients for one in found))
    peaks = [one.peak_interval for one in test_scalability.fits(test_scalability.usl) if one.peak_interval]
    _line("retrograde, the interval holds the peak", (low <= test_scalability.PEAK <= high for low, high in peaks))


def changes() -> None:
    """Print false alarms and hits in histories of 40 runs at 1.5 % noise of a run."""
    for rho in (0.0, 0.5, 0.8):
        quiet = test_change_points.histories(rho)
        _line(f"history, ρ = {rho}, no change, one found", map(change_points, quiet))
        stepped = [values + np.log(0.94) * (np.arange(len(values)) >= 20) for values in quiet]
        found = [[one for one in change_points(values) if abs(one.index - 20) <= 2] for values in stepped]
        _line(f"history, ρ = {rho}, a step of −6 % found within 2 runs", found)
        held = (one.low <= -0.06 <= one.high for ones in found for one in ones)
        _line(f"history, ρ = {rho}, its interval holds −6 %", held)


if __name__ == "__main__":
    comparison()
    scaling()
    changes()
