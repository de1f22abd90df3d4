"""How good a verdict is, when all of them together fail, and the page about them."""

from dataclasses import replace

from .case import NETWORK, SERVER_CPU, UNEXPLAINED, Case, Load, Variant
from .grade import Grade, Verdict, failures
from .kept import Kept
from .table import document

LOAD = Load("load", "mariadb", frozenset({SERVER_CPU}), frozenset({"host-cpu"}))
CASE = Case("case", "the link is cut", LOAD, frozenset({NETWORK}), says="link", unpinned=frozenset({"host-cpu"}))


def verdict(limit, confidence="high", sentence="the link", scenario=CASE, variant=Variant.PINNED):
    return Verdict(scenario, variant, 1, limit, confidence, sentence, 100.0)


def test_only_a_limit_that_is_accepted_and_names_what_it_must_is_right():
    assert verdict(NETWORK).grade is Grade.RIGHT
    assert verdict(NETWORK, sentence="something").grade is Grade.WRONG
    assert verdict(SERVER_CPU).grade is verdict(SERVER_CPU, "medium").grade is Grade.WRONG
    assert verdict(SERVER_CPU, "low").grade is Grade.WRONG_LOW


def test_no_answer_is_unknown_and_not_wrong():
    assert verdict(UNEXPLAINED, "low", "nothing").grade is Grade.UNKNOWN


def test_a_full_host_is_right_only_if_the_two_sides_share_it():
    assert verdict("host-cpu").grade is Grade.WRONG
    assert verdict("host-cpu", variant=Variant.UNPINNED).grade is Grade.RIGHT


def test_a_control_that_blames_what_nobody_touched_is_wrong():
    assert verdict(NETWORK, scenario=LOAD).grade is Grade.WRONG
    assert verdict(SERVER_CPU, sentence="", scenario=LOAD).grade is Grade.RIGHT


def test_one_wrong_verdict_with_confidence_or_too_few_right_ones_fail():
    right = [verdict(NETWORK)] * 85
    unknown = verdict(UNEXPLAINED, "low")
    assert failures([*right, *[unknown] * 15]) == []
    assert failures([*right, *[unknown] * 16]) == ["85 of 101 cases are right, at least 85% are needed"]
    assert failures([*right, verdict(NETWORK, scenario=LOAD)]) == [
        "1 of 86 verdicts are wrong with confidence medium or high"
    ]


def test_the_page_counts_both_sets_and_marks_what_is_wrong():
    made = [verdict(NETWORK), verdict(SERVER_CPU), verdict(NETWORK, scenario=LOAD)]
    kept = kept_of(made, {"other": "it is not installed"}, {"broken": "it ended"})
    page = document(kept)
    assert "1 cause ran 1 to 2 times in each variant, on 2 processors. Taken on 2026-11-28." in page
    assert "**1 of 2 verdicts on development cases are right** (50%), 0 unknown, 1 wrong." in page
    assert "**0 of 0 verdicts on held-out cases are right**, 0 unknown, 0 wrong." in page
    assert "2 of all 3 are wrong with confidence medium or high" in page
    assert "| development | 2 | 1 | 0 | 0 | 1 |" in page
    assert "| held-out | 0 | 0 | 0 | 0 | 0 |" in page
    assert "| controls | 1 | 0 | 0 | 0 | 1 |" in page
    row = "| the link is cut | development | pinned | network | network (1×), **wrong:** server-cpu (1×) | high "
    assert row + "| 1.00× | **wrong:** network |" in page
    assert "- other: it is not installed" in page and "- broken: it ended" in page


def test_the_page_says_what_was_wrong_and_what_is_unknown():
    unknown = verdict(UNEXPLAINED, "low", "Limit unknown.")
    wrong = [verdict(SERVER_CPU, sentence="the link, busy"), verdict(NETWORK, scenario=LOAD)]
    page = document(kept_of([*wrong, unknown]))
    assert "- the link is cut (pinned, right: network): the link, busy" in page
    assert "- control `load`, nothing injected (pinned, right: server-cpu): the link" in page
    assert page.index("## Wrong verdicts") < page.index("## Unknown") < page.index("Limit unknown.")
    assert "Wrong verdicts" not in document(kept_of([verdict(NETWORK)]))


def test_the_page_says_how_often_the_cases_ran():
    assert "1 cause ran once in each variant" in document(kept_of([verdict(NETWORK)]))
    twice = document(kept_of([verdict(NETWORK), verdict(NETWORK), verdict("host-cpu", variant=Variant.UNPINNED)]))
    assert "ran 1 to 2 times in each variant" in twice and "The target is 3: " in twice
    assert "The target" not in document(kept_of([verdict(NETWORK)] * 3))


def kept_of(verdicts, left_out=(), failed=()):
    """Return verdicts as kept, each as a repetition of its own."""
    kept = Kept({}, dict(left_out), dict(failed), processors=2)
    for repeat, made in enumerate(verdicts, 1):
        kept.add(replace(made, repeat=repeat, taken="2026-11-28"))
    return kept
