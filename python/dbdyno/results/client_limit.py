"""Decide if the load client limited a trial, whose figure is then a lower bound (docs/statistics.md, section 5.3)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from dbdyno.results.facts import client_host

if TYPE_CHECKING:
    from dbdyno.results.facts import TrialFacts
    from dbdyno.results.json_types import ClientHostStated
    from dbdyno.results.model import LoadThread, Recorded

CEILING_SHARE = 0.75
CEILING_BELIEVED = 1.1
"""No store outruns a server that does nothing: beyond this, something else slowed the second it was measured in."""
BUSY_LOAD_THREADS = 0.9
WORKING = 0.75
"""Share of the time that a load thread is on a processor in a trial near the ceiling. An idle thread does not hold the
store up: both were measured over the same slow link, or on processors that others had."""


def majority(limited: Collection[bool]) -> bool:
    """Return whether more than half of a side's trials were limited: then the side's figure is a lower bound.

    One such trial of five moves a mean a little; it does not decide it (docs/statistics.md, section 3.1).
    """
    return 2 * sum(limited) > len(limited)


def client_limited(recorded: Recorded, facts: TrialFacts, embedded: bool) -> str | None:
    """Return the signs that a trial was limited by its client, or `None` if it was not.

    An open loop that was followed did what it was asked, whatever the client could have done beyond. An embedded store
    works in the load client's own threads, so these being busy says nothing.

    Args:
        facts: of `trial.json`.
        embedded: the store runs in the load client's own threads.
    """
    if _does_not_count(recorded, embedded):
        return None
    signs = [sign for sign in (_near_ceiling(recorded, facts, CEILING_SHARE), _busy(recorded, facts)) if sign]
    return " and ".join(signs) + ", so the store may do more" if signs else None


def saturated_client(recorded: Recorded, facts: TrialFacts, embedded: bool) -> str | None:
    """Return the sign that the client had next to nothing to spare, or `None` if it had.

    Three quarters of what it reaches alone bound its figure from below; they are not all that it can do.
    """
    if _does_not_count(recorded, embedded):
        return None
    return _busy(recorded, facts) or _near_ceiling(recorded, facts, BUSY_LOAD_THREADS)


def _does_not_count(recorded: Recorded, embedded: bool) -> bool:
    return recorded.followed or recorded.seconds <= 0 or embedded


def _near_ceiling(recorded: Recorded, facts: TrialFacts, least_share: float) -> str | None:
    ceiling, reached = facts.client_ceiling_per_s, recorded.throughput_per_s or 0.0
    if not ceiling or not least_share * ceiling <= reached <= CEILING_BELIEVED * ceiling:
        return None
    if _busiest(recorded) < WORKING:
        return None
    return f"it reached {reached / ceiling:.0%} of the {ceiling:,.0f}/s that its client reaches on a null server"


def _busy(recorded: Recorded, facts: TrialFacts) -> str | None:
    return _busy_hosts(recorded, facts) or _busy_load_threads(recorded, facts)


def _busiest(recorded: Recorded) -> float:
    """Return which share of the time the busiest load thread was on a processor."""
    threads = (recorded.hello.get("threads") if recorded.hello else None) or 1
    together = sum(interval.client_cpu_s for interval in recorded.measured) / recorded.seconds / threads
    return max([together, *(thread.cpu_share for thread in recorded.load_threads)])


def threads_by_host(recorded: Recorded, facts: TrialFacts) -> list[tuple[ClientHostStated, Sequence[LoadThread]]]:
    """Return each client host with its load threads, which were recorded in the hosts' order; none if not all are."""
    hosts = [host for host in map(client_host, facts.hosts or ()) if host]
    counts = [host.get("load_threads") or 0 for host in hosts]
    if not hosts or not all(counts) or sum(counts) != len(recorded.load_threads):
        return []
    ends = list(accumulate(counts))
    return [
        (host, recorded.load_threads[end - count : end]) for host, count, end in zip(hosts, counts, ends, strict=True)
    ]


def _busy_hosts(recorded: Recorded, facts: TrialFacts) -> str | None:
    """Return which client hosts' load threads, or one of them, were nearly all they could be, else `None`."""
    signs = []
    for host, threads in threads_by_host(recorded, facts):
        shares = [thread.cpu_share for thread in threads]
        busy = sum(shares) / max(1, min(len(shares), host["processors"]))
        if busy >= BUSY_LOAD_THREADS:
            signs.append(f"the load threads on {host['name']} were {busy:.0%} busy")
        elif max(shares, default=0.0) >= BUSY_LOAD_THREADS:
            signs.append(f"the busiest load thread on {host['name']} was {max(shares):.0%} busy")
    return " and ".join(signs) or None


def _busy_load_threads(recorded: Recorded, facts: TrialFacts) -> str | None:
    """Return how busy the load threads were, if all or one of them were nearly saturated, else `None`.

    One that is busy holds its own clients back, however idle the others are.
    """
    hello = recorded.hello
    threads = hello.get("threads") if hello else None
    if not hello or not threads:
        return None
    able = min(threads, hello.get("processors") or threads, len(facts.client_cpus or ()) or threads)
    busy = sum(interval.client_cpu_s for interval in recorded.measured) / recorded.seconds / able
    if busy >= BUSY_LOAD_THREADS:
        return f"its load threads were {busy:.0%} busy"
    busiest = max((thread.cpu_share for thread in recorded.load_threads), default=0.0)
    return f"the busiest of its {threads} load threads was {busiest:.0%} busy" if busiest >= BUSY_LOAD_THREADS else None
