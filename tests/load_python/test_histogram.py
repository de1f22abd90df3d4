"""Histograms as dbdyno reads them."""

import numpy as np

from dbdyno.load_python.histogram import LONGEST_NS, Histogram, bucket_indices
from dbdyno.stats import histogram as reader


def test_every_bucket_is_the_readers():
    values, value = [], 0
    while value <= LONGEST_NS:
        values.append(value)
        value += 1 + value // 300
    powers = [1 << bits for bits in range(42)]
    values += powers + [power - 1 for power in powers] + [LONGEST_NS]
    assert bucket_indices(np.array(values, np.int64)).tolist() == [reader.bucket_index(value) for value in values]


def test_merging_adds_and_long_times_are_an_hour():
    histogram, other = Histogram.of([5]), Histogram.of([5, 1 << 60])
    histogram.merge(other)
    assert histogram.to_record() == {
        "count": 3,
        "sum_ns": LONGEST_NS + 10,
        "min_ns": 5,
        "max_ns": LONGEST_NS,
        "buckets": [5, 2, reader.LAST_BUCKET, 1],
    }
    assert reader.Histogram.from_record(histogram.to_record()).max_ns == LONGEST_NS


def test_an_empty_one_adds_nothing():
    histogram = Histogram.of([])
    assert histogram.to_record() == {"count": 0, "sum_ns": 0, "min_ns": 0, "max_ns": 0, "buckets": []}
    histogram.merge(Histogram.of([7]))
    assert (histogram.min_ns, histogram.max_ns) == (7, 7)
