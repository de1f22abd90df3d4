"""Counters that differ per transaction."""

import json

import pyarrow.parquet as pq

from dbdyno.report.why.counters import counters
from report.why.conftest import conclude

USER = "process.mariadb.cpu_user_s_total"


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


def test_events_that_come_by_the_clock_explain_nothing_and_rare_ones_are_none(pairs):
    def put(label, folder, trial):
        grown = {"ticks": 500, "rare": 9 if label == "slow" else 1}
        after = {name: value for name, value in grown.items()}
        trial["server_counters"] = {"store": {"before": dict.fromkeys(grown, 0), "after": after}}

    by_counter = {counter.name: counter for counter in counters(pairs(put))}
    ticks = by_counter["ticks per transaction"]
    assert ticks.share == 0.0 and ticks.note.startswith("the same per second")
    assert "rare per transaction" not in by_counter


def _compute(times, limit):
    """Let the slow server compute `times` as long, and `limit` be the limit of both sides."""

    def put(label, folder, trial):
        conclude(folder, limit, server_cpu=1.0, server_cpu_wait=3.0)
        samples = pq.read_table(folder / "observations.parquet").to_pylist()
        if label == "slow":
            samples = [sample | {USER: times * sample[USER]} for sample in samples]
        (folder / "observations.jsonl").write_text("".join(f"{json.dumps(sample)}\n" for sample in samples))
        (folder / "observations.parquet").unlink()

    return put


def _processor_time(given):
    (counter,) = (counter for counter in counters(given) if counter.name.startswith("cpu user time of mariadb"))
    return counter


def test_processor_time_of_the_server_is_named_as_time_and_explains_the_queue_if_it_limits(pairs):
    elsewhere, full = (_processor_time(pairs(_compute(3, limit))) for limit in ("commit", "server-thread"))
    assert elsewhere.before.endswith("µs") and elsewhere.after.endswith("µs")
    assert full.share == min(1.0, 4 * elsewhere.share) > elsewhere.share


def test_one_pair_has_no_noise_to_be_beyond(pairs):
    given = pairs(_count(pages=60_000))
    assert counters(type(given)(given.compared, given.trials[:1])) == []
