"""The limit that a trial had, of those in the table, and how sure that is (docs/statistics.md, section 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dbdyno.results.client_limit import saturated_client
from dbdyno.verdict import engine
from dbdyno.verdict.budget import AT_WORK, TimeBudget, injected_waits, stalled_seconds
from dbdyno.verdict.client import signs_of_client
from dbdyno.verdict.evidence import OF_ALL_HOSTS, Measured
from dbdyno.verdict.hosts import by_host, named
from dbdyno.verdict.limits import (
    CHECKPOINT,
    CLIENT,
    COMMIT,
    HOST_CPU,
    LIMIT_OF,
    LIMITS,
    LOCK,
    MOST,
    NETWORK,
    OTHERS,
    RATE,
    SERVER_CPU,
    SERVER_QUEUE,
    SERVER_THREAD,
    STALLS,
    UNEXPLAINED,
    Evidence,
)
from dbdyno.verdict.processors import Consumers, Full, full_processors, taken_share, taken_threads

if TYPE_CHECKING:
    from dbdyno.results.confirmation import Confirmation
    from dbdyno.results.model import Trial

_MAY_STALL = frozenset({UNEXPLAINED, SERVER_QUEUE, SERVER_CPU, SERVER_THREAD})
"""Limits that a stalling store shows: no operation waits for anything named, and in between the store works."""

_ON_PROCESSORS = frozenset(band for band, limit in LIMIT_OF.items() if limit in (CLIENT, SERVER_CPU))
"""Bands of operations on a processor, or waiting for one."""
QUEUED = 0.3
"""Share of the operations in flight queued in front of the server: they wait for it, wherever the others are."""
QUEUED_FOR_LOCKS = 0.2
"""Share of the operations that wait for locks while processors are full, from which on neither is sure."""
WORTH_NAMING = 0.05
"""A runner-up that holds less is none."""
STALLED_SHARE = 0.05
"""Share of the seconds almost without throughput: from there on, stalls come before what limits the others."""
LONGER_THAN_USUAL = 3
"""Times the median service time, that the longest stall must last."""
THROTTLED_MOSTLY = 0.2
"""Share of the time that a quota stops the client. In between, its requests come in bursts that keep a server busy."""
FOLLOWED_ENOUGH, HARDLY_FOLLOWED = 0.5, 0.25
"""Shares of a resource's reduction by which throughput must fall to confirm the limit, or to speak against it."""
FOLLOWED_TOO_FAR = 2.0
"""If throughput lost more than twice the reduction, something else slowed it too, and the check is inconclusive."""


@dataclass(frozen=True, slots=True)
class Limited:
    """The limit of one trial.

    Attributes:
        limit: its name in the table of limits.
        held: how many operations in flight it held, of the `in_flight` there were, on average.
        signs: what else speaks for it, with figures.
        figures: what shows how it was, and speaks for nothing.
        runner_up, runner_up_held: what held the second most; `None` if nothing worth naming did.
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


def limited(trial: Trial, budget: TimeBudget, inside: bool = True) -> Limited:
    """Return what limited a trial that ran to its end.

    In this order: the rate, if it was followed; a limit inside the storage engine; stalls that nothing explains; else
    what holds the most operations, of those with evidence. A full resource takes the operations
    that queue for it. The client is named only if it was observed to be full, or held back while processors were idle.

    inside: a limit inside the storage engine may be it.
    """
    measured = Measured.of(trial)
    held = _held(budget)
    full = _full(measured) if measured else None
    signs = _signs(trial, measured, full)
    link_is_full = bool(signs[NETWORK])
    signs[NETWORK] += _injected(trial, budget)
    if full:
        signs[full.limit] = full.signs
    throttled = measured is not None and (measured.rate("cgroup.client.throttled_s_total") or 0.0) >= THROTTLED_MOSTLY
    contenders = _contenders(held, full, signs, throttled)
    if link_is_full and not full and not signs[CLIENT]:
        # Its sockets have data that waits for the link.
        contenders[NETWORK] = contenders.get(NETWORK, 0.0) + contenders.pop(UNEXPLAINED, 0.0)
    if measured and not full and not signs[CLIENT]:
        _give_to_taken_threads(measured, contenders, signs)
    if to_log := _log_writes(measured):
        # Who waits to write to a log that waits for a disk waits for what commits do.
        contenders[COMMIT] = contenders.get(COMMIT, 0.0) + contenders.pop(LOCK, 0.0)
        signs[COMMIT] = (*to_log, *signs[COMMIT])
    winner, amount = max(contenders.items(), key=lambda item: item[1])
    limit = winner
    if trial.recorded.followed:
        limit = RATE
    elif measured and inside and (engine_limit := _engine(measured, budget, winner, full)):
        limit, signs[engine_limit[0]] = engine_limit
    elif stalls := unexplained_stalls(trial, budget) or _short_stalls(trial, winner, full):
        limit, signs[STALLS] = STALLS, (stalls,)
    stalled = held.get(UNEXPLAINED, 0.0) + held.get(SERVER_QUEUE, 0.0)
    amount = {RATE: 0.0, STALLS: stalled}.get(limit, amount)
    # The engine's own work shows as another limit, and that one is no runner-up.
    seen_as = {RATE: RATE, STALLS: UNEXPLAINED}.get(limit, winner)
    rest = {name: value for name, value in contenders.items() if name != seen_as} or {UNEXPLAINED: 0.0}
    second = max(rest, key=lambda name: rest[name])
    named = second if rest[second] >= WORTH_NAMING * budget.in_flight else None
    share = amount / budget.in_flight if budget.in_flight else 0.0
    rival = " and ".join(_rivals(trial, full, held).get(limit, ()))
    sure = _confidence(limit, share, bool(signs.get(limit)), trial.confirmation, trial.embedded, bool(rival))
    if winner == OTHERS != limit and sure == "high":
        sure = "medium"
    return Limited(
        *(limit, amount, budget.in_flight, (*signs.get(limit, ()), *([rival] if rival else []))),
        _said(LIMITS[limit].figures, measured),
        *(named, rest[second] if named else 0.0, sure),
    )


def _full(measured: Measured) -> Full | None:
    """Return which processors or threads were full, of the first server host that has such; all that are so sign."""
    fulls = [(host, full) for host, own in by_host(measured) if (full := full_processors(own))]
    if not fulls:
        return None
    limit = fulls[0][1].limit
    return Full(limit, tuple(sign for host, full in fulls if full.limit == limit for sign in named(host, full.signs)))


def _rivals(trial: Trial, full: Full | None, held: Mapping[str, float]) -> Mapping[str, list[str]]:
    """Return what else was saturated, by the limit that it makes doubtful.

    A server is sure beside a client with a tenth to spare; a client is not sure beside a full server. Full processors
    are not sure beside locks with a queue: with more of them the queue may only become longer.
    """
    rivals: dict[str, list[str]] = {}
    if full and full.limit in (SERVER_CPU, SERVER_THREAD):
        rivals[CLIENT] = [f"the server was saturated too: {full.signs[0]}"]
        if client := saturated_client(trial.recorded, trial.facts, trial.embedded):
            rivals[full.limit] = [f"the client was saturated too: {client}"]
    locked, in_flight = held.get(LOCK, 0.0), sum(held.values())
    if full and full.limit in (SERVER_CPU, HOST_CPU) and locked and locked >= QUEUED_FOR_LOCKS * in_flight:
        words = f"locks had a queue too: {locked:.1f} operations in flight ({locked / in_flight:.0%})"
        rivals.setdefault(full.limit, []).append(words)
    return rivals


def _contenders(
    held: Mapping[str, float], full: Full | None, signs: Mapping[str, tuple[str, ...]], throttled: bool
) -> dict[str, float]:
    """Return what may be the limit, and how many operations each holds.

    Operations that wait in the client for a full host's processors count for these. Those that queue in front of a
    server's threads, or are unexplained, count for a server that is full.

    throttled: a quota stops the client for much of the time.
    """
    contenders = dict(held)
    client, unexplained = contenders.pop(CLIENT, 0.0), contenders.pop(UNEXPLAINED, 0.0)
    if full:
        in_server = contenders.pop(SERVER_CPU, 0.0) + contenders.pop(SERVER_QUEUE, 0.0)
        contenders[full.limit] = contenders.get(full.limit, 0.0) + in_server
    if signs[CLIENT]:
        # With both full it is not known for whom they wait: a lower bound is the safer word. With the client alone full
        # a queue at the server is of its making: what it was held back from comes in bursts.
        contenders[CLIENT] = client + unexplained + (0.0 if full else contenders.pop(SERVER_QUEUE, 0.0))
        if throttled and not full:
            contenders[CLIENT] += contenders.pop(SERVER_CPU, 0.0)
    elif full and full.limit in (HOST_CPU, OTHERS):
        # Only for the processors on which the server was busy, or waited to be.
        waits_for_host = held.get(SERVER_CPU, 0.0) >= AT_WORK
        contenders[full.limit] += client + (unexplained if waits_for_host else 0.0)
        contenders[UNEXPLAINED] = 0.0 if waits_for_host else unexplained
    elif full:
        contenders[full.limit] += unexplained
    elif contenders.get(SERVER_QUEUE, 0.0) >= QUEUED * sum(held.values()):
        # A pool answers in bursts. A client with time to spare reads them soon, and its next requests queue.
        contenders[UNEXPLAINED] = unexplained
    else:
        contenders[UNEXPLAINED] = unexplained + client
    return contenders


def _give_to_taken_threads(measured: Measured, contenders: dict[str, float], signs: dict[str, tuple[str, ...]]) -> None:
    """Let what queues in front of threads that are always taken count for what these do, with the sign of it.

    Pauses of some microseconds are hardly ever observed, so threads at work are taken only if a queue is there, too.
    """
    least = QUEUED * sum(contenders.values())
    for limit, sign in taken_threads(measured):
        if limit == SERVER_THREAD and contenders.get(SERVER_QUEUE, 0.0) < least:
            continue
        queued = contenders.pop(SERVER_QUEUE, 0.0)
        if limit == SERVER_THREAD:
            queued += contenders.pop(SERVER_CPU, 0.0)
        contenders[limit] = contenders.get(limit, 0.0) + queued
        signs[limit] = (sign, *signs.get(limit, ()))


def _engine(
    measured: Measured, budget: TimeBudget, seen_as: str, full: Full | None
) -> tuple[str, tuple[str, ...]] | None:
    """Return the limit inside the storage engine that appears as another, and its signs; `None` if there is none."""
    if seen_as == OTHERS:
        seen_as, full = _behind_others(measured, budget, full)
    for name, limit in LIMITS.items():
        is_hidden = seen_as not in limit.seen_as or (full and not limit.if_full)
        if limit.inside and not is_hidden and (signs := _said((limit.inside,), measured)):
            return name, signs
    to_log = _said((engine.log_pressure,), measured) if seen_as == LOCK else ()
    return (CHECKPOINT, to_log) if to_log else None


def _log_writes(measured: Measured | None) -> tuple[str, ...]:
    """Return the signs that a disk delays writers of a log; none if its size does."""
    return () if _said((engine.log_pressure,), measured) else _said((engine.log_writes,), measured)


def _behind_others(measured: Measured, budget: TimeBudget, full: Full | None) -> tuple[str, Full | None]:
    """Return how a limit inside the engine appears, and what is full, if other processes fill the host.

    They come first only if they took what operations lacked: if these were on processors, or waited for one. If they
    left half of the host to the trial, the engine comes first, as on a host that the trial alone fills.
    """
    at_work = sum(value for band, value in budget.bands.items() if band in _ON_PROCESSORS)
    if at_work < MOST * budget.in_flight:
        return UNEXPLAINED, None
    every = [consumers for _, own in by_host(measured) if (consumers := Consumers.of(own))]
    took = max((max(consumers.others, consumers.stolen) / consumers.host for consumers in every), default=MOST)
    took = max(took, *(taken_share(measured, side) for side in ("server", "client")))
    return (HOST_CPU, full) if took < MOST else (OTHERS, full)


def _short_stalls(trial: Trial, seen_as: str, full: Full | None) -> str | None:
    """Return a sentence on stalls shorter than a second that take much of a trial and that nothing explains, else
    `None`."""
    stalls, p50_ns = trial.recorded.stalls, trial.recorded.service_time.percentile_ns(50)
    if seen_as not in _MAY_STALL or (seen_as in (SERVER_CPU, SERVER_THREAD) and full):
        return None
    if stalls is None or p50_ns is None or stalls.share < STALLED_SHARE:
        return None
    # Clients whose answers come together complete nothing in between, and nothing stalls.
    if stalls.longest_ms * 1e6 < LONGER_THAN_USUAL * p50_ns:
        return None
    return (
        f"nothing was completed for {stalls.share:.0%} of the time: "
        f"{stalls.per_s:.2g} stalls/s of {stalls.threshold_ms:.0f} ms or more, the longest {stalls.longest_ms:,.0f} ms"
    )


def _held(budget: TimeBudget) -> dict[str, float]:
    held: dict[str, float] = {}
    for band, value in budget.bands.items():
        held[LIMIT_OF[band]] = held.get(LIMIT_OF[band], 0.0) + value
    return held


def _signs(trial: Trial, measured: Measured | None, full: Full | None) -> dict[str, tuple[str, ...]]:
    signs = {name: _said(limit.signs, measured) for name, limit in LIMITS.items() if limit.signs}
    return signs | {CLIENT: signs_of_client(trial, full is not None and full.limit == OTHERS)}


def _said(kinds: tuple[Evidence, ...], measured: Measured | None) -> tuple[str, ...]:
    if measured is None:
        return ()
    hosts = by_host(measured)
    return tuple(
        sign
        for kind in kinds
        for host, own in ([("", measured)] if kind in OF_ALL_HOSTS else hosts)
        for sign in named(host, kind(own))
    )


def _injected(trial: Trial, budget: TimeBudget) -> tuple[str, ...]:
    """Return the sign of an injected network delay: it is known, and not inferred."""
    delay_us = trial.facts.network_delay_us
    if not delay_us:
        return ()
    waits = injected_waits(trial)[budget.measured].mean()
    return (f"{waits:.1f} waited for the injected delay of {delay_us:,} µs before each request",)


def unexplained_stalls(trial: Trial, budget: TimeBudget) -> str | None:
    """Return a sentence on stalls that take much of a trial and that no observation explains, else `None`."""
    stalled = stalled_seconds(trial) & budget.measured
    seconds, still = int(budget.measured.sum()), int(stalled.sum())
    if still < STALLED_SHARE * seconds or not still:
        return None
    # A server that is stopped reads nothing; one that works in that second has a queue for a known reason.
    works = budget.per_second["server_cpu"] + budget.per_second["server_cpu_wait"] >= AT_WORK
    dark = budget.per_second["unexplained"][stalled].sum() + budget.per_second["server_queue"][stalled & ~works].sum()
    flying = sum(values[stalled].sum() for values in budget.per_second.values())
    # Seconds without operations in flight did not stall: an open loop may have offered none.
    if not flying or dark < MOST * flying:
        return None
    return f"throughput stalled in {still} of {seconds} s; no observation explains it"


def _confidence(
    limit: str, share: float, sign: bool, confirmation: Confirmation | None, embedded: bool, rival: bool
) -> str:
    """How sure it is: a resource by its share and by being saturated, a self-evident limit by its share alone.

    An embedded store does not say itself what its threads wait for.

    rival: the other side was saturated too, so either of them may be what held throughput back.
    """
    if limit in (RATE, UNEXPLAINED, STALLS):
        return "high" if limit == RATE else "low"
    tried = confirmation.tried if confirmation and confirmation.limit == limit else None
    followed = tried.followed if tried else None
    if followed is not None and FOLLOWED_ENOUGH <= followed <= FOLLOWED_TOO_FAR:
        return "high"
    if followed is not None and followed < HARDLY_FOLLOWED:
        return "low"
    if rival:
        return "low"
    clear = share >= LIMITS[limit].clear_share
    if clear and (sign or (LIMITS[limit].self_evident and not embedded)):
        return "high"
    return "medium" if clear or sign else "low"
