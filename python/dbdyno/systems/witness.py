"""Witnesses of a crash: they should hold the same rows as the store; its binary log, a replica."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from dbdyno.later import LaterModule

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = LaterModule("numpy")

CATCH_UP_S = 60.0
"""A replica that has not applied by then what the primary had committed does not catch up."""
ABSENT = -1
"""In the place of a version: there is no such row."""
Versions: TypeAlias = "Mapping[str, NDArray[np.int64]]"
"""Table to the version of each of its rows, by key; 0 is no key."""


class Promise(NamedTuple):
    """A promise of the settings in force that both agree after a crash, or that they do not, and these settings."""

    holds: bool
    reason: str


class Witness(Protocol):
    """One of them.

    name: for a person. promise: of the settings in force. unable: why it cannot be read, or None.
    outlives: it answers while the store is down, as what would take its place.
    """

    name: str
    promise: Promise
    unable: str | None
    outlives: bool

    def alone(self, tables: Mapping[str, int]) -> Versions:
        """Return what it has while the store is down, once it has applied all that it had received by then.

        tables: name to rows. Only where it `outlives` the store. Raises RunFailed if it cannot be read.
        """

    def versions(self, tables: Mapping[str, int]) -> tuple[Versions, str | None]:
        """Return what it has once the store has recovered and it has caught up, and what was odd about it, or None.

        Raises RunFailed if it cannot be read.
        """


def nothing_of(tables: Mapping[str, int]) -> dict[str, NDArray[np.int64]]:
    """Return the versions of tables without rows."""
    return {table: np.full(rows + 1, ABSENT, np.int64) for table, rows in tables.items()}
