"""Identities of every trial's counters (docs/statistics.md, section 9), and the sentences for broken ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dbdyno.results.groups import warnings_of_groups
from dbdyno.results.pools import warnings_of_pools

if TYPE_CHECKING:
    from dbdyno.results.facts import TrialFacts
    from dbdyno.results.model import Recorded

LITTLE_TOLERANCE = 0.02


def warnings_of(recorded: Recorded, facts: TrialFacts, client_limited: str | None) -> tuple[str, ...]:
    """Return a sentence for each thing that does not add up or makes the figures less than they seem.

    Args:
        facts: of `trial.json`.
        client_limited: the signs that the load client limited the store (client_limit.py), or `None`.
    """
    limited = (f"limited by the client: {client_limited}",) if client_limited else ()
    behind = (*_behind(recorded), *warnings_of_groups(recorded, facts), *warnings_of_pools(facts))
    return (*_sums(recorded), *_shape(recorded, facts), *_little(recorded, facts), *behind, *limited)


def _sums(recorded: Recorded) -> Iterator[str]:
    total = recorded.total
    if total is None:
        return
    transactions = total["transactions"]
    ended = transactions["completed"] + transactions["failed"] + transactions["unfinished"]
    if transactions["scheduled"] != ended:
        yield f"{transactions['scheduled']} transactions were begun but {ended} accounted for: a bug in the load client"
    sums = recorded.sums
    if (due := sums.scheduled) is not None and due != transactions["scheduled"]:
        stated = transactions["scheduled"]
        yield f"the seconds add up to {due} arrivals, the total says {stated}: a bug in the load client"
    pairs = [
        ("transactions completed", sums.completed, transactions["completed"]),
        ("transactions failed", sums.failed, transactions["failed"]),
        ("reads_verified", sums.reads_verified, total["reads_verified"]),
        ("mismatches", sums.mismatches, total["mismatches"]),
        ("conflicts", sums.conflicts, transactions.get("conflicts", 0)),
    ]
    for name, operation in total["operations"].items():
        completed, failed = sums.operations.get(name, (0, 0))
        pairs += [(f"{name} completed", completed, operation["completed"])]
        pairs += [(f"{name} failed", failed, operation["failed"])]
    for what, summed, stated in pairs:
        if summed != stated:
            yield f"the seconds add up to {summed} {what}, the total says {stated}: a bug in the load client"


def _shape(recorded: Recorded, facts: TrialFacts) -> Iterator[str]:
    hello, planned_s = recorded.hello, facts.seconds
    if hello and hello.get("profile") == "debug":
        yield "the load client is a debug build: its figures say nothing about the store"
    if wrong := recorded.sums.mismatches:
        yield f"{wrong} read{'s' if wrong > 1 else ''} returned something other than was written"
    profiled = [interval for interval in recorded.intervals if interval.profiled]
    profiled_s = sum(interval.seconds for interval in profiled)
    if profiled and facts.profiled:
        which = f"{profiled_s:.0f} s from second {profiled[0].second} on"
        yield f"{which} are in no figure: stacks were recorded, as {facts.profiled['reason']}"
    if planned_s and recorded.intervals and recorded.seconds + profiled_s < planned_s - 0.5:
        yield f"measured for {recorded.seconds:.1f} of {planned_s} s"
    if note := facts.client_ceiling_note:
        yield f"the client's ceiling is unknown: {note}"


def _little(recorded: Recorded, facts: TrialFacts) -> Iterator[str]:
    """Little's law: in a closed loop without errors, clients × pipeline = transactions in flight, on average.

    Taken from the load client's own sum over all transactions, those that straddle the run's end with their part in
    it: throughput × mean service time of the measured seconds is off by whatever straddles them.
    """
    in_flight = recorded.total.get("in_flight_mean") if recorded.total else None
    asked = facts.transactions_in_flight
    errors = any(interval.errors or interval.failed for interval in recorded.intervals)
    if errors or not (in_flight and asked) or recorded.offered is not None or facts.is_pausing:
        return
    if abs(in_flight / asked - 1) > LITTLE_TOLERANCE:
        yield f"{in_flight:.3g} transactions were in flight on average, not {asked}: clients were busy elsewhere"


def _behind(recorded: Recorded) -> Iterator[str]:
    """Report load that a store could not follow: response times then mostly show how long the trial was."""
    if recorded.followed is not False:
        return
    transactions = recorded.total["transactions"] if recorded.total else None
    left = f"; {transactions['unfinished']:,} arrivals had not ended when time was up" if transactions else ""
    never = transactions.get("never_begun") if transactions else None
    begun = f", {never:,} of them not even begun" if never else ""
    yield (
        f"could not follow: {recorded.offered_per_s:,.0f}/s offered, {recorded.throughput_per_s:,.0f}/s achieved; "
        f"{recorded.behind}{left}{begun}, so response times mainly say how long the trial was"
    )
