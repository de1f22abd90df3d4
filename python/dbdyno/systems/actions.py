"""The actions that dbdyno knows to do to a server beside the load, by the names that events have for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Action:
    """One of a system's actions.

    programs: the alternatives that it can be done with; the first that is installed is taken. None is needed if it is
    done by statements. package: of the host that has the last of them.
    """

    programs: tuple[str, ...] = ()
    package: str = ""


Actions = Mapping[str, Action]
OUTAGES: Actions = {"restart": Action(), "kill": Action()}
"""The actions of every server that dbdyno starts and can start again."""
