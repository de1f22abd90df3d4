"""Fits four laws of how throughput grows with clients, with their intervals (docs/statistics.md, section 6).

The Universal Scalability Law (Gunther 2007) X(N) = λN / (1 + α(N−1) + βN(N−1)) has three parameters and follows almost
any curve, also one that is a plain plateau. So it stands beside Amdahl's law (β = 0), a straight line, and a hard
ceiling min(λN, C), and the corrected Akaike information criterion (Hurvich & Tsai 1989) chooses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

LEAST_CLIENT_COUNTS = 4
"""Different numbers of clients below which no law is fitted."""
LEAST_TRIALS = 6
"""With fewer trials AICc has nothing to say about three parameters."""
LEAST_NOISE = 0.002
"""Residuals below 0.2 % are taken for this: throughput is not known better, and AICc would tell perfect fits apart."""
CLEAR_AICC = 2.0
"""The law that can decline is chosen only if it is this much better than every other one (Burnham & Anderson 2002)."""
LEAST_DECLINE = 0.03
DECLINE_SIGMAS = 3.0
"""How far, and how many standard errors, the last client count must lie below the best one before a decline is spoken
of: a plateau with a soft knee is fitted best by a law that declines, and does not."""
PAST_PEAK = 1.3
"""A peak is stated only if the sweep went this far past it."""
RESAMPLES = 200
STEPS = 6
"""Steps of Gauss and Newton; three are enough if throughput lies within 30 % of the law."""

LINEAR, CEILING, AMDAHL, USL = "linear", "ceiling", "amdahl", "usl"
_PARAMETERS = {LINEAR: 1, CEILING: 2, AMDAHL: 2, USL: 3}
_BASES = {
    LINEAR: ((0,),),
    AMDAHL: ((0,), (1,), (0, 1)),
    USL: ((0,), (1,), (0, 1), (0, 2), (1, 2), (0, 1, 2)),
}
"""The columns among 1, N and N(N−1) that may have a weight above 0, in all ways in which the others can be 0."""

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Law:
    """One fitted law; which parameters it has depends on `name`, the others are `None`.

    Attributes:
        rate_per_s: λ, throughput of the first client.
        contention: α, the share of the work that waits for the others; 0 to 1.
        coherency: β, the share that each pair of clients costs.
        ceiling_per_s: C.
        aicc: corrected Akaike information criterion; only its differences mean anything, less is better.
    """

    name: str
    rate_per_s: float
    contention: float | None
    coherency: float | None
    ceiling_per_s: float | None
    aicc: float = np.inf

    def at(self, clients: np.ndarray) -> np.ndarray:
        """Throughput per second at each number of clients, shape as given."""
        if self.ceiling_per_s is not None:
            return np.minimum(self.rate_per_s * clients, self.ceiling_per_s)
        alpha, beta = self.contention or 0.0, self.coherency or 0.0
        return np.asarray(self.rate_per_s * clients / (1 + alpha * (clients - 1) + beta * clients * (clients - 1)))


@dataclass(frozen=True, slots=True)
class Scalability:
    """The result of a sweep of client counts.

    Attributes:
        law: the chosen one.
        laws: all that were fitted, best first.
        contention, coherency: 95 % bootstrap intervals of the law's α and β if it has them.
        peak_clients: N* = √((1−α)/β), only where the law has a peak, the sweep went past 1.3 of it, and the decline is
            clear.
        peak_interval: its 95 % bootstrap interval.
        words: all that as one sentence.
        ceiling: 95 % bootstrap interval of the law's C if it has one.
    """

    law: Law
    laws: tuple[Law, ...]
    contention: Interval | None
    coherency: Interval | None
    peak_clients: float | None
    peak_interval: Interval | None
    words: str
    ceiling: Interval | None = None


def scalability(clients: np.ndarray, rate_per_s: np.ndarray, seed: int = 0) -> Scalability | None:
    """Fit the laws to the trials of one system; `None` with fewer than six trials or four different numbers of clients.

    Args:
        clients: number of clients of each trial, shape (trials,); repetitions are trials of their own.
        rate_per_s: throughput of each, shape (trials,).
        seed: of the bootstrap.
    """
    clients, rate_per_s = np.asarray(clients, float), np.asarray(rate_per_s, float)
    if len(clients) < LEAST_TRIALS or len(np.unique(clients)) < LEAST_CLIENT_COUNTS or rate_per_s.min() <= 0:
        return None
    log_rate = np.log(rate_per_s)
    fitted = [_ceiling(clients, log_rate), *(_smooth(name, clients, log_rate) for name in _BASES)]
    laws = tuple(sorted(fitted, key=lambda law: law.aicc))
    law = _chosen(laws, clients, log_rate)
    if law.ceiling_per_s is not None:
        ceiling = _interval(law.ceiling_per_s * np.exp(_plateaus(law, clients, log_rate, seed)))
        return Scalability(law, laws, None, None, None, None, _plateau_words(law, ceiling, clients), ceiling)
    if law.contention is None:
        return Scalability(law, laws, None, None, None, None, _words(law, None, clients, None))
    alphas, betas = _bootstrap(law, clients, log_rate, seed)
    alpha, beta = _interval(alphas), _interval(betas) if law.name == USL else None
    peak = _peak(alphas[:1], betas[:1])[0] if law.name == USL else np.inf
    # A peak between the last two client counts leaves the highest throughput at the last one.
    past = law.name == USL and clients.max() >= PAST_PEAK * peak
    observed = past and _declines(law, clients, log_rate)
    spread = _interval(_peak(alphas, betas)) if observed else None
    words = _words(law, alpha, clients, (float(peak), *spread) if spread else None)
    return Scalability(law, laws, alpha, beta, float(peak) if observed else None, spread, words)


def _chosen(laws: tuple[Law, ...], clients: np.ndarray, log_rate: np.ndarray) -> Law:
    """The best law; one with a decline only if it is clearly better and the trials themselves decline."""
    best, *others = laws
    if best.name != USL:
        return best
    clear = others[0].aicc - best.aicc >= CLEAR_AICC
    within = np.argmax(best.at(np.unique(clients))) < len(np.unique(clients)) - 1
    return best if clear and (not within or _declines(best, clients, log_rate)) else others[0]


def _declines(law: Law, clients: np.ndarray, log_rate: np.ndarray) -> bool:
    """Return whether the trials of the largest client count lie below those of the best one, by more than noise."""
    groups = [log_rate[clients == count] for count in np.unique(clients)]
    best, last = max(groups, key=np.mean), groups[-1]
    spare = len(clients) - _PARAMETERS[law.name]
    error = np.sqrt(_error(law, clients, log_rate) / spare * (1 / len(best) + 1 / len(last)))
    return bool(best.mean() - last.mean() > max(LEAST_DECLINE, DECLINE_SIGMAS * error))


def _smooth(name: str, clients: np.ndarray, log_rate: np.ndarray) -> Law:
    """The law of this name, nearest in log space."""
    rate, alpha, beta = (float(column[0]) for column in _fit(_BASES[name], clients, log_rate[None]))
    law = Law(name, rate, None if name == LINEAR else alpha, beta if name == USL else None, None)
    return _with_aicc(law, clients, log_rate)


def _fit(
    bases: tuple[tuple[int, ...], ...], clients: np.ndarray, log_rates: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Fit λ > 0, 0 ≤ α ≤ 1 and β ≥ 0 to many series at once, by least squares of logarithms.

    With a, b, c ≥ 0 the law is N / X = a + bN + cN(N−1). Then λ = 1 / (a + b), α = b / (a + b), β = c / (a + b).
    The law is linear in a, b and c, so each step of Gauss and Newton is a least-squares problem whose weights must not
    be negative. Its solution is the best of those without a constraint on fewer columns. This is numpy: a library's
    solver costs its import at every `dbdyno show` and takes one series at a time.

    Args:
        clients: shape (trials,).
        log_rates: shape (series, trials).

    Returns:
        λ, α and β, each of shape (series,).
    """
    columns = np.stack([np.ones_like(clients), clients, clients * (clients - 1)], axis=1)
    wanted = np.log(clients) - log_rates
    curve = np.exp(wanted)
    for _ in range(STEPS):
        rows = columns / curve[..., None]
        weights = _not_negative(bases, rows, 1 + wanted - np.log(curve))
        curve = weights @ columns.T
    inverse = weights[:, 0] + weights[:, 1]
    return 1 / inverse, weights[:, 1] / inverse, weights[:, 2] / inverse


def _not_negative(bases: tuple[tuple[int, ...], ...], rows: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The weights ≥ 0 of three columns, above 0 only in one of `bases`, with the least squared error.

    Args:
        rows: shape (series, trials, 3).
        wanted: shape (series, trials).

    Returns:
        Shape (series, 3).
    """
    scale = np.sqrt((rows**2).sum(axis=1))
    unit = rows / scale[:, None]
    least, best = np.full(len(rows), np.inf), np.zeros((len(rows), 3))
    for basis in bases:
        part = unit[..., basis]
        across = part.transpose(0, 2, 1)
        solved = np.linalg.solve(across @ part + 1e-12 * np.eye(len(basis)), across @ wanted[..., None])[..., 0]
        error = ((wanted - (part @ solved[..., None])[..., 0]) ** 2).sum(axis=1)
        better = (solved.min(axis=1) >= 0) & (error < least)
        least[better] = error[better]
        best[better] = 0
        best[np.ix_(better, basis)] = solved[better]
    # If nothing fits the series, return something positive, so that the next step can go on.
    best[~np.isfinite(least), bases[0][0]] = 1.0
    return np.asarray(best / scale)


def _ceiling(clients: np.ndarray, log_rate: np.ndarray) -> Law:
    """The hard ceiling min(λN, C): the best of all ways to divide the client counts into a rise and a plateau."""
    candidates = []
    for last in np.unique(clients)[:-1]:
        rise = clients <= last
        per_client = np.exp((log_rate - np.log(clients))[rise].mean())
        law = Law(CEILING, float(per_client), None, None, float(np.exp(log_rate[~rise].mean())))
        candidates.append((_error(law, clients, log_rate), last, law))
    return _with_aicc(min(candidates, key=lambda candidate: candidate[:2])[2], clients, log_rate)


def _error(law: Law, clients: np.ndarray, log_rate: np.ndarray) -> float:
    return float(((log_rate - np.log(law.at(clients))) ** 2).sum())


def _with_aicc(law: Law, clients: np.ndarray, log_rate: np.ndarray) -> Law:
    # The noise is a parameter too.
    count, parameters = len(clients), _PARAMETERS[law.name] + 1
    variance = max(_error(law, clients, log_rate) / count, LEAST_NOISE**2)
    spare = count - parameters - 1
    aicc = count * float(np.log(variance)) + 2 * parameters + 2 * parameters * (parameters + 1) / spare
    return replace(law, aicc=aicc)


def _bootstrap(law: Law, clients: np.ndarray, log_rate: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """α and β of the law (first) and of trials drawn anew around it, each of shape (1 + resamples,).

    Each draw takes the trials' distances from the law: two trials at a number of clients leave nothing else to draw
    from.
    """
    around = np.log(law.at(clients))
    _, alphas, betas = _fit(
        _BASES[law.name], clients, np.vstack([log_rate, around + _drawn(law, clients, log_rate, seed)])
    )
    return alphas, betas


def _plateaus(law: Law, clients: np.ndarray, log_rate: np.ndarray, seed: int) -> np.ndarray:
    """How far the plateau of a hard ceiling lies from C: of the law (0), then of trials drawn anew around it.

    Returns:
        In logarithms, shape (1 + resamples,).
    """
    on_it = law.at(clients) >= (law.ceiling_per_s or 0.0)
    return np.concatenate(([0.0], _drawn(law, clients, log_rate, seed)[:, on_it].mean(axis=1)))


def _drawn(law: Law, clients: np.ndarray, log_rate: np.ndarray, seed: int) -> np.ndarray:
    """Distances from the law, drawn anew from those of the trials; shape (resamples, trials)."""
    rest = (log_rate - np.log(law.at(clients))) * np.sqrt(len(clients) / (len(clients) - _PARAMETERS[law.name]))
    return np.random.default_rng(seed).choice(rest - rest.mean(), (RESAMPLES, len(clients)))


def _interval(values: np.ndarray) -> Interval:
    low, high = np.percentile(values[1:], (2.5, 97.5))
    return float(low), float(high)


def _peak(alphas: np.ndarray, betas: np.ndarray) -> np.ndarray:
    """N* = √((1−α)/β), at least 1; without coherency cost there is none, and it lies very far."""
    return np.asarray(np.maximum(np.sqrt((1 - alphas) / np.maximum(betas, 1e-12)), 1.0))


def _words(law: Law, alpha: Interval | None, clients: np.ndarray, peak: tuple[float, float, float] | None) -> str:
    most = f"{clients.max():.0f} clients"
    if law.name == LINEAR:
        return f"rises in proportion to the clients up to {most}: no limit was reached"
    shares = f"contention {law.contention:.2g} [{alpha[0]:.2g}, {alpha[1]:.2g}]" if alpha else ""
    if peak:
        return f"peak at {peak[0]:.3g} clients [{peak[1]:.3g}, {peak[2]:.3g}], declining beyond; {shares}"
    if law.name == USL:
        return f"each client adds less, {shares}, coherency {law.coherency:.2g}; peak not observed up to {most}"
    return f"each client adds less, {shares}; no decline established up to {most}"


def _plateau_words(law: Law, ceiling: Interval, clients: np.ndarray) -> str:
    level = law.ceiling_per_s or 0.0
    plateau = f"a plateau at {level:,.0f}/s [{ceiling[0]:,.0f}, {ceiling[1]:,.0f}]"
    knee = f"from about {level / law.rate_per_s:.3g} clients on"
    return f"{plateau} {knee}, no decline established up to {clients.max():.0f} clients"
