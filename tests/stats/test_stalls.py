"""Stalls among gaps whose truth is plain to see."""

import numpy as np
import pytest

from dbdyno.stats.stalls import NO_STALL, stalls

MS = 1_000_000
SECOND = 1000 * MS


def of(*gaps_ms, seconds=10, completed=100_000, median_ms=0.3):
    gaps_ns = np.array(gaps_ms, np.int64).reshape(-1, 2) * MS
    return stalls(gaps_ns, [second * SECOND for second in range(seconds + 1)], completed, median_ms * MS)


def test_ten_a_second_of_twenty_milliseconds_take_a_fifth_of_the_time():
    stalled = of(*((begin, 20) for begin in range(50, 10_000, 100)))
    assert (stalled.count, stalled.per_s, stalled.longest_ms, stalled.share) == (100, 10, 20, pytest.approx(0.2))
    assert stalled.lengths == ((20, 100),) and stalled.notable
    assert {(second.ended, second.longest_ms, second.share) for second in stalled.per_second} == {(10, 20, 0.2)}


def test_one_is_named_and_short_ones_now_and_then_are_not():
    assert of((4000, 212)).notable
    assert not of((4000, 15), (8000, 11)).notable
    assert of((4000, 15), (8000, 11)).count == 2


def test_a_slow_trials_usual_gaps_are_no_stalls():
    usual = [(begin, 50) for begin in range(0, 10_000, 50)]
    assert of(*usual, completed=200).count == 0
    assert of(*usual[:100], (5000, 600), *usual[112:], completed=188).longest_ms == 600


def test_clients_that_wait_for_the_same_flush_do_not_stall_between_two():
    bursts = [(begin, 12) for begin in range(0, 10_000, 12)]
    assert of(*bursts, median_ms=12).count == 0
    assert of(*bursts[:100], (1200, 60), *bursts[105:], median_ms=12).longest_ms == 60


def test_a_stall_is_whole_and_its_seconds_have_their_parts():
    stalled = of((1900, 1200))
    assert (stalled.count, stalled.longest_ms, stalled.share) == (1, 1200, pytest.approx(0.12))
    parts = [(second.ended, second.longest_ms, second.share) for second in stalled.per_second[1:4]]
    assert parts == [(0, 1200, 0.1), (0, 1200, 1.0), (1, 1200, pytest.approx(0.1))]
    assert stalled.per_second[0] == stalled.per_second[4] == NO_STALL
    assert stalled.figures()["lengths"] == [{"from_ms": 1000, "count": 1}]


def test_before_and_after_the_measured_time_nothing_counts():
    gaps_ns = np.array([[500, 400], [900, 300], [2950, 100]], np.int64) * MS
    stalled = stalls(gaps_ns, [SECOND, 2 * SECOND, 3 * SECOND], 10_000, None)
    assert (stalled.count, stalled.longest_ms, stalled.share) == (2, 300, pytest.approx(0.125))


def test_without_a_completion_there_is_no_usual_gap():
    assert of((0, 10_000), completed=0) is None
    assert stalls(np.zeros((0, 2), np.int64), [SECOND], 5, None) is None
