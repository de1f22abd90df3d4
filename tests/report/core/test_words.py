"""Figures as text, and sentences that claim no more than was measured."""

import pytest

from dbdyno.report.core import words
from dbdyno.report.document import document


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0, "0"),
        (0.01234, "0.012"),
        (1.2345, "1.23"),
        (12.34, "12.3"),
        (123.4, "123"),
        (9.996, "10.0"),
        (99.96, "100"),
        (12345.6, "12,346"),
    ],
)
def test_significant(value, text):
    assert words.significant(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (9999, "9999"), (21_400, "21k"), (1_234_567, "1.2M"), (3e9, "3.0G")]
)
def test_short_counts(value, text):
    assert words.short_count(value) == text


@pytest.mark.parametrize(
    ("time_us", "text"),
    [(None, "–"), (12.34, "12.3 µs"), (999.4, "999 µs"), (999.6, "1.00 ms"), (5e6, "5,000 ms"), (9.996e6, "10.0 s")],
)
def test_a_time_has_the_unit_of_the_digits_that_are_written(time_us, text):
    assert words.length(time_us) == text


def test_the_best_of_each_group_is_of_a_complete_trial(run_document):
    best = words.best_by_group(run_document)
    assert all(trial["state"] == "complete" for trial in best)
    assert best[0]["label"] == "lmdb" and best[0]["clients"] == 2


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({}, ""),
        ({"a": "not observed", "b": "not observed"}, "The limit was not observed."),
        ({"a": "locks", "b": "not observed"}, "Limited: a by locks. The limit of b was not observed."),
        ({"a": "unexplained"}, "The limit is unknown."),
        ({"a": "locks"}, "It was limited by locks."),
        ({"a": "locks", "b": "the disk", "c": "locks"}, "Limited: a, c by locks; b by the disk."),
    ],
)
def test_what_limited_each(limits, said):
    assert words.limits(limits) == said


@pytest.mark.parametrize(("value", "text"), [(None, "–"), (12, "12.0 B"), (4123, "4.03 KiB"), (41e6, "39.1 MiB")])
def test_bytes(value, text):
    assert words.short_bytes(value) == text


def test_a_ratio_never_stands_without_its_interval():
    comparison = {"ratio": 1.5, "low": 1.25, "high": 2.0, "verdict": "faster", "least": False}
    assert words.ratio(comparison) == "1.50× [1.25, 2.00]"
    assert words.ratio(comparison | {"least": True}) == "≥ 1.50× [1.25, 2.00]"
    assert words.ratio(comparison | {"low": None, "high": None}) == words.ratio(None) == ""


@pytest.mark.parametrize(("value", "text"), [(2, "2.00"), (0.04321, "0.0432"), (123.4, "123"), (12_400, "12,400")])
def test_factors(value, text):
    assert words.factor(value) == text


def test_the_worst_stall_is_named(run_document, plain):
    assert words.worst_stall([t for t in run_document["trials"] if t["label"] == "redis"]).startswith(
        "Longest stall: redis, 4"
    )
    even = [dict(t, stability=t["stability"] | {"floor": 0.8}) for t in document(plain)["trials"]]
    assert "Lowest floor: mariadb, 1 client, 80% of" in words.worst_stall(even)
    assert words.worst_stall([]) is None


def test_the_worst_stall_may_be_shorter_than_a_second(hiccups):
    assert words.worst_stall(hiccups["trials"]).startswith(
        "Longest stall: redis, 8 clients, 212 ms without a completion; 9.83 stalls/s, 21.3% of"
    )


def test_classes_that_differ_are_said_and_one_class_is_not(run_document, plain):
    assert words.durability_caution(run_document) == "Durability classes differ (D0, D1, D2): not like with like."
    assert words.durability_caution(document(plain)) is None


def test_what_observing_took_and_could_not_see_is_said(run_document):
    assert words.observing(run_document).startswith("Observing took at most 0.")
    trials = [{"observer_cpu_share": 0.0061, "not_seen": [{"band": "pressure", "reason": "x"}]}] * 2
    said = words.observing({"trials": trials})
    assert said == "Observing took at most 0.6% of one processor. Not observed: pressure."
    assert words.observing({"trials": [{"observer_cpu_share": None, "not_seen": []}]}) is None


def test_what_is_missing_is_named(run_document):
    missing = dict(words.not_complete(run_document))
    assert missing["valkey"].startswith("skipped: valkey-server is not installed")
    assert missing["mariadb, 4 clients"].startswith("failed: mariadb was killed")
    assert missing["013-redis-game-c1"] == "not reached"


def test_trials_that_were_not_reached_are_one_line():
    unreached = [
        {"trial": f"00{n}-redis-game", "system": None, "state": "not reached", "reason": None} for n in (1, 2, 3)
    ]
    said = words.not_complete({"trials": unreached, "skipped": [], "left_out": []})
    assert said == [("001-redis-game", "not reached, nor 2 more")]


@pytest.mark.parametrize(
    ("state", "said"),
    [("complete", None), ("running", "did not end"), ("failed", "failed: why"), ("interrupted", "rupted")],
)
def test_the_runs_state(state, said):
    sentence = words.run_state({"state": state, "reason": "why"})
    assert sentence is None if said is None else said in sentence


def test_hit_ratios(run_document):
    ratios = [
        words.hit_ratio(trial) for trial in run_document["trials"] if trial["system"] and "cache" in trial["system"]
    ]
    assert ratios == pytest.approx([0.7, 0.7, 0.7], abs=0.001)
    assert words.hit_ratios(run_document)


def test_shares():
    assert words.percent(0.876) == "88%" and words.percent(None) == "–"


def test_a_warning_that_many_trials_carry_is_said_once(plain):
    run_document = document(plain)
    trials = [
        dict(trial, warnings=["w", *extra])
        for trial, extra in zip(run_document["trials"], (["x"], [], [], []), strict=True)
    ]
    assert words.warnings_by_text(dict(run_document, trials=trials)) == [
        ("mariadb, 4 trials", "w"),
        ("mariadb, 1 client", "x"),
    ]


def test_a_trial_too_short_for_a_floor_has_none_written():
    assert words.evenness({"floor": None, "longest_without_completion_s": 2}) == "longest stall 2 s"
    still = {"floor": 0.0, "longest_without_completion_s": 7, "seconds": 20, "seconds_below_tenth": 12}
    assert words.evenness(still) == "floor 0% (stalled in 12 of 20 s), longest stall 7 s"
    assert words.evenness({"floor": 0.5, "longest_without_completion_s": 0}) == "floor 50%"
    assert words.evenness({"floor": None, "longest_without_completion_s": 0}) == ""


def with_stalls(**figures):
    stalls = {"count": 118, "per_s": 9.83, "longest_ms": 212.4, "share": 0.2126, "notable": True} | figures
    return {"floor": None, "longest_without_completion_s": 0, "stalls": stalls}


def test_stalls_are_in_milliseconds_and_only_said_if_they_matter():
    assert words.stalled(with_stalls()) == "longest stall 212 ms; 9.83 stalls/s, 21.3% of the time"
    assert words.stalled(with_stalls(count=3, per_s=0.25)) == "longest stall 212 ms; 3 stalls, 21.3% of the time"
    assert words.stalled(with_stalls(count=1, longest_ms=2350)) == "longest stall 2,350 ms"
    assert words.stalled(with_stalls(notable=False)) == ""


def test_a_cell_has_the_longest_stall_or_that_none_is_known():
    assert words.longest_stall(with_stalls(notable=False, longest_ms=12.4)) == "12.4 ms"
    assert words.longest_stall(with_stalls(count=0)) == "none"
    assert words.longest_stall({"longest_without_completion_s": 0, "stalls": None}) == words.UNKNOWN
    assert words.longest_stall({"longest_without_completion_s": 3}) == "3 s"


def test_what_is_normal_is_not_said_beside_every_figure():
    even, low = ({"floor": floor, "longest_without_completion_s": 0} for floor in (0.6, 0.4))
    assert [words.evenness(stability) for stability in (even, low)] == ["floor 60%", "floor 40%"]
    assert [words.unevenness(stability) for stability in (even, low)] == ["", "floor 40%"]
    short = {"floor": None, "longest_without_completion_s": 0}
    assert words.evenness(short) == words.unevenness(short) == ""
    stalled = even | {"longest_without_completion_s": 3}
    assert words.evenness(stalled) == words.unevenness(stalled) == "floor 60%, longest stall 3 s"


def test_keys_that_have_another_node_are_said_beside_the_share_that_was_due():
    keys = {"asked": 20_000, "moved": 5_540, "due": 5_000.0}
    trial = {
        "trial": "001-x",
        "label": "pool",
        "clients": 4,
        "state": "complete",
        "repeat": 1,
        "system": "x",
        "pipeline": 1,
    }
    trial |= {"counters": {"cache_hits": 9, "cache_misses": 1}, "workload": "result-cache", "moved_keys": keys}
    (said,) = words.cached({"trials": [trial]})
    assert said.endswith(
        "; 5,540 of the 20,000 requested keys have another node since the pool changed (27.7%; its share was 25.0%)."
    )
    (silent,) = words.cached({"trials": [trial | {"moved_keys": None}]})
    assert silent.endswith("found something in the cache.")


def test_what_has_one_reason_is_one_line():
    lines = ["process.client.x: no rights", "host.y: no file", "process.redis.x: no rights", "z"]
    assert words.not_observed(lines) == ["process.client.x, process.redis.x: no rights", "host.y: no file", "z"]
