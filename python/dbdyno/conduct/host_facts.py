"""The facts of each other host of a trial, as `trial.json` has them."""

from collections.abc import Sequence
from dataclasses import dataclass

from dbdyno.hosts.clocks import Reading, drift_s
from dbdyno.hosts.crew import Member
from dbdyno.hosts.links import Links, Rates
from dbdyno.hosts.network import Row, describe_network
from dbdyno.hosts.trial import Part
from dbdyno.results.json_types import CapacityStated, ClientHostStated, ClockStated, KnownHostStated


@dataclass(frozen=True)
class Seen:
    """The observations of a client host during a trial, beside its records.

    rows: what was observed there. load_threads: how many it said that it has. transactions_per_s: that it completed
    after the warm-up. servers: the server hosts that it measured.
    """

    rows: Sequence[Row]
    load_threads: int | None
    transactions_per_s: float | None
    servers: Sequence[str]


def describe_client(part: Part, start_unix_s: float | None, seen: Seen, links: Links) -> ClientHostStated:
    """Return what is said of a client host."""
    skew_s = part.begun_unix_s - start_unix_s if part.begun_unix_s is not None and start_unix_s is not None else None
    paths = {server: describe_link(links.paths.get((part.name, server), Rates())) for server in seen.servers}
    return {
        **describe_host(part.member, "client", part.before, part.after),
        "clients": {"first": part.slice.first, "count": part.slice.count},
        "load_threads": seen.load_threads,
        "transactions_per_s": _whole(seen.transactions_per_s),
        "start_skew_s": None if skew_s is None else round(skew_s, 9),
        "network": describe_network(seen.rows, start_unix_s, paths) if start_unix_s is not None else None,
        "link": describe_link(links.of_client(part.name)),
        "problem": part.problem,
        "lost": part.lost,
    }


def describe_host(member: Member, role: str, before: Reading | None, after: Reading | None) -> KnownHostStated:
    """Return what is said of any host."""
    return {
        "name": member.name,
        "role": role,
        "hostname": member.hostname,
        "address": member.host,
        "processors": member.processors,
        "machine": member.machine,
        "clock_before": _describe_clock(before),
        "clock_after": _describe_clock(after),
        "drift_s": round(drift_s(before, after), 9) if before and after else None,
    }


def describe_link(rates: Rates) -> CapacityStated:
    """Return what is said of a link."""
    return {"sends_bytes_per_s": _whole(rates.sends), "receives_bytes_per_s": _whole(rates.receives)}


def _whole(per_s: float | None) -> float | None:
    return None if per_s is None else round(per_s, 1)


def _describe_clock(reading: Reading | None) -> ClockStated | None:
    return {"offset_s": round(reading.offset_s, 9), "error_s": round(reading.error_s, 9)} if reading else None
