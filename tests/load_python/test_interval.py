"""Seconds and totals of several processes add up."""

from collections import Counter

from dbdyno.load_python.histogram import Histogram
from dbdyno.load_python.interval import Counted, Interval, Totals


def interval():
    operations, transactions = [Counted(1, Histogram.of([10]))], Counted(2, Histogram.of([20, 30]))
    return Interval(3, 1.0, operations, transactions, 4, Counter(server=1), 5, 6, 0.25)


def test_intervals_merge_by_adding():
    merged = interval()
    merged.merge(interval())
    record = merged.to_record(["get"], warmup_s=3)
    assert (record["second"], record["warmup"], record["seconds"], record["connected"]) == (3, False, 1.0, 8)
    assert (record["transactions"]["completed"], record["transactions"]["failed"]) == (4, 4)
    assert record["operations"]["get"]["service_time"]["buckets"] == [10, 2]
    assert (record["errors"], record["reads_verified"], record["mismatches"]) == ({"server": 2}, 10, 12)
    assert record["client_cpu_s"] == 0.5
    assert merged.to_record(["get"], warmup_s=4)["warmup"]
    assert "counters" not in record


def test_what_caches_counted_is_added():
    merged, other = interval(), interval()
    merged.counters.update(cache_hits=2)
    other.counters.update(cache_hits=1, cache_misses=4)
    merged.merge(other)
    assert merged.to_record(["get"], warmup_s=3)["counters"] == {"cache_hits": 3, "cache_misses": 4}


def test_totals_add_up_and_count_the_unfinished():
    totals = Totals([[3, 1]], 9, 5, 2, 1, 4, 1, 1000, 6, 1)
    totals.merge(Totals([[1, 1]], 3, 2, 1, 2, 1, 0, 500, 1, 1))
    assert totals == Totals([[4, 2]], 12, 7, 3, 3, 5, 1, 1500, 7, 2)
    assert totals.unfinished == 2


def test_intervals_add_to_totals():
    totals = Totals.of(1)
    totals.add_interval(interval())
    assert totals == Totals([[1, 1]], completed=2, failed=2, reads_verified=5, mismatches=6)
