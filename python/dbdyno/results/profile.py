"""Objects of `profile/profile.json` (docs/profiling.md): their keys, for the type checker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NotRequired, TypedDict, cast

from dbdyno.results.jsonfiles import read_object

_NAME = "profile.json"


class UnnamedStated(TypedDict):
    """A file whose functions have no names, its share of the stacks, and the package that has the names."""

    file: str
    share: float
    package: str | None


class StacksStated(TypedDict):
    """The stacks of one kind; runs of earlier versions say nothing of names."""

    samples: int
    thread_seconds: float
    unnamed_share: NotRequired[float | None]
    unnamed: NotRequired[Sequence[UnnamedStated]]


class NotRecordedStated(TypedDict):
    """A kind of stacks, or a load, that was not recorded, and why."""

    what: str
    reason: str


class ProfileStated(TypedDict):
    """A profile: `when` and `reason` are of one that was taken in a stall. stacks: by process and kind.

    counters: of the processor, by process and event, for a transaction; runs of earlier versions have none.
    """

    when: NotRequired[str]
    reason: NotRequired[str | None]
    seconds: int
    begun_unix_s: float | None
    transactions_per_s: float | None
    stacks: Mapping[str, StacksStated]
    counters: NotRequired[Mapping[str, Mapping[str, float | None]]]
    not_seen: Sequence[NotRecordedStated]


def is_profiled(folder: Path) -> bool:
    """Return whether a trial's folder `profile` has a profile."""
    return (folder / _NAME).is_file()


def read_profile(folder: Path) -> ProfileStated:
    """Return the profile in a trial's folder `profile`; raises UserError if it cannot be read."""
    return cast(ProfileStated, read_object(folder / _NAME))
