"""A run as one document: every figure dbdyno states, each computed here and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dbdyno.report.core.loads import load_of
from dbdyno.report.headline import compared, headline
from dbdyno.report.option_answer import compared_options
from dbdyno.report.sections import analyses, crashes
from dbdyno.report.sections.connection_memory import connection_memory
from dbdyno.report.sections.copies import copied, sentence
from dbdyno.report.sections.events import summaries
from dbdyno.report.sections.libraries import library_costs
from dbdyno.report.sections.sweeps import sweeps
from dbdyno.report.trial_document import trial_document
from dbdyno.verdict.card import Card, card, short

if TYPE_CHECKING:
    from dbdyno.report.core.documents import FairnessDocument, LimitsDocument, RunDocument, SessionsDocument
    from dbdyno.report.core.event_documents import EventSummariesDocument
    from dbdyno.report.core.trial_documents import ConcludedDocument
    from dbdyno.results.model import Run, Trial


def document(run: Run, timelines: bool = True) -> RunDocument:
    """Return the run as every report shows it.

    Args:
        timelines: include every second of every trial, which takes longer.

    Figures leave the warm-up out. Errors, failures, verified reads and mismatches count every second of the run: an
    early error is an error too. A figure is `None` if it is unknown or has too few samples.
    """
    facts = run.facts
    trials = [trial_document(trial, run, timelines) for trial in in_reading_order(run)]
    comparison = compared(run)
    first = headline(trials, comparison, facts.find_rate or ())
    if copies := copied(trials):
        first["sentence"] = sentence(copies)
    elif asked := analyses.analysed(trials):
        first["sentence"] = analyses.sentence(asked)
    elif killed := crashes.crashed(trials):
        first["sentence"] = crashes.sentence(killed, crashes.unread(trials))
    limits: LimitsDocument = {"limits": facts.limits} if facts.limits else {}
    sessions: SessionsDocument = {"sessions": facts.sessions} if facts.sessions else {}
    events: EventSummariesDocument = (
        {"events": summaries(trials)} if any(trial.get("events") for trial in trials) else {}
    )
    return {
        "run": facts.run or run.path.name,
        "experiment": facts.experiment,
        "question": facts.question,
        "look_for": facts.look_for,
        "command": facts.command,
        "dbdyno": facts.dbdyno,
        "state": facts.state,
        "reason": facts.reason,
        "started_unix_s": facts.started_unix_s,
        "ended_unix_s": facts.ended_unix_s,
        "headline": first,
        "comparison": comparison,
        "option_comparison": compared_options(run),
        "fairness": fairness(card(run)),
        "skipped": list(facts.skipped or ()),
        "left_out": list(facts.left_out or ()),
        "find_rate": list(facts.find_rate or ()),
        **limits,
        **sessions,
        **events,
        "environment": run.environment,
        "trials": trials,
        "client_libraries": library_costs(trials),
        "connection_memory": connection_memory(trials),
        "scalability": sweeps(run),
    }


def json_document(run: Run) -> dict[str, object]:
    """Return the document of a run as plain JSON values, as `dbdyno show --json` prints it."""
    run_document = document(run)
    return {**run_document, "trials": [{**trial, **_plain(trial)} for trial in run_document["trials"]]}


def _plain(concluded: ConcludedDocument) -> dict[str, object]:
    verdict, budget = concluded["verdict"], concluded["time_budget"]
    queries = {name: own.document() for name, own in concluded.get("query_verdicts", {}).items()}
    return {
        "verdict": verdict.document() if verdict else None,
        "time_budget": budget.document() if budget else None,
        "locks": concluded["locks"].document(),
        **({"query_verdicts": queries} if queries else {}),
    }


def in_reading_order(run: Run) -> Sequence[Trial]:
    """Return the trials as a person reads them: by system and load, even if they ran in random order."""
    if not any((trial.facts.repeat or 1) > 1 or trial.facts.crash for trial in run.trials):
        return run.trials
    labels, workloads = run.labels, list(run.facts.workloads)

    def reading_order(trial: Trial) -> tuple[float, ...]:
        facts = trial.facts
        if trial.system is None:
            return (len(labels),)
        workload = workloads.index(facts.workload) if facts.workload in workloads else len(workloads)
        # The steps of a rate search, which have one rate each, stay in their order.
        rate = 0.0 if run.facts.find_rate else load_of({"clients": facts.clients, "rate": facts.rate}).per_s
        pipeline = facts.pipeline or 1
        way = pipeline, facts.network_delay_us or 0
        return labels.index(trial.label), workload, *way, facts.clients or 0, rate, facts.repeat or 1

    return sorted(run.trials, key=reading_order)


def fairness(fairness_card: Card) -> FairnessDocument:
    """Return the fairness card as plain JSON values."""
    return {
        "command": fairness_card.command,
        "badge": fairness_card.badge,
        "systems": [
            {
                "label": system.label,
                "badges": list(system.badges),
                "card": {line.name: line.text for line in system.lines},
            }
            for system in fairness_card.systems
        ],
        "not_seen": list(fairness_card.not_seen),
        "short": short(fairness_card),
    }
