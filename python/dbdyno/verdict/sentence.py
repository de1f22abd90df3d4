"""What limited a trial, in one sentence for a person: the limit, its evidence in figures, the runner-up, how sure."""

from __future__ import annotations

from dbdyno.results.model import Trial
from dbdyno.verdict.evidence import Measured, others
from dbdyno.verdict.limit import (
    CLIENT,
    COMMIT,
    DISK,
    FOLLOWED_TOO_FAR,
    LOCK,
    NETWORK,
    RATE,
    SERVER_CPU,
    UNEXPLAINED,
    Limited,
)
from dbdyno.verdict.locks import locks_of

_BEGINS = {
    CLIENT: "Limited by the client",
    NETWORK: "Limited by the network",
    SERVER_CPU: "Limited by the server's CPU",
    DISK: "Limited by the disk",
    LOCK: "Limited by locks",
    COMMIT: "Limited by the flush at commit",
    RATE: "Limited by nothing but the rate asked for",
    UNEXPLAINED: "What limited it is not known",
}
_WERE = {
    CLIENT: "in the client or waiting for its CPU",
    NETWORK: "between an idle client and a server that waited for it",
    SERVER_CPU: "on the server's CPU or waiting for it",
    DISK: "waiting for the disk",
    LOCK: "waiting for a lock",
    COMMIT: "waiting for a commit to be flushed",
    UNEXPLAINED: "where nothing that was seen accounts for them",
}
NAMES = {
    CLIENT: "the client",
    NETWORK: "the network",
    SERVER_CPU: "the server's CPU",
    DISK: "the disk",
    LOCK: "locks",
    COMMIT: "the flush at commit",
    RATE: "the rate asked for",
    UNEXPLAINED: "unexplained",
}


def evidence_of(trial: Trial, found: Limited) -> list[str]:
    """Return what speaks for a limit, each a few words with figures."""
    said = []
    if found.limit == RATE:
        said.append(
            f"{trial.recorded.throughput_per_s:,.0f}/s were done of {trial.recorded.offered_per_s:,.0f}/s offered"
        )
    elif found.in_flight:
        share = found.held / found.in_flight
        said.append(
            f"{found.held:.1f} of {found.in_flight:.1f} operations in flight ({share:.0%}) were {_WERE[found.limit]}"
        )
    if found.limit in (LOCK, COMMIT) and (locks := locks_of(trial)):
        said.append(f"waited for most: {locks[0].words}")
    said += (*found.signs, *found.figures)
    measured = Measured.of(trial)
    if found.limit != RATE and measured and (disturbed := others(measured)):
        said.append(disturbed)
    if stalls := stalls_of(trial):
        said.append(stalls)
    if confirmed := confirmation_of(trial, found):
        said.append(confirmed)
    return said


def sentence_of(trial: Trial, found: Limited) -> str:
    """Return the sentence."""
    next_ = ""
    if found.runner_up:
        next_ = f"; next: {NAMES[found.runner_up]} ({found.runner_up_held / found.in_flight:.0%})"
    return f"{_BEGINS[found.limit]} (confidence {found.confidence}): {'; '.join(evidence_of(trial, found))}{next_}."


def stalls_of(trial: Trial) -> str | None:
    """Return how long it stood still, or `None` where it did not (METHODS §4)."""
    even = trial.recorded.stability
    if not even.seconds_below_tenth:
        return None
    still = even.longest_without_completion_s
    longest = f", for {still} s on end without a completion" if still else ""
    return f"{even.seconds_below_tenth} of {even.seconds} s were below a tenth of the median{longest}"


def confirmation_of(trial: Trial, found: Limited) -> str | None:
    """Return what became of throughput with less of what limited it, or why that could not be tried; else `None`."""
    tried = trial.confirmation
    if not tried or tried.get("limit") != found.limit:
        return None
    if tried.get("why_not"):
        return f"not confirmed: {tried['why_not']}"
    else_too = ", so something else slowed it too" if tried["followed"] > FOLLOWED_TOO_FAR else ""
    return (
        f"with {tried['taken']:.0%} of it taken away ({tried['how']}) throughput changed by "
        f"{tried['throughput_per_s'] / tried['before_per_s'] - 1:+.0%}{else_too}"
    )
