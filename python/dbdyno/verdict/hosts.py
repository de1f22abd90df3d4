"""The observations of a trial on several server hosts, host by host: each piece of evidence names its host."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from dbdyno.results.model import Trial
from dbdyno.results.observations import HOSTS

if TYPE_CHECKING:
    from dbdyno.results.json_types import HostStated
    from dbdyno.verdict.evidence import Measured


def by_host(measured: Measured) -> list[tuple[str, Measured]]:
    """Return what was observed of each server host, after its name; of a trial on one host all, without a name."""
    servers = measured.trial.facts.server_hosts
    if len(servers) < 2:
        return [(servers[0]["name"] if servers else "", measured)]
    return [(host["name"], own) for host in servers if (own := _of_host(measured, host))]


def named(host: str, signs: Iterable[str]) -> Iterator[str]:
    """Yield signs with the name of the host that they were observed on."""
    for sign in signs:
        yield f"on {host}, {sign}" if host else sign


def _of_host(measured: Measured, host: HostStated) -> Measured | None:
    """Return what was observed of one server host, as of a trial whose servers it runs alone."""
    trial, names = measured.trial, host.get("servers", ())
    servers = [server for server in trial.facts.servers if server["name"] in names]
    if trial.folder is None:
        return None
    about = {**trial.about, "servers": servers, "hosts": [host, *trial.facts.client_hosts]}
    # Whatever kind of trial it is: this one's observations are read from its folder.
    same = {kept.name: getattr(trial, kept.name) for kept in fields(Trial)}
    own = Trial(**same | {"about": about, "folder": trial.folder / HOSTS / host["name"]})
    return replace(measured, trial=own, observations=own.observations) if own.observations else None
