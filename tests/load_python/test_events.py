"""An event that clients noted down ends up in the second in which it ended, once."""

from dbdyno.load_python.events import CONNECTING, GRACE_NS, SECOND_NS, TRANSACTION, Completed, Failed, Recorder

START_NS, MS = 100 * SECOND_NS, 1_000_000
NEVER = START_NS + 1000 * SECOND_NS


class Cpu:
    """A second of CPU time each time one asks."""

    asked = -1.0

    def __call__(self):
        self.asked += 1
        return self.asked


def begun():
    recorder = Recorder(1, Cpu(), lambda: 3)
    recorder.begin(START_NS)
    return recorder


def complete(recorder, begun_ms, ended_ms):
    times = START_NS + begun_ms * MS, START_NS + ended_ms * MS
    recorder.events += [Completed(0, *times, True), Completed(TRANSACTION, *times, False)]


def completed(intervals):
    return [interval.transactions.service_time.count for interval in intervals]


def test_what_a_cache_had_is_counted_in_the_same_second():
    recorder = begun()
    for is_hit, ended_ms in ((True, 100), (False, 200), (True, 1200), (None, 1300)):
        recorder.events.append(Completed(0, START_NS, START_NS + ended_ms * MS, True, is_hit))
    counters = [interval.counters for interval in recorder.finish(START_NS + 2 * SECOND_NS)]
    assert counters == [{"cache_hits": 1, "cache_misses": 1}, {"cache_hits": 1}]


def test_transactions_belong_to_the_second_in_which_they_end_and_seconds_have_no_gaps():
    recorder = begun()
    complete(recorder, 0, 500)
    complete(recorder, 500, 2200)
    intervals = list(recorder.finish(START_NS + 4 * SECOND_NS))
    assert [interval.second for interval in intervals] == [0, 1, 2, 3]
    assert completed(intervals) == [1, 0, 1, 0]
    assert [interval.reads_verified for interval in intervals] == [1, 0, 1, 0]
    assert intervals[2].transactions.service_time.max_ns == 1700 * MS


def test_a_second_is_handed_over_after_a_grace_and_its_cpu_time_is_read_at_its_end():
    recorder = begun()
    assert recorder.next_mark_ns() == START_NS + SECOND_NS
    end_ns = START_NS + SECOND_NS
    assert list(recorder.advance(end_ns, NEVER)) == []
    complete(recorder, 900, 999)
    (interval,) = recorder.advance(end_ns + GRACE_NS, NEVER)
    assert (completed([interval]), interval.client_cpu_s, interval.connected) == ([1], 1.0, 3)
    complete(recorder, 900, 999)
    assert completed(recorder.finish(START_NS + 2 * SECOND_NS)) == [1], "too late for its second, it is in the next"


def test_a_run_ended_early_has_a_short_last_second_that_holds_what_came_late():
    recorder = begun()
    complete(recorder, 0, 1100)
    complete(recorder, 0, 2001)
    intervals = list(recorder.finish(START_NS + 1250 * MS))
    assert [interval.seconds for interval in intervals] == [1.0, 0.25]
    assert completed(intervals) == [0, 2]


def test_a_run_that_never_began_has_no_seconds():
    assert list(Recorder(1, Cpu(), lambda: 0).finish(0)) == []


def test_failures_are_counted_by_kind():
    recorder = begun()
    at = START_NS + 5
    recorder.events += [
        Failed(0, at, "mismatch"),
        Failed(TRANSACTION, at, "mismatch"),
        Failed(CONNECTING, at, "connect"),
    ]
    (interval,) = recorder.finish(START_NS + SECOND_NS)
    assert (interval.operations[0].failed, interval.transactions.failed, interval.mismatches) == (1, 1, 1)
    assert interval.errors == {"mismatch": 1, "connect": 1}
