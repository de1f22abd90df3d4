"""A series cut into pieces of constant mean, and the robust measures of noise that decide how many pieces there are."""

from __future__ import annotations

import numpy as np

SIGMA_PER_MAD = 1.4826
"""The standard deviation of normally distributed values over their median absolute deviation."""
PENALTY = 4.0
"""The cost of a further piece, in σ̂² · ln(values): docs/statistics.md, section 2."""


def mad(values: np.ndarray) -> float:
    """The median absolute deviation from the median; 0 of nothing."""
    return float(np.median(np.abs(values - np.median(values)))) if len(values) else 0.0


def noise(values: np.ndarray) -> float:
    """The standard deviation of the values around whatever level they have, from the MAD of their differences.

    Steps and slopes hardly touch it. Noise that is correlated from one value to the next is underestimated.
    """
    return SIGMA_PER_MAD * mad(np.diff(values)) / float(np.sqrt(2))


def penalty(values: np.ndarray, least_sigma: float) -> float:
    """The cost of one further piece of `values`.

    Args:
        least_sigma: noise below this is taken for this: without it a series without noise falls into pieces anywhere.
    """
    return PENALTY * max(noise(values), least_sigma) ** 2 * float(np.log(max(len(values), 2)))


def segments(values: np.ndarray, penalty: float, shortest: int) -> list[tuple[int, int]]:
    """Cut a series if that lowers the squared error by more than `penalty` a cut.

    The exact minimum that PELT (Killick, Fearnhead & Eckley 2012) also looks for, by optimal partitioning (Jackson et
    al. 2005). PELT's pruning can miss the minimum if pieces have a least length, and doing without it costs nothing at
    these sizes.

    Args:
        values: shape (n,).
        penalty: in the square of the values' unit.
        shortest: values in a piece, at least; a series shorter than twice that is one piece.

    Returns:
        The pieces as (first, end), in order, `end` exclusive.
    """
    count = len(values)
    centred = values - values.mean() if count else values
    sums, squares = (np.concatenate(([0.0], np.cumsum(part))) for part in (centred, centred**2))
    least = np.full(count + 1, np.inf)
    least[0], begins = -penalty, np.zeros(count + 1, int)
    for end in range(min(shortest, count), count + 1):
        first = np.arange(max(end - shortest, 0) + 1)
        errors = squares[end] - squares[first] - (sums[end] - sums[first]) ** 2 / np.maximum(end - first, 1)
        costs = least[first] + errors + penalty
        begins[end] = int(np.argmin(costs))
        least[end] = costs[begins[end]]
    pieces, end = [], count
    while end > 0:
        pieces.append((int(begins[end]), end))
        end = int(begins[end])
    return pieces[::-1]
