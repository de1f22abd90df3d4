"""A store that falls behind differs from one that keeps up, in simulated queues and in made-up ones."""

import numpy as np
import pytest

from dbdyno.stats.backlog import Offered, behind

CLIENTS = 16
SERVICE_S = 0.004
CAPACITY_PER_S = CLIENTS / SERVICE_S


def queue(share, seconds, warmup_s=1, warmup_share=None, seed=1):
    """Every client serves its own Poisson arrivals one after the other, each in SERVICE_S; `share` of what it can."""
    rng, total_s = np.random.default_rng(seed), warmup_s + seconds
    arrived, ended = [], []
    for _ in range(CLIENTS):
        rates = np.array([warmup_share or share, share]) / SERVICE_S
        due = [
            begin + np.cumsum(rng.exponential(1 / rate, int(1.2 * rate * length_s) + 100))
            for begin, rate, length_s in zip((0, warmup_s), rates, (warmup_s, seconds), strict=True)
        ]
        due = np.concatenate([due[0][due[0] < warmup_s], due[1][due[1] < total_s]])
        position = np.arange(len(due))
        arrived.append(due)
        ended.append(np.maximum.accumulate(due - position * SERVICE_S) + (position + 1) * SERVICE_S)
    due, done = np.sort(np.concatenate(arrived)), np.sort(np.concatenate(ended))
    edges = warmup_s + np.arange(seconds + 1)
    scheduled, completed = np.searchsorted(due, edges), np.searchsorted(done, edges)
    return Offered(
        scheduled - completed, *(int(of[-1] - of[0]) for of in (scheduled, completed)), seconds, CLIENTS, SERVICE_S
    )


@pytest.mark.parametrize(("share", "seconds"), [(0.5, 1), (0.9, 5), (0.95, 30), (0.95, 120)])
def test_below_its_capacity_a_store_keeps_up(share, seconds):
    """The nearer to it, the longer the queue takes to become what it stays: a second at 95 % cannot tell."""
    said = [behind(queue(share, seconds, seed=seed)) for seed in range(5)]
    assert said == [None] * 5


@pytest.mark.parametrize("seconds", [1, 5, 30])
def test_at_120_percent_of_it_none_does(seconds):
    said = [behind(queue(1.2, seconds, seed=seed)) for seed in range(5)]
    assert all(words and words.startswith("only ") for words in said)


def test_half_a_percent_above_it_is_seen_in_a_trial_that_is_long_enough():
    arrivals = queue(1.005, 600)
    assert arrivals.completed > 0.99 * arrivals.due
    assert behind(arrivals).startswith("the backlog grew, to ")


def test_a_backlog_of_the_warm_up_that_is_never_worked_off_is_no_rate_that_was_followed():
    arrivals = queue(1.0, 60, warmup_s=10, warmup_share=1.5)
    assert arrivals.completed > 0.99 * arrivals.due
    assert behind(arrivals).startswith("it never caught up: ")
    assert behind(queue(0.8, 60, warmup_s=10, warmup_share=1.5)) is None, "worked off in the first half"


def offered(outstanding, seconds=12, due=12_000, service_s=0.001):
    left = np.asarray(outstanding)
    return Offered(left, due, due - int(left[-1] - left[0]), seconds, CLIENTS, service_s)


def test_one_stall_at_the_end_is_no_growing_backlog_and_ever_longer_ones_are():
    assert behind(offered([0] * 11 + [100, 119])) is None
    assert behind(offered([0, *range(0, 120, 10)])) is None, "fewer than a hundredth waited"
    assert behind(offered([0, *range(26, 146, 10)], due=14_600)) is None
    assert "the backlog grew, to 130" in behind(offered([50, *range(91, 147, 5)], due=11_000))


def test_what_is_in_service_when_a_short_trial_ends_is_not_behind():
    in_service = [0, 16]
    assert behind(offered(in_service, seconds=1, due=160, service_s=0.1)) is None
    assert behind(offered(in_service, seconds=1, due=160, service_s=0.001)).startswith("only 90.0%")
    assert behind(offered([0, 40], seconds=1, due=160, service_s=0.1)).startswith("only 75.0%"), "more than clients"


@pytest.mark.parametrize(("completed", "due"), [(990, 1000), (9, 10)])
def test_a_hundredth_and_one_transaction_may_be_left(completed, due):
    def left(done):
        return behind(Offered(np.array([0, due - done]), due, done, 1.0, 1, 0.0))

    assert left(completed) is None and left(completed - 1)
