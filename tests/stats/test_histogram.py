"""Histograms hold docs/contract.md's formula, lose nothing when merged, and know a percentile to within 0.8 %."""

import numpy as np
import pytest

from dbdyno.stats.histogram import LONGEST_NS, Histogram, bucket_bounds, bucket_index


def record_of(values_ns):
    """The record a load client writes of these whole nanoseconds."""
    indices, counts = np.unique([bucket_index(int(value)) for value in values_ns], return_counts=True)
    return {
        "count": len(values_ns),
        "sum_ns": int(np.sum(values_ns)),
        "min_ns": int(np.min(values_ns)),
        "max_ns": int(np.max(values_ns)),
        "buckets": np.stack([indices, counts], axis=1).ravel().tolist(),
    }


def values_of_all_sizes(count=20_000, seed=7):
    rng = np.random.default_rng(seed)
    return np.exp(rng.uniform(0, np.log(LONGEST_NS), count)).astype(np.int64)


def test_every_value_lies_in_its_bucket_and_the_bucket_is_narrow():
    edges = [0, 1, 127, 128, 255, 256, 257, 511, 512, LONGEST_NS - 1, LONGEST_NS]
    for value in [*edges, *values_of_all_sizes().tolist()]:
        lowest, width = bucket_bounds(bucket_index(value))
        assert lowest <= value < lowest + width
        assert (width - 1) <= 0.008 * max(value, 1)


def test_indices_rise_without_a_hole_up_to_an_hour():
    last = bucket_index(LONGEST_NS)
    next_lowest = 0
    for index in range(last + 1):
        lowest, width = bucket_bounds(index)
        assert lowest == next_lowest
        assert bucket_index(lowest) == bucket_index(min(lowest + width - 1, LONGEST_NS)) == index
        next_lowest = lowest + width


def test_the_contracts_formula_to_the_letter():
    for value in values_of_all_sizes(500).tolist():
        exponent = max(0, int(np.floor(np.log2(value))) - 7)
        assert bucket_index(value) == 128 * exponent + (value >> exponent)


def test_more_than_an_hour_counts_as_an_hour():
    assert bucket_index(5 * LONGEST_NS) == bucket_index(LONGEST_NS)


@pytest.mark.parametrize("seed", range(5))
def test_percentiles_agree_with_the_samples(seed):
    rng = np.random.default_rng(seed)
    values = rng.lognormal(12 + seed, 0.4 * (1 + seed), 30_000).astype(np.int64)
    histogram = Histogram.from_record(record_of(values))
    for percent in (1, 50, 95, 99):
        exact = np.percentile(values, percent, method="inverted_cdf")
        assert histogram.percentile_ns(percent) == pytest.approx(exact, rel=0.008)
    # numpy takes 99.9 % of 30,000 for 29970.000000000004 and returns the sample after the right one.
    assert histogram.percentile_ns(99.9) == pytest.approx(np.sort(values)[29_970 - 1], rel=0.008)
    assert histogram.mean_ns == pytest.approx(values.mean())


def test_merging_is_the_histogram_of_all_samples():
    parts = np.array_split(values_of_all_sizes(), 7)
    merged = Histogram.from_record(record_of(parts[0]))
    for part in parts[1:]:
        merged = merged.merge(Histogram.from_record(record_of(part)))
    whole = record_of(np.concatenate(parts))
    assert (merged.count, merged.sum_ns, merged.min_ns, merged.max_ns) == tuple(
        whole[key] for key in ("count", "sum_ns", "min_ns", "max_ns")
    )
    assert np.stack([merged.indices, merged.counts], axis=1).ravel().tolist() == whole["buckets"]


def test_a_percentile_needs_ten_samples_beyond_it():
    assert Histogram.from_record(record_of([100] * 999)).percentile_ns(99) is None
    assert Histogram.from_record(record_of([100] * 1000)).percentile_ns(99) == 100
    assert Histogram.from_record(record_of([100] * 10_000)).percentile_ns(99.9) == 100


def test_percentiles_stay_within_the_exact_extremes():
    histogram = Histogram.from_record(record_of([1_000_003] * 100))
    assert histogram.percentile_ns(50) == 1_000_003


def test_the_empty_histogram_has_no_figures():
    empty = Histogram.from_record({"count": 0, "sum_ns": 0, "min_ns": None, "max_ns": None, "buckets": []})
    assert (empty.mean_ns, empty.percentile_ns(50), empty.max_ns) == (None, None, 0)
    some = Histogram.from_record(record_of([5, 6]))
    assert empty.merge(some).min_ns == 5


@pytest.mark.parametrize("buckets", [[5, 1], [5, 1, 6], [5, 1, 99_999, 1]])
def test_buckets_that_cannot_be_are_refused(buckets):
    with pytest.raises(ValueError, match="histogram"):
        Histogram.from_record({"count": 2, "sum_ns": 11, "min_ns": 5, "max_ns": 6, "buckets": buckets})
