"""The slowest of an operation's times, found in the histograms of its seconds."""

from collections import Counter

import numpy as np
import pytest

from dbdyno.results.slowest import MOST, Slow, slowest
from dbdyno.stats.histogram import Histogram, bucket_index


def histogram(values_ns):
    buckets = Counter(map(bucket_index, values_ns))
    flat = [part for index in sorted(buckets) for part in (index, buckets[index])]
    of = {"count": len(values_ns), "sum_ns": sum(values_ns), "min_ns": min(values_ns), "max_ns": max(values_ns)}
    return Histogram.from_record({**of, "buckets": flat})


@pytest.mark.parametrize("spread", [0.1, 1.0, 3.0])
def test_they_are_those_of_all_seconds_together(spread):
    rng = np.random.default_rng(3)
    seconds = [
        (second, np.ceil(1e6 * rng.lognormal(sigma=spread, size=200)).astype(int).tolist()) for second in range(30)
    ]
    kept = slowest((second, histogram(values)) for second, values in seconds)
    true = sorted(((value, second) for second, values in seconds for value in values), reverse=True)[:MOST]
    assert [slow.time_ns for slow in kept] == pytest.approx([value for value, _ in true], rel=0.008)
    assert kept[0] == Slow(*true[0])
    longest = {second: max(values) for second, values in seconds}
    assert all(slow.time_ns <= longest[slow.second] for slow in kept)


def test_many_times_of_one_bucket_in_one_second_are_as_many():
    stall = [5_000_000] * 25 + [1_000]
    kept = slowest([(7, histogram(stall)), (8, histogram([6_000_000]))])
    assert [slow.second for slow in kept] == [8] + [7] * (MOST - 1)
    assert [slow.time_ns for slow in kept] == pytest.approx([6_000_000] + [5_000_000] * (MOST - 1), rel=0.008)


def test_of_few_there_are_as_many_as_there_were():
    assert slowest([(0, histogram([10, 20])), (1, Histogram.merged([]))]) == (Slow(20, 0), Slow(10, 0))
    assert slowest([]) == ()
