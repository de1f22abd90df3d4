"""The verdict in words for a person: a sentence of limit, evidence, runner-up and confidence, and what to try next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dbdyno.results.conclusions import Verdict
from dbdyno.verdict.decision import FOLLOWED_TOO_FAR, Limited
from dbdyno.verdict.evidence import Measured, others
from dbdyno.verdict.hosts import by_host, named
from dbdyno.verdict.limits import LIMITS, RATE, noun_of
from dbdyno.verdict.locks import locks_of
from dbdyno.verdict.next_steps import next_steps

if TYPE_CHECKING:
    from dbdyno.results.model import Trial


def verdict_of(trial: Trial, decided: Limited) -> Verdict:
    """Return the verdict that a decision is."""
    return Verdict(
        limit=decided.limit,
        sentence=sentence_of(trial, decided),
        evidence=tuple(evidence_of(trial, decided)),
        runner_up=decided.runner_up,
        confidence=decided.confidence,
        next=next_steps(trial, decided),
    )


def evidence_of(trial: Trial, decided: Limited) -> list[str]:
    """Return what speaks for a limit, each a few words with figures."""
    limit, evidence, recorded = LIMITS[decided.limit], [], trial.recorded
    if recorded.offered_per_s:
        behind = "" if recorded.followed else "it could not follow: "
        done = f"{recorded.throughput_per_s:,.0f}/s completed of {recorded.offered_per_s:,.0f}/s offered"
        evidence.append(behind + done)
    if decided.limit != RATE and decided.in_flight:
        share = decided.held / decided.in_flight
        operations = f"{decided.held:.1f} of {decided.in_flight:.1f} operations in flight ({share:.0%})"
        evidence.append(f"{operations} were {limit.held_of(trial.embedded)}")
    if limit.names_lock and (locks := locks_of(trial)):
        evidence.append(f"most waits: {locks[0].words}")
    evidence += (*decided.signs, *decided.figures)
    measured = Measured.of(trial)
    if decided.limit != RATE and measured:
        for host, own in by_host(measured):
            evidence += named(host, filter(None, [others(own)]))
    if stalls := stalls_of(trial):
        evidence.append(stalls)
    if confirmed := confirmation_of(trial, decided):
        evidence.append(confirmed)
    return evidence


def sentence_of(trial: Trial, decided: Limited) -> str:
    """Return the sentence."""
    runner_up = ""
    if decided.runner_up:
        share = decided.runner_up_held / decided.in_flight
        runner_up = f"; next: {noun_of(decided.runner_up, trial.embedded)} ({share:.0%})"
    opening = LIMITS[decided.limit].opening_of(trial.embedded)
    evidence = "; ".join(evidence_of(trial, decided))
    return f"{opening} (confidence {decided.confidence}): {evidence}{runner_up}."


def stalls_of(trial: Trial) -> str | None:
    """Return how long it stalled, or `None` if it did not (docs/statistics.md, section 4)."""
    if (stalls := trial.recorded.stalls) and stalls.notable:
        if stalls.count == 1:
            return f"one stall of {stalls.longest_ms:,.0f} ms"
        longest = f"the longest of {stalls.count} stalls lasted {stalls.longest_ms:,.0f} ms"
        return f"{longest}; together they took {stalls.share:.1%} of the time"
    stability = trial.recorded.stability
    if not stability.seconds_below_tenth:
        return None
    stall_s = stability.longest_without_completion_s
    longest = f"; longest stall {stall_s} s" if stall_s else ""
    return f"{stability.seconds_below_tenth} of {stability.seconds} s were below a tenth of the median{longest}"


def confirmation_of(trial: Trial, decided: Limited) -> str | None:
    """Return what became of throughput with less of what limited it, or why that could not be tried; else `None`."""
    confirmation = trial.confirmation
    if not confirmation or confirmation.limit != decided.limit:
        return None
    if not (tried := confirmation.tried):
        return f"not confirmed: {confirmation.why_not}"
    also = ", so something else slowed it too" if tried.followed > FOLLOWED_TOO_FAR else ""
    change = tried.throughput_per_s / tried.before_per_s - 1
    how = tried.how if confirmation.taken is None else f"{confirmation.taken:.0%} of it removed ({tried.how})"
    return f"with {how}, throughput changed by {change:+.0%}{also}"
