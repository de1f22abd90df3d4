"""Counters that differ per transaction."""

from dbdyno.report.why.counters import counters


def _count(**of_slow):
    def put(label, folder, trial):
        done = 6000 if label == "slow" else 12_000
        grown = {"flushes": done // 1000, "reads": done, "pages": done, "seconds": 5, "gauge": -3, "words": 7}
        grown |= of_slow if label == "slow" else {}
        before = {name: 100 for name in grown} | {"words": "many"}
        after = {name: 100 + value for name, value in grown.items()}
        trial["server_counters"] = {"store": {"before": before, "after": after}}

    return put


def _found(pairs, **of_slow):
    return {counter.name.removesuffix(" per transaction"): counter for counter in counters(pairs(_count(**of_slow)))}


def test_a_counter_that_rose_per_transaction_is_named_with_what_it_can_explain(pairs):
    by_counter = _found(pairs, pages=60_000)
    pages = by_counter["pages"]
    assert pages.kind == "counter" and pages.share == 1.0 and pages.note == ""
    assert float(pages.after) > 5 * float(pages.before)
    assert "gauge" not in by_counter and "words" not in by_counter


def test_fewer_events_explain_no_longer_time_and_come_last(pairs):
    by_counter = _found(pairs, reads=600, pages=60_000)
    reads = by_counter["reads"]
    assert reads.share == 0.0 and "adds none" in reads.note
    assert float(reads.after) < float(reads.before)
    assert next(iter(by_counter)) == "pages"


def test_ten_percent_more_events_cannot_explain_twice_the_time(pairs):
    by_counter = _found(pairs, reads=30_000, pages=6600)
    assert by_counter["pages"].share < by_counter["reads"].share == 1.0


def test_events_that_come_by_the_clock_say_so_and_rare_ones_are_none(pairs):
    def put(label, folder, trial):
        grown = {"ticks": 500, "rare": 9 if label == "slow" else 1}
        after = {name: value for name, value in grown.items()}
        trial["server_counters"] = {"store": {"before": dict.fromkeys(grown, 0), "after": after}}

    by_counter = {counter.name: counter for counter in counters(pairs(put))}
    assert by_counter["ticks per transaction"].note == "the same per second"
    assert "rare per transaction" not in by_counter


def test_processor_time_of_the_server_is_named_as_time(pairs):
    processor_times = [counter for counter in counters(pairs()) if "time of mariadb" in counter.name]
    assert all(counter.before.endswith(("µs", "ms")) for counter in processor_times)


def test_one_pair_has_no_noise_to_be_beyond(pairs):
    given = pairs(_count(pages=60_000))
    assert counters(type(given)(given.compared, given.trials[:1])) == []
