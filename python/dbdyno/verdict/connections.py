"""The limit that a server's connections are: it refuses clients or lets them wait (docs/statistics.md, section 5.4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dbdyno.results.facts import TrialFacts
    from dbdyno.verdict.evidence import Measured

SETTINGS = ("max_connections", "maxclients", "maxconns")
"""Settings for how many connections a server takes."""
REFUSALS = (
    *("too many connections", "too many open connections", "too many clients", "connection slots"),
    "max number of clients",
)
"""Parts of what servers say to a client that is one too many, in small letters."""
REFUSING = 0.5
"""Share of the seconds in which a server refused a client: a moment of it limits nothing."""
REFUSED = 0.05
"""Share of the connections that clients tried to open and that a server refused."""
NOT_ACCEPTING = 0.1
"""Share of the time in which a server accepted no connection."""
SENT_AGAIN_AFTER_S = 1.0
"""Seconds after which a kernel asks again for a connection that found the server's queue full (RFC 6298, section 2)."""
WAITING = 0.3
"""Share of the operations in flight that wait so."""
CONNECT = "connect"
"""The operation of a client that opens a connection in the time of a transaction."""


def is_refusal(message: str) -> bool:
    """Return whether a server says in a message that it has too many connections."""
    return any(words in message.lower() for words in REFUSALS)


def setting_of(facts: TrialFacts) -> str | None:
    """Return the setting that limits connections to the servers, as `name=value`; `None` if none shows it."""
    settings = (server.effective_settings or {} for server in facts.known_servers)
    return next((f"{name}={own[name]}" for own in settings for name in SETTINGS if name in own), None)


def connections(measured: Measured) -> Iterator[str]:
    """Yield what says that clients were refused by a server, or waited for it to accept their connections."""
    yield from _refused(measured)
    for server in measured.trial.server_names:
        stopped = measured.rate(f"store.{server}.listening_stopped_s_total") or 0.0
        if stopped >= NOT_ACCEPTING:
            yield f"{server} accepted no connection {min(1.0, stopped):.0%} of the time{_setting(measured)}"
    yield from _overflown(measured)


def _refused(measured: Measured) -> Iterator[str]:
    """The load client counts failures by kind, and keeps the first messages of each."""
    recorded = measured.trial.recorded
    said = {error["kind"]: error["message"] for error in recorded.errors if is_refusal(error["message"])}
    refused = [sum(interval.errors.get(kind, 0) for kind in said) for interval in recorded.measured]
    seconds = sum(count > 0 for count in refused)
    opened = recorded.sums.operations.get(CONNECT, (0, 0))[0]
    total = sum(interval.errors.get(kind, 0) for interval in recorded.intervals for kind in said)
    if not seconds or seconds < REFUSING * len(refused) or total < REFUSED * (total + opened):
        return
    per_s = sum(refused) / recorded.seconds
    words = next(iter(said.values())).rpartition(": ")[2].strip('"')
    yield f"the server refused {per_s:,.3g} connections/s with '{words}'{_setting(measured)}"


def _overflown(measured: Measured) -> Iterator[str]:
    """By Little's law, as many operations wait for the kernel to ask again as asked in vain in the time until then."""
    per_s = measured.rate("network.listen_overflows_total") or 0.0
    opens = CONNECT in measured.trial.recorded.sums.operations
    if opens and per_s * SENT_AGAIN_AFTER_S >= WAITING * measured.trial.facts.transactions_in_flight:
        after = f"the kernel repeats each after {SENT_AGAIN_AFTER_S:.0f} s"
        yield f"{per_s:,.0f} connections/s found the queue of new connections full, and {after}"


def _setting(measured: Measured) -> str:
    setting = setting_of(measured.trial.facts)
    return f" ({setting})" if setting else ""
