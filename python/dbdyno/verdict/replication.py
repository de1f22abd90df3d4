"""The limit that other nodes are: commits that wait for them, or that they refuse (docs/statistics.md, section 5.4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dbdyno.verdict.locks import locks_of

if TYPE_CHECKING:
    from dbdyno.verdict.evidence import Measured

REPLICA_WAITS = ("syncrep", "semi-sync ack", "waiting for certification", "waiting for flow control")
"""Parts of the names that servers have for waiting for another node, in small letters."""
WAITING = 0.3
"""Share of the operations in flight that wait for another node."""
PAUSED = 0.1
"""Share of the time that a node was not allowed to send changes to its group."""
REFUSED = 0.05
"""Share of the commits that a group refused, or undid for another node's."""


def replication(measured: Measured) -> Iterator[str]:
    """Yield what says that commits waited for other nodes, or were refused by them."""
    in_flight = measured.trial.facts.transactions_in_flight
    for lock in locks_of(measured.trial):
        waits = any(name in lock.name.lower() for name in REPLICA_WAITS)
        if waits and lock.waiting is not None and lock.waiting >= WAITING * in_flight:
            yield f"{lock.waiting:.1f} commits on {lock.server} waited for another node ({lock.name})"
    for server in measured.trial.server_names:
        counted = f"store.{server}.galera_"
        paused = measured.rate(f"{counted}paused_s_total") or 0.0
        if paused >= PAUSED:
            yield f"flow control paused {server} {min(1.0, paused):.0%} of the time"
        commits = measured.rate(f"{counted}commits_total") or 0.0
        refused = [
            measured.rate(f"{counted}{what}_total") or 0.0 for what in ("certification_failures", "aborted_for_another")
        ]
        if sum(refused) >= REFUSED * (commits + sum(refused)) > 0:
            failed, aborted = refused
            also = f"{failed:,.1f}/s failed certification and {aborted:,.1f}/s gave way to another node's"
            yield f"{server} committed {commits:,.0f} transactions/s, {also}"
