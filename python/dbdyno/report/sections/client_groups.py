"""Groups of clients: what each was asked to do, its throughput and its times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Console

from dbdyno.report.core.section import Part, Section
from dbdyno.report.core.terminal import Column, print_columns
from dbdyno.report.core.times import Times, recorded_times_us
from dbdyno.report.core.words import length, significant
from dbdyno.results.groups import GroupFigures, group_figures

if TYPE_CHECKING:
    from dbdyno.report.core.page import Page
    from dbdyno.report.core.trial_documents import GroupDocument, PacedDocument, TrialDocument
    from dbdyno.results.model import Trial


def pace_of(trial: Trial) -> PacedDocument:
    """Return how a trial's clients pause and keep connections, and the figures of its groups, if it has any."""
    document: PacedDocument = {}
    if trial.facts.pace:
        document["pace"] = trial.facts.pace
    if groups := group_figures(trial.recorded, trial.facts):
        document["client_groups"] = [_group(group, trial) for group in groups]
    return document


def _group(group: GroupFigures, trial: Trial) -> GroupDocument:
    stated = group.stated
    times = group.times or trial.recorded
    return {
        "name": stated["name"],
        "clients": stated["clients"],
        "start_s": stated["start_s"],
        "rate": stated["rate"],
        "transactions": stated["transactions"],
        "access": stated["access"],
        "think_time": stated["think_time"],
        "transactions_per_connection": stated["transactions_per_connection"],
        "throughput_per_s": group.throughput_per_s,
        "offered_per_s": group.offered_per_s,
        "never_begun": group.never_begun,
        "followed": group.followed,
        "errors": group.times.failed if group.times else 0,
        **recorded_times_us(times),
    }


def group_times_us(group: GroupDocument) -> Times:
    """Return the times to show: of an open loop from when a transaction was due, else from when it began."""
    return group.get("response_time_us") or group["service_time_us"]


def asked_of(group: GroupDocument) -> str:
    """Return what a group was asked to do: `1,000/s`, `closed loop, from second 5 on, thinks 2,000 µs`."""
    return ", ".join(_asked_of(group))


def _asked_of(group: GroupDocument) -> Iterator[str]:
    yield group["rate"]["words"] if group["rate"] else "closed loop"
    if group["start_s"]:
        yield f"from second {group['start_s']} on"
    if group["think_time"]:
        yield f"thinks {group['think_time']}"
    if per_connection := group["transactions_per_connection"]:
        yield f"{per_connection:,} transaction{'' if per_connection == 1 else 's'} per connection"


def done_by(group: GroupDocument) -> str:
    """Return a group's throughput, and whether it missed its rate."""
    return significant(group["throughput_per_s"]) + (" missed" if group["followed"] is False else "")


def print_client_groups(trials: Sequence[TrialDocument], console: Console, indent: int = 0) -> None:
    """Print a row for each group of clients of each trial, if there are groups."""
    rows = [(trial, group) for trial in trials for group in trial.get("client_groups", ())]
    if not rows:
        return
    p99s = [group_times_us(group)["p99"] for _, group in rows]
    columns = [
        Column("", [_title(trial, trials) for trial, _ in rows], left=True),
        Column("group", [group["name"] for _, group in rows], left=True, style="bold"),
        Column("clients", [str(group["clients"]) for _, group in rows]),
        Column("asked to do", [asked_of(group) for _, group in rows], drop=1, left=True),
        Column("transactions/s", [done_by(group) for _, group in rows]),
        Column("p50", [length(group_times_us(group)["p50"]) for _, group in rows]),
        Column("p99", list(map(length, p99s))),
    ]
    print_columns(columns, console, indent)


def _title(trial: TrialDocument, trials: Sequence[TrialDocument]) -> str:
    several = len({trial["workload"] for trial in trials}) > 1
    return f"{trial['label']} · {trial['workload']}" if several else trial["label"]


def part(page: Page) -> Part | None:
    """Return an empty part if a trial has groups of clients."""
    has_groups = page.series and any(trial.get("client_groups") for trial in page.document["trials"])
    return Part({"asked_of": asked_of, "group_times": group_times_us}) if has_groups else None


SECTION = Section("client_groups.html.j2", part)
