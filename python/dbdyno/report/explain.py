"""The limit of each trial of a run, its evidence and what to try next, as `dbdyno explain` prints them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

from dbdyno.report.core import words
from dbdyno.report.core.documents import RunDocument
from dbdyno.report.core.terminal import print_command, say
from dbdyno.report.core.trial_documents import TrialDocument
from dbdyno.report.sections.analyses import analysed, analysis_of
from dbdyno.results.conclusions import NextStep, Verdict
from dbdyno.verdict.limits import LIMITS, noun_of

INDENT = 2
_ENDED = {"failed": "failed", "interrupted": "was interrupted", "not reached": "was not reached"}


def trials_named(document: RunDocument, name: str | None) -> list[TrialDocument]:
    """Return the trials with this name or number, or with this text in their names; all of them without a name."""
    trials = list(document["trials"])
    if name is None:
        return trials
    exact = [trial for trial in trials if trial["trial"] == name]
    numbered = [trial for trial in trials if name.isdecimal() and trial["trial"].split("-")[0].lstrip("0") == name]
    return exact or numbered or [trial for trial in trials if name in trial["trial"]]


def print_explanations(document: RunDocument, trials: Sequence[TrialDocument], console: Console) -> None:
    """Print for each trial its limit, the evidence and what to try next."""
    several = len({trial["workload"] for trial in trials}) > 1
    for index, trial in enumerate(trials):
        if index:
            console.print()
        workload = f", {trial['workload']}" if several else ""
        name = Text(f"{words.trial_name(trial)}{workload}", style="bold").append(f"  {trial['trial']}", "not bold dim")
        say(console, name, hang=INDENT)
        if verdict := trial.get("verdict"):
            _print_verdict(trial, verdict, console)
        elif analysed([trial]):
            _print_queries(trial, console)
        else:
            say(console, _why_not(document, trial), "yellow", INDENT, 2)


def _print_verdict(trial: TrialDocument, verdict: Verdict, console: Console) -> None:
    limit = LIMITS.get(verdict.limit)
    opening = limit.opening_of(bool(trial["embedded"])) if limit else f"Limited by {verdict.limit}"
    say(console, f"{opening} (confidence {verdict.confidence}).", "", INDENT, 2)
    for evidence in verdict.evidence:
        say(console, f"· {evidence}", "", INDENT, 2)
    if runner_up := verdict.runner_up:
        say(console, f"· next largest: {noun_of(runner_up, bool(trial['embedded']))}", "dim", INDENT, 2)
    _print_steps(verdict.next, console)


def _print_steps(steps: Iterable[NextStep], console: Console) -> None:
    for step in steps:
        say(console, f"Try: {step.why}", "", INDENT, 2)
        print_command(step.command, console, " " * 2 * INDENT, "cyan")


def _print_queries(trial: TrialDocument, console: Console) -> None:
    """Print the verdict on each query of an analysis."""
    verdicts = trial.get("query_verdicts") or {}
    for query, verdict in verdicts.items():
        say(console, f"{query}: {verdict.sentence}", "", INDENT, 2)
    if silent := [query["name"] for query in analysis_of(trial)["queries"] if query["name"] not in verdicts]:
        why = "asked for less than two samples, or no observation explains it"
        say(console, f"No verdict on {', '.join(silent)}: {why}.", "yellow", INDENT, 2)
    _print_steps(dict.fromkeys(step for verdict in verdicts.values() for step in verdict.next), console)


def _why_not(document: RunDocument, trial: TrialDocument) -> str:
    """Return why a trial has no verdict."""
    if trial["state"] != "complete":
        reason = f": {trial['reason']}" if trial["reason"] else ""
        return f"No verdict: the trial {_ENDED.get(trial['state'], 'did not end')}{reason}"
    if not trial["transactions"]:
        return "No verdict: no transaction was completed."
    unseen = "; ".join(dict.fromkeys(document["fairness"]["not_seen"]))
    return f"No verdict: what it waited for was not observed{f' ({unseen})' if unseen else ''}."
