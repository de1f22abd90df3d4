"""Each trial has its limit, the evidence and what to try next, or why there is no verdict."""

import io
from dataclasses import replace

from rich.console import Console

from dbdyno.report.explain import print_explanations, trials_named
from dbdyno.results.conclusions import NextStep, Verdict

VERDICT = Verdict(
    limit="client",
    sentence="Limited by the client (confidence medium): 0.9 of 2.0 operations were in the client; next: the disk.",
    evidence=("0.9 of 2.0 operations were in the client", "it used [all] of its CPU"),
    runner_up="disk",
    confidence="medium",
)


def printed(run_document, trials, width=80):
    console = Console(file=io.StringIO(), width=width, color_system=None)
    print_explanations(run_document, trials, console)
    return console.file.getvalue().splitlines()


def test_a_limit_has_its_evidence_in_short_lines(run_document):
    trial = dict(run_document["trials"][0], verdict=VERDICT)
    assert printed(run_document, [trial]) == [
        "sqlite, 1 client  001-sqlite-game-c1",
        "  Limited by the client (confidence medium).",
        "  · 0.9 of 2.0 operations were in the client",
        "  · it used [all] of its CPU",
        "  · next largest: the disk",
    ]


def test_a_rate_that_was_followed_is_no_limit(run_document):
    verdict = replace(VERDICT, limit="rate", confidence="high", evidence=("9/s completed of 9/s offered",))
    lines = printed(run_document, [dict(run_document["trials"][0], verdict=replace(verdict, runner_up=None))])
    assert lines[1:] == [
        "  Not limited: it kept up with the requested rate (confidence high).",
        "  · 9/s completed of 9/s offered",
    ]
    other = printed(run_document, [dict(run_document["trials"][0], verdict=replace(verdict, limit="gravity"))])
    assert other[1] == "  Limited by gravity (confidence high)."


def test_what_to_try_is_a_command_that_fits(run_document):
    command = "dbdyno run quickstart --clients 16 --set seed=1 " + "--rows 1000 " * 4 + "--repeat 5"
    verdict = replace(VERDICT, evidence=(), runner_up=None, next=(NextStep("give it more CPUs", command),))
    lines = printed(run_document, [dict(run_document["trials"][0], verdict=verdict)])
    assert lines[2] == "  Try: give it more CPUs"
    assert max(map(len, lines)) <= 80
    assert " ".join(line.strip().removesuffix(" \\") for line in lines[3:]) == command


def test_each_query_of_an_analysis_has_its_sentence(run_document):
    queries = [{"name": name, "differs": None} for name in ("q0", "q1", "q2", "q3")]
    analysis = {"analysis": {"cold": "anew", "queries": queries}, "verdict": None}
    verdict = replace(VERDICT, next=(NextStep("fewer rows", "dbdyno run air-traffic --rows 5"),))
    analysis |= {"query_verdicts": {"q1": verdict, "q3": verdict}}
    lines = printed(run_document, [run_document["trials"][0] | analysis], width=120)
    assert lines[1:] == [
        "  q1: Limited by the client (confidence medium): 0.9 of 2.0 operations were in the client; next: the disk.",
        "  q3: Limited by the client (confidence medium): 0.9 of 2.0 operations were in the client; next: the disk.",
        "  No verdict on q0, q2: asked for less than two samples, or no observation explains it.",
        "  Try: fewer rows",
        "    dbdyno run air-traffic --rows 5",
    ]


def test_without_a_verdict_the_reason_is_said(run_document):
    states = {trial["state"]: trial for trial in run_document["trials"] if not trial["verdict"]}
    said = {state: " ".join(printed(run_document, [trial])[1:]) for state, trial in states.items()}
    assert said["not reached"] == "  No verdict: the trial was not reached"
    assert said["failed"].startswith("  No verdict: the trial failed: ")
    first = dict(run_document["trials"][0], verdict=None, state="complete", transactions=0)
    assert printed(run_document, [first])[1] == "  No verdict: no transaction was completed."
    blind = printed(run_document, [dict(first, transactions=1)])
    assert blind[1].startswith("  No verdict: what it waited for was not observed")


def test_a_trial_goes_by_its_name_its_number_or_a_part_of_it(run_document):
    name = run_document["trials"][4]["trial"]
    assert [trial["trial"] for trial in trials_named(run_document, name)] == [name]
    assert [trial["trial"] for trial in trials_named(run_document, "5")] == [name]
    assert {trial["label"] for trial in trials_named(run_document, "lmdb")} == {"lmdb"}
    assert (
        trials_named(run_document, None) == list(run_document["trials"]) and trials_named(run_document, "nosuch") == []
    )
