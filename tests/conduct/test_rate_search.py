"""The search against simulated stores: response time over rate as a queue has it, with and without noise."""

import random

import pytest

from dbdyno.conduct.rate_search import SearchResult, round_rate, search


class Store:
    """A queue of `capacity_per_s`: at a rate its response time is 1 ms / (1 - rate / capacity), times noise."""

    def __init__(self, capacity_per_s, limit_ms, noise=0.0, seed=1):
        self.capacity, self.limit, self.noise = capacity_per_s, limit_ms, noise
        self.random = random.Random(seed)
        self.tried = []

    def holds(self, rate, confirms):
        share = rate / self.capacity
        time_ms = 1 / (1 - share) if share < 1 else float("inf")
        held = time_ms * self.random.lognormvariate(0, self.noise) < self.limit
        self.tried.append((rate, confirms, held))
        return held

    @property
    def answer(self):
        return self.capacity * (1 - 1 / self.limit)


@pytest.mark.parametrize("capacity", [37, 900, 12_345, 480_000])
@pytest.mark.parametrize("guess_share", [0.1, 0.6, 1.0, 3.0])
def test_without_noise_it_is_within_five_percent_below_the_answer(capacity, guess_share):
    store = Store(capacity, limit_ms=10)
    result = search(capacity * guess_share, store.holds)
    assert store.answer / 1.06 <= result.per_s <= store.answer
    assert not result.open_above
    assert [(rate, held) for rate, confirms, held in store.tried if confirms] == [
        *[(result.per_s, True)] * 3,
        *[(result.fails_per_s, False)] * 2,
    ]
    assert result.per_s < store.answer <= result.fails_per_s <= 1.06 * result.per_s
    assert len(store.tried) <= 16


@pytest.mark.parametrize("seed", range(20))
def test_with_noise_what_is_found_has_held_three_times_in_a_row(seed):
    store = Store(10_000, limit_ms=5, noise=0.2, seed=seed)
    result = search(11_000, store.holds)
    at_answer = [held for rate, confirms, held in store.tried if confirms and rate == result.per_s]
    assert at_answer[-3:] == [True] * 3
    above = [held for rate, confirms, held in store.tried if confirms and rate == result.fails_per_s]
    assert above[-2:] == ([False] * 2 if result.fails_per_s else [])
    assert store.answer * 0.8 <= result.per_s <= store.answer * 1.08


def test_a_confirmation_that_fails_takes_it_one_step_down():
    answers = iter([False, True, False, False, False, False, True, False, True, True, True, False, False])
    tried = []

    def holds(rate, confirms):
        tried.append((rate, confirms))
        return next(answers)

    result = search(1000, holds)
    (first, *_), last = [rate for rate, confirms in tried if confirms], result.per_s
    assert last == round_rate(first / 1.05) and result.fails_per_s == first


def test_a_rate_that_failed_by_chance_is_no_end_of_the_answer():
    answers = iter([False, True, False, False, False, False, True, True, True, False, True, False, False])
    tried = []

    def holds(rate, confirms):
        tried.append(rate)
        return next(answers)

    result = search(1000, holds)
    noisy = tried[-4]
    assert result.per_s < noisy < result.fails_per_s == round_rate(noisy * 1.05)


def test_a_limit_that_holds_by_chance_has_no_upper_end():
    tries = iter([False, True, False, False, False, False, *[True] * 3, *[True, False] * 4])
    result = search(1000, lambda rate, confirms: next(tries))
    assert result.fails_per_s is None and not result.open_above


def test_a_limit_nobody_holds():
    store = Store(10_000, limit_ms=0.9)
    assert search(10_000, store.holds) == SearchResult(None)
    assert len(store.tried) <= 12


def test_a_limit_everybody_holds():
    rates = []
    result = search(1000, lambda rate, confirms: rates.append(rate) or True)
    assert result == SearchResult(16_000, open_above=True)
    assert rates == [1000, 2000, 4000, 8000, 16_000, 16_000, 16_000, 16_000]


def test_nothing_above_what_a_plan_may_ask_for_is_tried():
    rates = []
    search(6_000_000, lambda rate, confirms: rates.append(rate) or True)
    assert max(rates) == 10_000_000


def test_rates_are_ones_a_person_can_read():
    assert [round_rate(rate) for rate in (123_456, 99.96, 1.2345, 0.04321)] == [123_000, 100, 1.23, 0.0432]
