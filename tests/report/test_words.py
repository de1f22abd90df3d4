"""Figures as text, and sentences that claim no more than was measured."""

import pytest

from dbdyno.report import words
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


def test_the_highest_figure_is_of_a_complete_trial(shown):
    best = words.best_by_group(shown)
    assert all(trial["state"] == "complete" for trial in best)
    assert best[0]["label"] == "lmdb" and best[0]["clients"] == 2
    assert words.highest(shown).startswith("Highest measured: lmdb, ") and "at 2 clients" in words.highest(shown)


def test_one_trial_each_names_no_winner(shown):
    assert words.caution(shown) == "No interval, no winner: one trial each."


def test_repetitions_without_an_interval_name_no_winner_either(plain):
    assert "no winner" in words.caution(document(plain))


def test_classes_that_differ_are_said_and_one_class_is_not(shown, plain):
    assert words.durability_caution(shown) == "Durability classes differ (D0, D1, D2): not like with like."
    assert words.durability_caution(document(plain)) is None


def test_what_observing_took_and_could_not_see_is_said(shown):
    assert words.observing(shown).startswith("Observing took at most 0.")
    trials = [{"observer_cpu_share": 0.0061, "not_seen": [{"band": "pressure", "reason": "x"}]}] * 2
    said = words.observing({"trials": trials})
    assert said == "Observing took at most 0.6% of one processor. Not seen: pressure."
    assert words.observing({"trials": [{"observer_cpu_share": None, "not_seen": []}]}) is None


def test_what_is_missing_is_named(shown):
    missing = dict(words.not_complete(shown))
    assert missing["valkey"].startswith("skipped: valkey-server is not installed")
    assert missing["mariadb, 4 clients"].startswith("failed: mariadb was killed")
    assert missing["013-redis-game-c1"] == "not reached"


@pytest.mark.parametrize(
    ("state", "said"),
    [("complete", None), ("running", "did not end"), ("failed", "failed: why"), ("interrupted", "rupted")],
)
def test_the_runs_state(state, said):
    sentence = words.run_state({"state": state, "reason": "why"})
    assert sentence is None if said is None else said in sentence


def test_hit_ratios(shown):
    ratios = [words.hit_ratio(trial) for trial in shown["trials"] if trial["system"] and "cache" in trial["system"]]
    assert ratios == pytest.approx([0.7, 0.7, 0.7], abs=0.001)
    assert words.hit_ratios(shown)


def test_shares():
    assert words.percent(0.876) == "88%" and words.percent(None) == "–"
