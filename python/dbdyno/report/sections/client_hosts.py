"""The hosts that issued the load of each trial or ran its server, and their clocks (docs/several-hosts.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dbdyno.report.core.page import Page
from dbdyno.report.core.section import Part, Section


def part(page: Page) -> Part | None:
    """Return a row for each host of each trial; `None` if this host did everything itself."""
    rows = [row for trial in page.document["trials"] for row in _rows(trial)]
    return Part({"client_hosts": rows}) if rows else None


def _rows(trial: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for host in trial.get("hosts", ()):
        clock, network = host["clock_before"] or {}, host.get("network") or {}
        yield {
            "trial": trial["trial"],
            "name": host["name"],
            "hostname": host["hostname"],
            "role": host.get("role", "client"),
            "clients": host["clients"]["count"] if "clients" in host else "–",
            "offset": _seconds(clock.get("offset_s")),
            "error": _milliseconds(clock.get("error_s")),
            "drift": _milliseconds(host["drift_s"]),
            "skew": _milliseconds(host.get("start_skew_s")),
            "idle_round_trip": _from_us(network.get("idle_round_trip_us")),
            "round_trip": _from_us(network.get("round_trip_us")),
            "retransmits": "–" if (again := network.get("retransmits")) is None else f"{again:,.0f}",
            "problem": host["problem"] or "",
        }


def _seconds(value_s: float | None) -> str:
    return "–" if value_s is None else f"{value_s:+,.6f}"


def _from_us(value_us: float | None) -> str:
    return _milliseconds(None if value_us is None else value_us * 1e-6)


def _milliseconds(value_s: float | None) -> str:
    return "–" if value_s is None else f"{1000 * value_s:.3f}"


SECTION = Section("client_hosts.html.j2", part)
