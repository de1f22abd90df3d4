"""Records of several load clients as those of one."""

import copy
import json

import pytest

from dbdyno.results.merge import common_gaps, merge_changes, merge_histograms, merge_intervals, merge_records
from dbdyno.stats.histogram import LAST_BUCKET, Histogram, bucket_index

MS = 1_000_000


def histogram(*values_ns):
    counts = {}
    for value in values_ns:
        counts[bucket_index(value)] = counts.get(bucket_index(value), 0) + 1
    low, high = (min(values_ns), max(values_ns)) if values_ns else (0, 0)
    buckets = [number for index in sorted(counts) for number in (index, counts[index])]
    return {"count": len(values_ns), "sum_ns": sum(values_ns), "min_ns": low, "max_ns": high, "buckets": buckets}


def counted(values_ns, **more):
    return {"completed": len(values_ns), "failed": 1, "service_time": histogram(*values_ns), **more}


def interval(second, values_ns, **more):
    return {
        "record": "interval",
        "second": second,
        "warmup": second < 1,
        "seconds": 1.0,
        "connected": 2,
        "transactions": counted(values_ns, scheduled=7),
        "operations": {"get": counted(values_ns)},
        "errors": {"timeout": 1},
        "reads_verified": 3,
        "mismatches": 0,
        "client_cpu_s": 0.25,
        "load_threads": {"cpu_s": [0.2, 0.05], "run_queue_s": [0.1, 0.0]},
        "gaps_ns": [],
        **more,
    }


HELLO = {"record": "hello", "contract": 1, "program": "p", "version": "1", "profile": "release", "pid": 7}
HELLO |= {"transaction": "t", "operations": [{"name": "get"}], "threads": 2, "processors": 4}


def part(at_unix_s, values_ns, status="complete", **more):
    of_operation = {"completed": 2 * len(values_ns), "failed": 2}
    return [
        HELLO,
        {"record": "phase", "phase": "run", "state": "begin", "at_unix_s": at_unix_s - 1},
        {"record": "phase", "phase": "run", "state": "start", "at_unix_s": at_unix_s},
        interval(0, values_ns, **more),
        interval(1, values_ns),
        {
            "record": "total",
            "transactions": {**of_operation, "scheduled": 14, "unfinished": 1},
            "operations": {"get": of_operation},
            "reads_verified": 6,
            "mismatches": 0,
            "seconds": 2.0,
            "in_flight_mean": 1.5,
        },
        {"record": "phase", "phase": "run", "state": "end", "at_unix_s": at_unix_s + 2, "seconds": 3.0},
        {"record": "end", "status": status, "reason": None if status == "complete" else "why"},
    ]


def of_kind(records, kind):
    return [record for record in records if record["record"] == kind]


def test_merged_buckets_are_the_sums_of_the_parts():
    parts = [(1, 5, 300 * MS), (5, 90_000), ()]
    merged = merge_histograms([histogram(*values) for values in parts])
    assert merged == histogram(*(value for values in parts for value in values))
    exact = Histogram.merged([Histogram.from_record(histogram(*values)) for values in parts])
    read = Histogram.from_record(merged)
    assert read.indices.tolist() == exact.indices.tolist() and read.counts.tolist() == exact.counts.tolist()


@pytest.mark.parametrize("buckets", [[5], [-1, 1], [LAST_BUCKET + 1, 1]])
def test_a_bucket_that_there_is_not_is_refused(buckets):
    whole = {"count": 1, "sum_ns": 5, "min_ns": 5, "max_ns": 5, "buckets": [5, 1]}
    with pytest.raises(ValueError, match="a bucket that there is not"):
        merge_histograms([whole, whole | {"buckets": buckets}])


def test_nothing_merged_is_nothing():
    assert merge_histograms([histogram(), histogram()]) == histogram()


def test_a_second_of_two_hosts_is_the_sum_of_both():
    merged = merge_intervals([interval(1, [5, 7]), interval(1, [7])])
    assert merged["transactions"] == {**counted([5, 7, 7]), "failed": 2, "scheduled": 14}
    assert merged["operations"] == {"get": {**counted([5, 7, 7]), "failed": 2}}
    assert (merged["connected"], merged["client_cpu_s"], merged["errors"]) == (4, 0.5, {"timeout": 2})
    assert merged["load_threads"]["cpu_s"] == [0.2, 0.05, 0.2, 0.05]


def test_a_trial_of_two_hosts_has_the_records_of_one():
    parts = [part(1000.0, [5, 7]), part(5000.001, [9])]
    for records, late_s in zip(parts, (0.002, 0.0001), strict=True):
        (total,) = of_kind(records, "total")
        total["begun_late_s"] = late_s
    untouched = copy.deepcopy(parts)
    merged = list(merge_records(parts, [0.0, 4000.0]))
    assert parts == untouched
    assert [record["record"] for record in merged] == [record["record"] for record in parts[0]]
    (hello,) = of_kind(merged, "hello")
    assert (hello["threads"], hello["processors"]) == (4, 8)
    started, ended = merged[2], merged[-2]
    assert started["at_unix_s"] == 1000.0 and ended["at_unix_s"] == pytest.approx(1002.001)
    (total,) = of_kind(merged, "total")
    assert total["transactions"] == {"completed": 6, "failed": 4, "scheduled": 28, "unfinished": 2}
    assert (total["reads_verified"], total["in_flight_mean"], total["seconds"]) == (12, 3.0, 2.0)
    assert total["begun_late_s"] == 0.002
    assert json.loads(json.dumps(merged)) == merged


def test_one_part_is_merged_to_itself():
    assert list(merge_records([part(1000.0, [5, 7])], [0.0])) == part(1000.0, [5, 7])


@pytest.mark.parametrize("status", ["interrupted", "failed", "refused"])
def test_a_trial_ended_as_the_worst_of_its_parts(status):
    merged = list(merge_records([part(0.0, [5]), part(0.0, [5], status)], [0.0, 0.0]))
    assert merged[-1] == {"record": "end", "status": status, "reason": "why"}


def test_without_one_of_the_ends_there_is_none():
    merged = list(merge_records([part(0.0, [5]), part(0.0, [5])[:-3]], [0.0, 0.0]))
    assert not of_kind(merged, "end") and not of_kind(merged, "total")


def test_load_clients_that_differ_are_of_no_one_trial():
    other = [{**HELLO, "version": "2"}, *part(0.0, [5])[1:]]
    with pytest.raises(ValueError, match="differ in version: 1 and 2"):
        list(merge_records([part(0.0, [5]), other], [0.0, 0.0]))


def test_a_gap_of_the_trial_is_one_of_all_programs():
    first, other = [(100 * MS, 900 * MS), (2000 * MS, 20 * MS)], [(500 * MS, 700 * MS), (2005 * MS, 200 * MS)]
    assert common_gaps([first, other]) == [(500 * MS, 500 * MS), (2005 * MS, 15 * MS)]
    # The rest of the second is too short.
    assert common_gaps([first, [(2015 * MS, 100 * MS)]]) == []
    assert common_gaps([first, []]) == []
    assert common_gaps([first]) == first


def test_a_common_gap_stands_in_the_second_in_which_it_ended():
    gaps = [[500 * MS, 600 * MS]]
    parts = [part(0.0, [5], gaps_ns=[]), part(0.0, [5], gaps_ns=[])]
    for records in parts:
        records[4] = interval(1, [5], gaps_ns=gaps)
    merged = of_kind(merge_records(parts, [0.0, 0.0]), "interval")
    assert [second["gaps_ns"] for second in merged] == [[], gaps]


def test_changes_are_added_and_what_was_before_is_kept():
    rows = {"inserted": 0, "maybe_inserted": 5, "deleted": 6, "maybe_deleted": 7}
    some = {"added": 3, "maybe_added": 1, "maybe_subtracted": 2, **rows}
    merged = merge_changes([{"before": [None, None], **some}, {"record": "changes", "before": [None, 12], **some}])
    assert merged == {"before": [None, 12], **{key: 2 * count for key, count in some.items()}}


def changes(added):
    keys = ("maybe_added", "maybe_subtracted", "inserted", "maybe_inserted", "deleted", "maybe_deleted")
    return {"record": "changes", "before": [None, 5], "added": added} | dict.fromkeys(keys, 0)


def test_what_all_load_clients_changed_comes_as_one_record():
    parts = [[*part(0.0, [5])[:-1], changes(2), part(0.0, [5])[-1]] for _ in range(2)]
    (merged,) = of_kind(merge_records(parts, [0.0, 0.0]), "changes")
    assert merged == changes(4)
    assert not of_kind(merge_records([parts[0], part(0.0, [5])], [0.0, 0.0]), "changes")


def test_parts_are_read_side_by_side():
    read = []

    def watched(name, records):
        for record in records:
            read.append((name, record["record"]))
            yield record

    list(merge_records([watched("c1", part(0.0, [5])), watched("c2", part(0.0, [5]))], [0.0, 0.0]))
    intervals = [name for name, kind in read if kind == "interval"]
    assert intervals == ["c1", "c2", "c1", "c2"]


def test_a_second_that_one_part_lacks_is_that_of_the_others():
    parts = [part(0.0, [5]), [record for record in part(0.0, [7]) if record.get("second") != 0]]
    first, second = of_kind(merge_records(parts, [0.0, 0.0]), "interval")
    assert (first["transactions"]["completed"], second["transactions"]["completed"]) == (1, 2)
