"""The hosts that issued the load of each trial or ran its server, and their clocks (docs/several-hosts.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypedDict

from dbdyno.report.core.section import Part, Section
from dbdyno.results.facts import client_host

if TYPE_CHECKING:
    from dbdyno.report.core.page import Page
    from dbdyno.report.core.trial_documents import TrialDocument


def part(page: Page) -> Part | None:
    """Return a row for each host of each trial; `None` if this host did everything itself."""
    rows = [row for trial in page.document["trials"] for row in _rows(trial)]
    return Part({"client_hosts": rows}) if rows else None


class _Row(TypedDict):
    """A host of a trial, in words."""

    trial: str
    name: str
    hostname: str
    role: str
    clients: int | str
    servers: str
    per_s: str
    offset: str
    error: str
    drift: str
    skew: str
    idle_round_trip: str
    round_trip: str
    retransmits: str
    sent: str
    received: str
    problem: str


def _rows(trial: TrialDocument) -> Iterator[_Row]:
    for host in trial.get("hosts", ()):
        clock, client = host["clock_before"], client_host(host)
        network: Mapping[str, Any] = (client.get("network") if client else None) or {}
        link: Mapping[str, Any] = host.get("link") or {}
        yield {
            "trial": trial["trial"],
            "name": host["name"],
            "hostname": host["hostname"],
            "role": host.get("role", "client"),
            "clients": client["clients"]["count"] if client else "–",
            "servers": ", ".join(host.get("servers", ())) or "–",
            "per_s": _figure(client.get("transactions_per_s") if client else None),
            "offset": _seconds(clock["offset_s"] if clock else None),
            "error": _milliseconds(clock["error_s"] if clock else None),
            "drift": _milliseconds(host["drift_s"]),
            "skew": _milliseconds(client.get("start_skew_s") if client else None),
            "idle_round_trip": _from_us(network.get("idle_round_trip_us")),
            "round_trip": _from_us(network.get("round_trip_us")),
            "retransmits": _figure(network.get("retransmits")),
            "sent": _of_link(network.get("sent_bytes_per_s"), link.get("sends_bytes_per_s")),
            "received": _of_link(network.get("received_bytes_per_s"), link.get("receives_bytes_per_s")),
            "problem": host["problem"] or "",
        }


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def _of_link(per_s: float | None, capacity_per_s: float | None) -> str:
    """Return how much a host sent or received, and what its link carried before the load, in MB/s."""
    words = ["–" if value is None else f"{value / 1e6:,.1f}" for value in (per_s, capacity_per_s)]
    return "–" if words == ["–", "–"] else " of ".join(words)


def _seconds(value_s: float | None) -> str:
    return "–" if value_s is None else f"{value_s:+,.6f}"


def _from_us(value_us: float | None) -> str:
    return _milliseconds(None if value_us is None else value_us * 1e-6)


def _milliseconds(value_s: float | None) -> str:
    return "–" if value_s is None else f"{1000 * value_s:.3f}"


SECTION = Section("client_hosts.html.j2", part)
