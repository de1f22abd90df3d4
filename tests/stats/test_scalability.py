"""Known curves come back within their intervals; a plateau is not called a decline, nor an unseen peak stated."""

import numpy as np
import pytest
from scipy.optimize import least_squares

from dbdyno.stats.scalability import scalability

SWEEP = np.repeat([1, 2, 4, 8, 16, 32, 64], 2).astype(float)
NOISE = 0.02
ALPHA, BETA = 0.03, 0.0008
PEAK = np.sqrt((1 - ALPHA) / BETA)


def usl(clients, alpha=ALPHA, beta=BETA):
    return 1000 * clients / (1 + alpha * (clients - 1) + beta * clients * (clients - 1))


def amdahl(clients):
    return usl(clients, 0.05, 0)


def plateau(clients):
    return np.minimum(1000 * clients, 7000)


def soft_plateau(clients):
    return 7000 * (1 - np.exp(-clients / 7))


def closed_queue(clients):
    return clients / (1e-3 + clients / 9000)


def fits(curve, clients=SWEEP, count=100):
    noise = (np.exp(np.random.default_rng(seed).normal(0, NOISE, len(clients))) for seed in range(count))
    return [scalability(clients, curve(clients) * factors, seed) for seed, factors in enumerate(noise)]


def share(fitted, condition):
    return sum(map(condition, fitted)) / len(fitted)


def test_a_usl_curve_is_recovered_within_its_intervals():
    fitted = fits(usl)
    right = [fit for fit in fitted if fit.law.name == "usl"]
    assert len(right) >= 95
    assert share(right, lambda fit: fit.contention[0] <= ALPHA <= fit.contention[1]) >= 0.85
    assert share(right, lambda fit: fit.coherency[0] <= BETA <= fit.coherency[1]) >= 0.85
    assert share(right, lambda fit: fit.peak_interval[0] <= PEAK <= fit.peak_interval[1]) >= 0.85
    assert "peak at" in right[0].words and "[" in right[0].words


@pytest.mark.parametrize(
    ("curve", "law", "least"),
    [
        (amdahl, "amdahl", 0.9),
        (closed_queue, "amdahl", 0.9),
        (plateau, "ceiling", 0.95),
        (lambda n: 1000 * n, "linear", 0.8),
    ],
    ids=["amdahl", "closed queue", "plateau", "linear"],
)
def test_the_law_that_made_the_curve_is_chosen(curve, law, least):
    assert share(fits(curve), lambda fit: fit.law.name == law) >= least


def test_amdahls_contention_is_recovered_within_its_interval():
    fitted = [fit for fit in fits(amdahl) if fit.law.name == "amdahl"]
    assert share(fitted, lambda fit: fit.contention[0] <= 0.05 <= fit.contention[1]) >= 0.85


def test_a_ceiling_is_recovered_within_its_interval():
    every = [fit for fit in fits(plateau) if fit.law.name == "ceiling"]
    assert share(every, lambda fit: fit.ceiling[0] <= 7000 <= fit.ceiling[1]) >= 0.85
    law = every[0]
    assert law.ceiling[0] < law.law.ceiling_per_s < law.ceiling[1]
    assert law.law.ceiling_per_s == pytest.approx(7000, rel=0.02)
    assert law.law.rate_per_s == pytest.approx(1000, rel=0.03)
    assert "plateau at" in law.words and law.contention is None


@pytest.mark.parametrize("curve", [plateau, soft_plateau, closed_queue, amdahl, lambda n: 7000 + 0 * n])
def test_a_plateau_is_not_called_a_decline(curve):
    fitted = fits(curve)
    assert share(fitted, lambda fit: fit.peak_clients is not None) <= 0.03
    assert share(fitted, lambda fit: "declining" in fit.words) <= 0.03


def test_a_peak_that_was_not_passed_is_not_stated():
    clients = np.repeat([1, 2, 4, 8, 16, 24, 32, 40], 3).astype(float)
    assert clients.max() < 1.3 * PEAK
    for fit in fits(usl, clients, 20):
        assert fit.peak_clients is None and "declining" not in fit.words
    assert any("peak not observed" in fit.words for fit in fits(usl, clients, 20))


def test_a_peak_between_the_last_two_client_counts_is_no_decline():
    beta = (1 - ALPHA) / 47**2
    fit = scalability(SWEEP, usl(SWEEP, ALPHA, beta))
    assert fit.law.name == "usl" and SWEEP.max() > 1.3 * 47
    assert fit.peak_clients is None and "peak not observed up to 64 clients" in fit.words


def test_exact_curves_come_back_exactly():
    fit = scalability(SWEEP, usl(SWEEP))
    assert (fit.law.contention, fit.law.coherency) == (pytest.approx(ALPHA), pytest.approx(BETA))
    assert fit.law.rate_per_s == pytest.approx(1000) and fit.peak_clients == pytest.approx(PEAK)
    assert np.allclose(fit.law.at(SWEEP), usl(SWEEP))


@pytest.mark.parametrize("seed", range(10))
def test_the_fit_is_the_least_squares_of_logarithms(seed):
    rng = np.random.default_rng(seed)
    rates = usl(SWEEP, 0.1 * rng.random(), 0.003 * rng.random()) * np.exp(rng.normal(0, 0.05, len(SWEEP)))
    law = next(law for law in scalability(SWEEP, rates).laws if law.name == "usl")

    def rest(parameters):
        rate, alpha, beta = parameters
        return np.log(rate / 1000 * usl(SWEEP, alpha, beta)) - np.log(rates)

    reference = least_squares(rest, (1000, 0.05, 0.001), bounds=([1, 0, 0], [1e6, 1, 1]), x_scale=(1000, 0.1, 0.001))
    assert ((np.log(law.at(SWEEP)) - np.log(rates)) ** 2).sum() == pytest.approx(2 * reference.cost, rel=1e-3)


def test_a_store_that_only_falls_peaks_at_one_client():
    fit = scalability(SWEEP, 9000 / SWEEP**0.3)
    assert fit.peak_clients == pytest.approx(1) and fit.law.contention <= 1


@pytest.mark.parametrize("clients", [[1, 2, 4, 8], [1, 2, 4, 8, 16], [1, 1, 2, 2, 4, 4], [1] * 6])
def test_too_few_trials_say_nothing(clients):
    assert scalability(np.array(clients), np.full(len(clients), 5.0)) is None


def test_a_trial_without_throughput_fits_no_law():
    assert scalability(SWEEP, np.where(SWEEP == 64, 0.0, 5.0)) is None


def test_wild_figures_break_nothing():
    rng = np.random.default_rng(0)
    with np.errstate(all="raise"):
        for _ in range(50):
            assert np.isfinite(scalability(SWEEP, np.exp(rng.normal(0, 3, len(SWEEP)))).law.rate_per_s)
