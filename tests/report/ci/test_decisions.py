"""The decisions on a base and a head."""

import json
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from dbdyno.errors import UserError
from dbdyno.report.ci.decisions import (
    NOT_JUDGED,
    ci_document,
    decisions,
    ended,
    print_decisions,
    reasons_of,
    row_of,
    sentence,
)
from dbdyno.results.noise import NoiseFloor
from dbdyno.results.read import read_run
from dbdyno.stats.sequential import decide
from synthetic_run import SYSTEMS, write_run

FLOOR = NoiseFloor("bench-1", "mariadb", "game", 20_000, 4, 1, 4, 10, 0.6, 1.6, 0.6, "an-aa-run", 1.0)


def test_a_slower_head_is_slower_by_an_interval_that_covers_it_and_has_evidence(decided):
    slower, same = decided
    assert (slower.outcome, same.outcome) == ("slower", "same")
    true_ratio = (900e-6 + 4 / 9000) / (1350e-6 + 4 / 6000)
    assert slower.decision.low <= true_ratio <= slower.decision.high < 1
    assert same.decision.low <= 1 <= same.decision.high
    assert slower.evidence and same.evidence == ()
    assert row_of(slower)[-1] == "slower" and slower.interval.startswith("-34.4 % [")


def test_noise_that_was_measured_above_the_margin_makes_it_unstable(same, slower):
    (decision,) = decisions(same, 0.10, [FLOOR], 1)
    assert decision.outcome == "unstable" and "A/A noise of this host is ±60.0 % (an-aa-run)" in decision.reason
    (decision,) = decisions(slower, 0.10, [FLOOR], 1)
    assert decision.outcome is None


def test_what_is_undecided_at_the_end_says_what_it_lacks(decided):
    slower, same = decided
    undecided = replace(same, outcome=None, noise=0.0005)
    (decision,) = ended([undecided], 0.001, 1)
    assert (
        decision.outcome == "unstable"
        and "the budget ended after 5 pairs; " in decision.reason
        and decision.reason.endswith("would decide")
    )
    (decision,) = ended([replace(undecided, noise=0.3)], 0.05, 1)
    assert "A/A noise of this host is ±30.0 % after 5 pairs, above the margin" in decision.reason
    assert ended([slower], 0.05, 1) == [slower]
    (decision,) = ended([replace(undecided, decision=decide([0.1] * 5, 0.05, comparisons=200))], 0.05, 200)
    assert decision.reason == "the budget ended after 5 pairs; 200 comparisons together need 6 or more"
    assert decision.interval == "+10.5 % (no interval)"


def test_reasons_of_several_loads_are_one_sentence(decided):
    undecided = [replace(each, reason="the budget ended") for each in decided]
    assert reasons_of(undecided) == [("quickstart, 2 comparisons", "the budget ended")]
    undecided[1] = replace(undecided[1], reason="it failed")
    assert reasons_of(undecided) == [
        ("quickstart: game, 4 clients", "the budget ended"),
        ("quickstart: game, 4 clients", "it failed"),
    ]
    assert reasons_of(decided) == []


def test_an_experiment_named_after_its_workload_is_named_once(decided):
    named = replace(decided[0], experiment="game")
    assert (decided[0].named_workload, named.named_workload) == ("quickstart: game", "game")


def test_a_side_that_failed_is_not_judged_and_one_that_is_missing_is_refused(tmp_path):
    sides = (replace(SYSTEMS[2], label="base"), replace(SYSTEMS[2], label="head"))
    faults = {("head", 4): "server-died"}
    run = read_run(write_run(tmp_path / "died", sides, clients=(4,), repeats=3, faults=faults))
    (decision,) = decisions(run, 0.05, [], 1)
    assert (decision.outcome, decision.decision, decision.interval) == (
        NOT_JUDGED,
        None,
        "–",
    ) and "no pair" in decision.reason
    alone = read_run(write_run(tmp_path / "alone", sides[:1], clients=(4,), repeats=3))
    with pytest.raises(UserError, match="head was not measured: valkey-server is not installed"):
        decisions(alone, 0.05, [], 1)


def test_table_and_json(decided):
    console = Console(file=StringIO(), width=120)
    print_decisions(decided, 0.10, console)
    printed = console.file.getvalue()
    assert "2 comparisons: 1 slower, 1 same (margin ±10.0 %)" in printed and "head is slower than base" in printed
    document = json.loads(json.dumps(ci_document(decided, 0.10, ["busy"], 1)))
    assert (document["status"], document["host"], document["sentence"]) == (1, ["busy"], sentence(decided, 0.10))
    first, second = document["comparisons"]
    assert (first["outcome"], first["pairs"], len(first["base_per_s"])) == ("slower", 5, 5)
    assert first["evidence"] and not second["evidence"] and second["aa_noise"] > 0
