"""Finds the changes of level in a history of runs, and their size (docs/statistics.md, section 3.5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dbdyno.stats.student_t import quantile

SIGNIFICANCE = 0.05
PERMUTATIONS = 199
SHORTEST_SEGMENT = 3
"""Runs on either side of a change, at least: one odd run is no change."""
LEAST_CHANGE = 0.02
"""The default margin of comparisons."""
NOISES = 2.0
"""A change must also be this many times what the system differs from itself by on this host."""
AGREEMENT = 2
"""Runs by which the second method may place the change elsewhere."""
LEAST_NOISE = 0.001
"""No level is known more exactly: runs that agree by chance would else leave an interval of no width."""
CONFIDENCE = 0.95
LIKELIHOOD_RATIO = 13.6
"""How much likelier a change must make the history, as twice the difference of logarithms.

With it, and the other rules, 0 to 4 % of simulated histories of 20 to 60 runs have a false change, and 7 % of 60 runs
with a correlation of 0.8 and 4 % noise (docs/statistics.md, section 3.5)."""
CORRELATIONS = np.linspace(0.0, 0.95, 20)
"""Autocorrelations, of a run with the next, that are considered."""


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """One change of level.

    Attributes:
        index: the first run of the new level.
        change: by how much throughput changed, −0.05 is 5 % less.
        low, high: its 95 % interval, the runs being the sample.
        p_value: of the permutation test. Runs that are close in time resemble each other, and then it is too small:
            that is why it alone confirms nothing.
    """

    index: int
    change: float
    low: float
    high: float
    p_value: float


def least_change(aa_noise: float = 0.0) -> float:
    """Return from which share on a change of level counts: 2 %, or twice the A/A noise of a run if that is more.

    Args:
        aa_noise: what a system differs from itself by on this host.
    """
    return max(LEAST_CHANGE, NOISES * aa_noise)


def change_points(log_ratios: np.ndarray, aa_noise: float = 0.0, seed: int = 0) -> list[ChangePoint]:
    """Find the changes of level that two methods agree on and that are large enough to matter.

    The first is a likelihood-ratio test for a change of mean in noise of first-order autocorrelation, at the likeliest
    place. The next change is sought with the earlier ones in the model. The second is E-divisive (Matteson & James
    2014), by means, as Daly et al. (2020) use it for regressions. It tests the division with the largest energy
    statistic by permutation, then does the same within each side. A change of less than `least_change` is none.

    Args:
        log_ratios: ln(run / baseline), one value a run in the order of time, shape (runs,).
        aa_noise: what a system differs from itself by on this host.
        seed: of the permutations.
    """
    if len(log_ratios) < 2 * SHORTEST_SEGMENT:
        return []
    second = _divide(log_ratios, 0, np.random.default_rng(seed))
    p_values = {index + shift: p for index, p in second for shift in range(-AGREEMENT, AGREEMENT + 1)}
    divisions = _divisions(log_ratios, sorted(p_values))
    least = least_change(aa_noise)
    # A division that is dropped gives its runs back to its neighbours, so sizes are of what remains, least first.
    while divisions:
        fit = _fit(log_ratios, divisions)
        changes = []
        for number, index in enumerate(divisions):
            size, low, high = map(float, np.expm1(fit.step(number)))
            changes.append(ChangePoint(index, size, low, high, p_values[index]))
        doubtful = [change for change in changes if abs(change.change) < least or change.low <= 0 <= change.high]
        if not doubtful:
            return changes
        divisions.remove(min(doubtful, key=lambda change: abs(change.change)).index)
    return []


@dataclass(frozen=True, slots=True)
class _Fit:
    """Constant levels in autocorrelated noise, fitted to a history by maximum likelihood.

    Attributes:
        log_likelihood: up to a constant that depends on the number of runs alone.
        steps: of the logarithm at each division, shape (divisions,).
        errors: their standard errors, shape (divisions,).
        freedom: degrees of freedom that are left.
    """

    log_likelihood: float
    steps: np.ndarray
    errors: np.ndarray
    freedom: int

    def step(self, number: int) -> tuple[float, float, float]:
        """The step at a division, with its 95 % interval by Student's t."""
        half = quantile((1 + CONFIDENCE) / 2, self.freedom) * self.errors[number]
        return self.steps[number], self.steps[number] - half, self.steps[number] + half


def _divisions(values: np.ndarray, possible: list[int]) -> list[int]:
    """The divisions that make the history likelier by enough, one after the other, the likeliest first; in order."""
    taken: list[int] = []
    before = _fit(values, taken)
    while open_places := [index for index in possible if _has_room(index, taken, len(values))]:
        fits = {index: _fit(values, sorted([*taken, index])) for index in open_places}
        likeliest = max(fits, key=lambda index: fits[index].log_likelihood)
        if 2 * (fits[likeliest].log_likelihood - before.log_likelihood) <= LIKELIHOOD_RATIO:
            break
        taken.append(likeliest)
        before = fits[likeliest]
    return sorted(taken)


def _has_room(index: int, taken: list[int], count: int) -> bool:
    """Return whether a division leaves the shortest segment on both its sides."""
    return all(abs(index - edge) >= SHORTEST_SEGMENT for edge in (0, *taken, count))


def _fit(values: np.ndarray, divisions: list[int]) -> _Fit:
    """Fit a level between each two divisions, and the correlation of a run with the next that makes them likeliest.

    Generalised least squares (Prais & Winsten 1954), with the correlation taken from a grid.
    """
    count = len(values)
    design = np.column_stack([np.ones(count), *(np.arange(count) >= index for index in divisions)]).astype(float)
    return max((_fit_at(values, design, rho) for rho in CORRELATIONS), key=lambda fit: fit.log_likelihood)


def _fit_at(values: np.ndarray, design: np.ndarray, rho: float) -> _Fit:
    """Fit levels if a run is correlated with the next by `rho`."""
    count, columns = design.shape
    orthogonal, triangle = np.linalg.qr(_whitened(design, rho))
    white = _whitened(values[:, None], rho)[:, 0]
    projected = orthogonal.T @ white
    least = count * LEAST_NOISE**2 * (1 - rho**2)
    squares = max(float(white @ white - projected @ projected), least)
    log_likelihood = (float(np.log(1 - rho**2)) - count * float(np.log(squares / count))) / 2
    freedom = count - columns - 1
    inverse = np.linalg.inv(triangle)
    errors = np.sqrt(squares / freedom * (inverse**2).sum(axis=1))
    return _Fit(log_likelihood, (inverse @ projected)[1:], errors[1:], freedom)


def _whitened(columns: np.ndarray, rho: float) -> np.ndarray:
    """Each value less what the one before it tells of it, so that what remains of the noise is independent."""
    return np.vstack([columns[:1] * np.sqrt(1 - rho**2), columns[1:] - rho * columns[:-1]])


def _divide(values: np.ndarray, offset: int, rng: np.random.Generator) -> list[tuple[int, float]]:
    """The significant divisions of a piece that begins at run `offset`, with the p of each."""
    if len(values) < 2 * SHORTEST_SEGMENT:
        return []
    distances = np.abs(values[:, None] - values[None, :])
    index, highest = _best_division(distances)
    orders = (rng.permutation(len(values)) for _ in range(PERMUTATIONS))
    as_high = sum(_best_division(distances[np.ix_(order, order)])[1] >= highest for order in orders)
    p_value = (as_high + 1) / (PERMUTATIONS + 1)
    if highest <= 0 or p_value > SIGNIFICANCE:
        return []
    sides = _divide(values[:index], offset, rng) + _divide(values[index:], offset + index, rng)
    return [(offset + index, p_value), *sides]


def _best_division(distances: np.ndarray) -> tuple[int, float]:
    """The index with the highest energy statistic of two sides, and that statistic.

    Args:
        distances: between all values of the piece, in order, shape (n, n).
    """
    count = len(distances)
    sums = np.zeros((count + 1, count + 1))
    sums[1:, 1:] = distances.cumsum(axis=0).cumsum(axis=1)
    left = np.arange(SHORTEST_SEGMENT, count - SHORTEST_SEGMENT + 1)
    right = count - left
    within_left = sums[left, left]
    across = sums[left, count] - within_left
    within_right = sums[count, count] - within_left - 2 * across
    # Each pair within a side is counted twice in its sum.
    energy = 2 * across / (left * right) - within_left / (left * (left - 1)) - within_right / (right * (right - 1))
    weighted = energy * left * right / count
    best = int(np.argmax(weighted))
    return int(left[best]), float(weighted[best])
