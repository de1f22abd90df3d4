"""Groups of clients of a trial: what each was asked to do, and what it did (docs/contract.md, Groups of clients)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dbdyno.results.facts import TrialFacts
    from dbdyno.results.json_types import GroupStated
    from dbdyno.results.model import Operation, Recorded

DONE = 0.99
"""A group that ends less than this share of the arrivals of its rate does not follow it."""


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """A group of clients in the measured seconds in which it was active.

    Attributes:
        stated: what `trial.json` says of it.
        times: the recorded times of its transactions; `None` if it recorded none.
        offered_per_s: arrivals of its open loop, over all seconds; `None` in a closed loop.
        never_begun: arrivals that were due and had not begun when time was up.
        followed: whether it did what its rate offered; `None` in a closed loop.
    """

    stated: GroupStated
    times: Operation | None
    throughput_per_s: float | None
    offered_per_s: float | None
    never_begun: int
    followed: bool | None


def group_figures(recorded: Recorded, facts: TrialFacts) -> Sequence[GroupFigures]:
    """Return the figures of each group, in the order of the experiment; empty if all clients do the same."""
    operations = {operation.name: operation for operation in recorded.operations}
    return [_of_group(stated, operations.get(stated["name"]), recorded) for stated in facts.client_groups or ()]


def warnings_of_groups(recorded: Recorded, facts: TrialFacts) -> Iterator[str]:
    """Yield a sentence for each group that missed its rate."""
    for group in group_figures(recorded, facts):
        if group.followed is False:
            never = f"; {group.never_begun:,} transactions had not begun when time was up" if group.never_begun else ""
            yield (
                f"clients '{group.stated['name']}' missed their rate: {group.offered_per_s or 0:,.0f}/s offered, "
                f"{group.throughput_per_s or 0:,.0f}/s completed{never}"
            )


def _of_group(stated: GroupStated, times: Operation | None, recorded: Recorded) -> GroupFigures:
    whole_s = sum(interval.seconds for interval in recorded.intervals)
    # The measured seconds without those before the group's start.
    active_s = min(recorded.seconds, whole_s - stated["start_s"])
    per_s = times.service_time.count / active_s if times and active_s > 0 else None
    counted = recorded.total["operations"].get(stated["name"]) if recorded.total else None
    if counted is None or "scheduled" not in counted:
        return GroupFigures(stated, times, per_s, None, 0, None)
    due = counted["scheduled"]
    left = due - counted["completed"] - counted["failed"]
    followed = left <= max((1 - DONE) * due, stated["clients"])
    offered_per_s = due / (whole_s - stated["start_s"]) if whole_s > stated["start_s"] else None
    return GroupFigures(stated, times, per_s, offered_per_s, counted.get("never_begun", 0), followed)
