"""A load client's records, kind by kind."""

import json

import pytest

from dbdyno.errors import UserError
from dbdyno.results.records import read_records


def interval(second, completed, warmup=False, **more):
    histogram = {
        "count": completed,
        "sum_ns": 100 * completed,
        "min_ns": 100,
        "max_ns": 100,
        "buckets": [100, completed],
    }
    if not completed:
        histogram["buckets"] = []
    done = {"completed": completed, "failed": 1, "service_time": histogram}
    return {
        "record": "interval",
        "second": second,
        "warmup": warmup,
        "seconds": 1.0,
        "connected": 1,
        "transactions": done,
        "operations": {"read": done},
        "reads_verified": completed,
        "mismatches": 0,
        "client_cpu_s": 0.1,
    } | more


def read(tmp_path, *records):
    path = tmp_path / "records.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return read_records(path)


def test_failures_of_the_warm_up_count_and_its_latencies_do_not(tmp_path):
    recorded = read(tmp_path, interval(0, 50, warmup=True), interval(1, 30), interval(2, 0, errors={"timeout": 2}))
    (operation,) = recorded.operations
    assert (operation.name, operation.failed, operation.service_time.count) == ("read", 3, 30)
    assert (recorded.completed, recorded.seconds, recorded.throughput_per_s) == (30, 2.0, 15.0)
    assert recorded.sums.completed == 80
    assert recorded.intervals[2].errors == {"timeout": 2}
    assert (recorded.intervals[1].p50_ns, recorded.intervals[1].p99_ns, recorded.intervals[2].max_ns) == (100, None, 0)


def test_operations_are_named_by_the_load_client_and_kept_in_its_order(tmp_path):
    hello = {"record": "hello", "operations": [{"name": "write", "operation": "put"}, {"name": "read", "table": "t"}]}
    recorded = read(tmp_path, hello, interval(0, 5))
    assert [(o.name, o.operation, o.table) for o in recorded.operations] == [
        ("write", "put", None),
        ("read", None, "t"),
    ]
    assert recorded.operations[0].service_time.count == 0


def test_evidence_is_kept_word_for_word(tmp_path):
    error = {"record": "error", "kind": "server", "message": "Table 'x' <b>"}
    run = {"record": "phase", "phase": "run", "state": "begin", "at_unix_s": 5.5}
    recorded = read(tmp_path, run, error, {"record": "progress"}, {"record": "end", "status": "complete"})
    assert recorded.errors == (error,)
    assert (recorded.run_began_unix_s, recorded.end["status"], recorded.total) == (5.5, "complete", None)


def test_a_run_began_when_all_were_connected_where_that_was_recorded(tmp_path):
    begin, start = (
        {"record": "phase", "phase": "run", "state": state, "at_unix_s": at}
        for state, at in (("begin", 5.5), ("start", 6.25))
    )
    assert read(tmp_path, begin, start, interval(0, 5)).run_began_unix_s == 6.25


def test_nothing_was_recorded(tmp_path):
    recorded = read_records(tmp_path / "records.jsonl")
    assert (recorded.intervals, recorded.throughput_per_s, recorded.end) == ((), None, None)


def test_the_three_times_of_an_open_loop_are_kept_apart(tmp_path):
    def second(number, warmup=False):
        record = interval(number, 20, warmup)
        done = record["transactions"]
        slower = {"count": 20, "sum_ns": 4000, "min_ns": 200, "max_ns": 200, "buckets": [200, 20]}
        done |= {"response_time": slower, "send_lag": done["service_time"], "scheduled": 25}
        return record

    recorded = read(tmp_path, second(0, warmup=True), second(1), second(2))
    assert (recorded.service_time.mean_ns, recorded.response_time.mean_ns, recorded.send_lag.mean_ns) == (100, 200, 100)
    assert recorded.operations[0].response_time.count == 40
    assert recorded.measured[0].p50_ns == 200
    assert (recorded.offered, recorded.offered_per_s, recorded.sums.scheduled) == (50, 25.0, 75)


def test_each_load_thread_has_its_own_shares_of_the_measured_time(tmp_path):
    def second(number, cpu_s, **more):
        return interval(number, 5, warmup=number == 0, load_threads={"cpu_s": cpu_s, **more})

    waited = {"run_queue_s": [0.25, 0.0]}
    seconds = second(0, [1.0, 1.0], **waited), second(1, [0.5, 0.125], **waited), second(2, [1.0, 0.125], **waited)
    assert read(tmp_path, *seconds).load_threads == ((0.75, 0.25), (0.125, 0.0))
    assert read(tmp_path, second(1, [0.5, 0.125])).load_threads == ((0.5, None), (0.125, None))
    assert read(tmp_path, interval(0, 5)).load_threads == (), "an older load client did not say"
    assert read(tmp_path, second(1, [0.5]), interval(2, 5)).load_threads == ()


def test_whether_an_open_loop_was_followed(tmp_path):
    def followed(done, due):
        record = interval(0, done)
        record["transactions"] = record["transactions"] | {"scheduled": due}
        return read(tmp_path, record).followed

    assert [followed(990, 1000), followed(989, 1000), followed(9, 10), followed(8, 10)] == [True, False, True, False]
    assert read(tmp_path, interval(0, 5)).followed is None


def slow_start(tmp_path, **keys):
    """A second of warm-up, 40 slow ones, 80 fast ones, and a last one that was cut short."""
    completed = [5, *[50] * 40, *[100] * 80]
    seconds = [interval(second, count, warmup=second < 1) for second, count in enumerate(completed)]
    path = tmp_path / "records.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in [*seconds, interval(121, 3, seconds=0.1)]))
    return read_records(path, **keys)


def test_an_automatic_warm_up_ends_where_the_steady_state_begins(tmp_path):
    recorded = slow_start(tmp_path, auto_warmup=True)
    assert (recorded.steady.kind, recorded.steady.cut_s, recorded.cut) == ("warm-up", 40, True)
    assert (recorded.completed, len(recorded.measured)) == (8003, 81)
    assert recorded.measured[0].second == 41
    (operation,) = recorded.operations
    assert recorded.service_time.count == operation.service_time.count == 8003
    assert recorded.sums.completed == 5 + 2000 + 8003


def test_without_it_the_cut_is_told_and_the_figures_are_of_all_seconds(tmp_path):
    recorded = slow_start(tmp_path)
    assert (recorded.steady.cut_s, recorded.cut, recorded.completed) == (40, False, 10_003)
    assert recorded.steady_throughput_per_s == 100 > recorded.throughput_per_s


def test_too_short_for_an_automatic_warm_up_the_seconds_asked_for_are_left_out(tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_text("".join(json.dumps(interval(second, 10, warmup=second < 2)) + "\n" for second in range(12)))
    recorded = read_records(path, auto_warmup=True)
    assert (recorded.steady.kind, recorded.cut, recorded.completed) == ("too short to tell", False, 100)
    assert recorded.steady_throughput_per_s == 10


def test_service_times_add_up_second_by_second(tmp_path):
    recorded = read(tmp_path, interval(0, 50, warmup=True), interval(1, 30), interval(2, 0))
    assert [second.service_s for second in recorded.intervals] == [5e-6, 3e-6, 0]


def test_stalls_are_of_the_measured_seconds_and_whole_over_their_edges(tmp_path):
    ms = 1_000_000
    first = interval(0, 500, warmup=True, gaps_ns=[[100 * ms, 50 * ms]])
    second = interval(1, 500, gaps_ns=[[980 * ms, 40 * ms], [1500 * ms, 12 * ms]])
    recorded = read(tmp_path, first, second, interval(2, 300, gaps_ns=[[1900 * ms, 212 * ms]]))
    stalls = recorded.stalls
    assert (stalls.threshold_ms, stalls.count, stalls.longest_ms) == (25, 2, 212)
    assert stalls.share == pytest.approx((20 + 212) / 2000)
    assert [
        (second_stalled.ended, second_stalled.longest_ms, second_stalled.share) for second_stalled in stalls.per_second
    ] == [(1, 212, 0.12), (1, 212, 0.112)]
    assert len(stalls.per_second) == len(recorded.measured)


def test_only_a_load_client_that_records_gaps_knows_of_stalls(tmp_path):
    assert read(tmp_path, interval(0, 500), interval(1, 500)).stalls is None
    none = read(tmp_path, interval(0, 500, gaps_ns=[])).stalls
    assert (none.count, none.longest_ms, none.share, none.notable) == (0, 0, 0, False)


def test_gaps_as_long_as_the_usual_transaction_are_no_stalls(tmp_path):
    slow = {
        "count": 1000,
        "sum_ns": 12_000_000_000,
        "min_ns": 12_000_000,
        "max_ns": 12_000_000,
        "buckets": [2231, 1000],
    }
    bursts = interval(0, 1000, gaps_ns=[[begin * 12_000_000, 11_900_000] for begin in range(80)])
    bursts["transactions"] = bursts["transactions"] | {"service_time": slow}
    stalls = read(tmp_path, bursts).stalls
    assert (stalls.threshold_ms, stalls.count) == (pytest.approx(24), 0)


def test_conflicts_of_all_seconds_are_added_up(tmp_path):
    first, second = interval(0, 5, warmup=True), interval(1, 5)
    first["transactions"] = first["transactions"] | {"conflicts": 3}
    assert read(tmp_path, first, second, interval(2, 5)).sums.conflicts == 3


@pytest.mark.parametrize(
    "more",
    [
        {"connected": 10**23},
        {"mismatches": -(2**60)},
        {"seconds": float("inf")},
        {"gaps_ns": [[-1, 5]]},
        {"load_threads": {"cpu_s": [1e300]}},
    ],
)
def test_what_nobody_can_count_to_is_refused_with_its_line(tmp_path, more):
    with pytest.raises(UserError, match=r"records\.jsonl, line 2: .*a number that no load client can count to"):
        read(tmp_path, interval(0, 50), interval(1, 50, **more))


@pytest.mark.parametrize("at_unix_s", ["1e400", "-1e400", "NaN", "1e300"])
def test_a_run_that_begins_at_no_time_is_refused_with_its_line(tmp_path, at_unix_s):
    path = tmp_path / "records.jsonl"
    begun = f'{{"record": "phase", "phase": "run", "state": "start", "at_unix_s": {at_unix_s}}}\n'
    path.write_text(begun + json.dumps(interval(0, 50)) + "\n")
    with pytest.raises(UserError, match=r"records\.jsonl, line 1: .*a number that no load client can count to"):
        read_records(path)


def test_profiled_seconds_are_in_no_figure_and_their_counts_add_up(tmp_path):
    path = tmp_path / "records.jsonl"
    seconds = (5, 100, 100, 1, 2, 100)
    records = [interval(second, count, warmup=second == 0) for second, count in enumerate(seconds)]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    recorded = read_records(path, profiled=[3, 4])
    assert [second.second for second in recorded.measured] == [1, 2, 5]
    (operation,) = recorded.operations
    assert recorded.completed == recorded.service_time.count == operation.service_time.count == 300
    assert (recorded.seconds, recorded.throughput_per_s, recorded.stability.seconds) == (3, 100, 3)
    assert recorded.sums.completed == 308


def test_a_stall_that_was_profiled_counts_as_long_as_it_was_measured(tmp_path):
    ms = 1_000_000
    seconds = [interval(second, 500, gaps_ns=[]) for second in range(4)]
    seconds[3]["gaps_ns"] = [[800 * ms, 2400 * ms], [3500 * ms, 40 * ms]]
    path = tmp_path / "records.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in seconds))
    assert read_records(path).stalls.longest_ms == 2400
    stalls = read_records(path, profiled=[1, 2]).stalls
    assert (stalls.longest_ms, stalls.count, stalls.seconds) == (400, 2, 2)
    assert [(second.ended, round(second.share, 3)) for second in stalls.per_second] == [(0, 0.2), (2, 0.24)]


QUERY = {"record": "query", "name": "q0", "what": "all", "sql": "SELECT 1", "columns": None, "cold_s": 1.0}
QUERY |= {"hot_s": [1.0], "answer": [[1]], "differs": None}


def test_it_is_known_when_a_query_was_asked_hot(tmp_path):
    spans = [{"hot_unix_s": [1000.0, 1003.0]}, {}, {"hot_unix_s": [1004.0, 1005.5]}]
    recorded = read(tmp_path, *(QUERY | span for span in spans))
    assert recorded.hot_unix_s == ((1000.0, 1003.0), (1004.0, 1005.5))


@pytest.mark.parametrize("span", [[5.0, 4.0], [-1.0, 4.0], [0.0, 1e300], [1.0], ["a", 2]])
def test_a_query_that_cannot_have_been_asked_then_is_refused(tmp_path, span):
    with pytest.raises(UserError, match="line 1: not a record"):
        read(tmp_path, QUERY | {"hot_unix_s": span})
