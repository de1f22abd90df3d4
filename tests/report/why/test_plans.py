"""Statements that the sides execute in different ways."""

import json

import pytest

from dbdyno.report.why.plans import plans

BY_KEY = ("player: const by PRIMARY",)
SCAN = ("player: ALL",)


def _plans(of_slow, of_fast=(BY_KEY, BY_KEY), operation="update_player"):
    """Put in the plans of an operation before the run and after it; the second half of the time is its own."""

    def put(label, folder, trial):
        steps = of_slow(trial["repeat"]) if callable(of_slow) else of_slow
        recorded = [
            {"record": "query_plan", "when": when, "operation": operation, "sql": "SELECT", "steps": list(plan)}
            for when, plan in zip(("before", "after"), steps if label == "slow" else of_fast, strict=True)
        ]
        with (folder / "records.jsonl").open("a") as file:
            file.writelines(json.dumps(record) + "\n" for record in recorded)

    return put


def test_another_plan_is_named_with_the_share_of_its_operation(pairs):
    (plan,) = plans(pairs(_plans((SCAN, SCAN))))
    assert (plan.kind, plan.name, plan.before, plan.after, plan.note) == (
        *("plan", "update_player", "player: const by PRIMARY", "player: ALL"),
        "",
    )
    assert plan.share == pytest.approx(0.5, abs=0.1)


def test_equal_plans_and_operations_without_one_are_no_evidence(pairs):
    assert plans(pairs(_plans((BY_KEY, BY_KEY)))) == []
    assert plans(pairs()) == []


def test_a_plan_that_changed_while_the_load_ran_says_when(pairs):
    (plan,) = plans(pairs(_plans((BY_KEY, SCAN))))
    assert (plan.after, plan.note) == ("player: ALL", "only after the load")
    (plan,) = plans(pairs(_plans((SCAN, BY_KEY))))
    assert (plan.after, plan.note) == ("player: ALL", "only before the load")


def test_one_trial_with_another_plan_is_not_a_side(pairs):
    assert plans(pairs(_plans(lambda repeat: (SCAN, SCAN) if repeat == 2 else (BY_KEY, BY_KEY)))) == []


def test_only_the_steps_that_differ_are_named_and_an_order_in_full(pairs):
    join, longer = ("a: ALL", "  b: ref by x"), ("a: ALL", "  b: ALL")
    (plan,) = plans(pairs(_plans((longer, longer), (join, join))))
    assert (plan.before, plan.after) == ("b: ref by x", "b: ALL")
    turned = ("b: ref by x", "  a: ALL")
    (plan,) = plans(pairs(_plans((turned, turned), (join, join))))
    assert (plan.before, plan.after) == ("a: ALL; b: ref by x", "b: ref by x; a: ALL")


def test_an_operation_that_nobody_timed_has_no_share(pairs):
    (plan,) = plans(pairs(_plans((SCAN, SCAN), operation="other")))
    assert plan.share is None
