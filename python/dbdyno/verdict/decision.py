"""Which limit of the table a trial had, and how sure that is (docs/statistics.md, section 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dbdyno.results.facts import JsonObject
from dbdyno.results.model import Trial
from dbdyno.verdict import evidence
from dbdyno.verdict.budget import TimeBudget, injected_waits, stalled_seconds
from dbdyno.verdict.client import only_near_ceiling, signs_of_client
from dbdyno.verdict.evidence import Measured
from dbdyno.verdict.limits import CLIENT, LIMIT_OF, LIMITS, MOST, NETWORK, RATE, SERVER_CPU, UNEXPLAINED, Evidence

HARDLY_ANY = 0.25
"""A client that holds less of the operations is doubted to limit, if all else that is seen of it is a high figure."""
WORTH_NAMING = 0.05
"""A runner-up that holds less is none."""
STALLED_SHARE = 0.05
"""Where this share of the seconds stood all but still, the stalls come before what limits the others."""
FOLLOWED_ENOUGH, HARDLY_FOLLOWED = 0.5, 0.25
"""Of what was taken away of a resource: how far throughput must follow to confirm it, and what speaks against it."""
FOLLOWED_TOO_FAR = 2.0
"""Where throughput lost more than twice what was taken away, something else slowed it too, and nothing was learned."""


@dataclass(frozen=True, slots=True)
class Limited:
    """What limited one trial.

    Attributes:
        limit: its name in the table of limits.
        held: how many operations in flight it held, of the `in_flight` there were, on average.
        signs: what else speaks for it, with figures.
        figures: what shows how it was, and speaks for nothing.
        runner_up, runner_up_held: what held the second most; `None` where nothing worth naming did.
        confidence: `high`, `medium` or `low`.
    """

    limit: str
    held: float
    in_flight: float
    signs: tuple[str, ...]
    figures: tuple[str, ...]
    runner_up: str | None
    runner_up_held: float
    confidence: str


def limited(trial: Trial, budget: TimeBudget) -> Limited:
    """Return what limited a trial that ran to its end.

    In this order: a rate that was followed is all that was asked for; the signs of a client that is the bottleneck go
    before everything else, as nothing can be said of the store then; long stalls that nothing explains; the widest
    band. Processors and disks that are all taken may be so by others.

    A figure near to what the client reaches alone is a lower bound by rule. Where the time budget has hardly anything
    in the client and names another limit, that one is named with the contradiction, and is not sure.
    """
    measured = Measured.of(trial)
    held = _held(budget)
    signs = _signs(trial, measured) | _injected(trial, budget)
    widest = _widest(held, measured)
    doubted = held.get(CLIENT, 0.0) < HARDLY_ANY * budget.in_flight and only_near_ceiling(trial)
    if trial.recorded.followed:
        limit, doubted = RATE, False
    elif signs[CLIENT] and not (doubted and widest not in (CLIENT, UNEXPLAINED)):
        limit = CLIENT
    elif stalls := unexplained_stalls(trial, budget):
        limit, signs[UNEXPLAINED] = UNEXPLAINED, (stalls,)
    else:
        limit = widest
    if doubted and limit != CLIENT:
        signs[limit] = (*signs.get(limit, ()), *(f"yet {sign}" for sign in signs[CLIENT]))
    others = {name: value for name, value in held.items() if name != limit}
    second = CLIENT if doubted and limit != CLIENT else max(others, key=lambda name: others[name])
    named = second if others[second] >= WORTH_NAMING * budget.in_flight else None
    share = held.get(limit, 0.0) / budget.in_flight if budget.in_flight else 0.0
    sure = _confidence(limit, share, bool(signs.get(limit)), trial.confirmation, doubted, trial.embedded)
    return Limited(
        *(limit, held.get(limit, 0.0), budget.in_flight, signs.get(limit, ()), _said(LIMITS[limit].figures, measured)),
        *(named, others[second] if named else 0.0, sure),
    )


def _widest(held: Mapping[str, float], measured: Measured | None) -> str:
    """The limit of the widest band; where most is unexplained the server's CPU, if the server itself could use no more:
    it must have waited in front of that."""
    widest = max(held, key=lambda name: held[name])
    used_up = widest == UNEXPLAINED and measured is not None and any(evidence.server_used_up(measured))
    return SERVER_CPU if used_up else widest


def _held(budget: TimeBudget) -> dict[str, float]:
    held: dict[str, float] = {}
    for band, value in budget.bands.items():
        held[LIMIT_OF[band]] = held.get(LIMIT_OF[band], 0.0) + value
    return held


def _signs(trial: Trial, measured: Measured | None) -> dict[str, tuple[str, ...]]:
    signs = {name: _said(limit.signs, measured) for name, limit in LIMITS.items() if limit.signs}
    return signs | {CLIENT: signs_of_client(trial)}


def _said(kinds: tuple[Evidence, ...], measured: Measured | None) -> tuple[str, ...]:
    return tuple(text for kind in kinds for text in kind(measured)) if measured else ()


def _injected(trial: Trial, budget: TimeBudget) -> dict[str, tuple[str, ...]]:
    """Return the sign of an injected network delay: it is known, and not inferred."""
    delay_us = trial.facts.network_delay_us
    if not delay_us:
        return {}
    waits = injected_waits(trial)[budget.measured].mean()
    return {NETWORK: (f"{waits:.1f} waited for the injected delay of {delay_us:,} µs before each request",)}


def unexplained_stalls(trial: Trial, budget: TimeBudget) -> str | None:
    """Return a sentence on stalls that take much of a trial and that no observation explains, else `None`."""
    stalled = stalled_seconds(trial) & budget.measured
    seconds, still = int(budget.measured.sum()), int(stalled.sum())
    if still < STALLED_SHARE * seconds or not still:
        return None
    dark = budget.per_second["unexplained"][stalled].sum()
    flying = sum(values[stalled].sum() for values in budget.per_second.values())
    # Where nothing was in flight nothing stood still: in an open loop nobody may have asked.
    if not flying or dark < MOST * flying:
        return None
    return f"throughput stalled in {still} of {seconds} s; no observation explains it"


def _confidence(
    limit: str, share: float, sign: bool, confirmation: JsonObject | None, doubted: bool, embedded: bool
) -> str:
    """How sure it is: a resource by its share and by being saturated, a self-evident limit by its share alone.

    An embedded store does not say itself what its threads wait for.
    """
    if limit in (RATE, UNEXPLAINED):
        return "high" if limit == RATE else "low"
    followed = confirmation.get("followed") if confirmation and confirmation.get("limit") == limit else None
    if followed is not None and FOLLOWED_ENOUGH <= followed <= FOLLOWED_TOO_FAR:
        return "high"
    if followed is not None and followed < HARDLY_FOLLOWED:
        return "low"
    if doubted:
        return "low"
    clear = share >= LIMITS[limit].clear_share
    if clear and (sign or (LIMITS[limit].self_evident and not embedded)):
        return "high"
    return "medium" if clear or sign else "low"
