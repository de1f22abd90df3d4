"""`[[events]]`: what is done to the store at a second of every trial, beside the load.

[[events]]
at = 20                               # second of the trial, warm-up included
sql = "ALTER TABLE dbdyno_player ADD INDEX by_score (score)"
# or: command = "mariadb-dump --defaults-file=$DBDYNO_DEFAULTS_FILE dbdyno > /dev/null"
# or: action = "backup"
if_fails = "warn"                     # else the trial fails
"""

import re
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationInfo, model_validator

from dbdyno.experiment.bounds import MOST_SECONDS, MOST_TEXT, cut
from dbdyno.experiment.redact import redact

LEAST_BEFORE_S = 3
"""Measured seconds before the first event: their median is what everything after it is compared with."""
MOST_EVENTS = 20
RESTART, KILL = "restart", "kill"
ActionName = Literal["backup", "dump", "alter", "vacuum-full", "restart", "kill"]
WAYS = ("sql", "command", "action")
"""The keys that say what an event does; an event has one of them."""
OF_A_TABLE = ("alter", "vacuum-full")
"""The actions that are done to one table."""
_TABLE = re.compile(r"\s*\[\[\s*events\s*\]\]")
_ANY_TABLE = re.compile(r"\s*\[")


class Event(BaseModel):
    """One event, at a second of every trial."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    at: Annotated[int, Field(ge=0, le=2 * MOST_SECONDS)]
    """The second of the trial at which it begins, warm-up included."""
    sql: Annotated[str, Field(min_length=1, max_length=MOST_TEXT)] | None = None
    """Statements that are sent over a separate connection."""
    command: Annotated[str, Field(min_length=1, max_length=MOST_TEXT)] | None = None
    """A line for the shell, run as you, with the server's address in environment variables."""
    action: ActionName | None = None
    """Something that dbdyno knows how to do to a server it started."""
    table: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,62}$")] | None = None
    """The table that `alter` or `vacuum-full` writes anew (default: the largest)."""
    name: Annotated[str, Field(min_length=1, max_length=40)] | None = None
    """Its name in tables and plots (default: the action, or the beginning of the text)."""
    if_fails: Literal["error", "warn"] = "error"
    """If it fails, the trial fails too, or is only marked."""
    _line: int | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _does_one_thing(self) -> "Event":
        if len(given := [key for key in WAYS if getattr(self, key) is not None]) != 1:
            has = f"this one has {' and '.join(given)}" if given else "this one has none"
            raise ValueError(f"an event has one of {', '.join(WAYS)}; {has}")
        if self.table is not None and self.action not in OF_A_TABLE:
            raise ValueError(f"table: only {' and '.join(OF_A_TABLE)} take one")
        if self.name is not None and not self.name.isprintable():
            raise ValueError("name: give text in one line")
        return self

    @property
    def way(self) -> str:
        """The key that says what it does."""
        return next(key for key in WAYS if getattr(self, key) is not None)

    @property
    def text(self) -> str:
        """The statements, command or action, without the passwords of URLs."""
        return redact(str(getattr(self, self.way)))

    @property
    def label(self) -> str:
        """Its name in tables and plots."""
        words = " ".join(self.text.split())
        return self.name or (words if len(words) <= 24 else f"{words[:23].rstrip()}…")

    @property
    def is_outage(self) -> bool:
        """True if it takes the server away for a while, so that operations fail."""
        return self.action in (RESTART, KILL)

    def put_at(self, line: int) -> None:
        """Remember its line of the file."""
        self._line = line

    @property
    def where(self) -> str:
        """How a message about it begins: `events: line 12: `, or without the line if nobody knows it."""
        return f"events: line {self._line}: " if self._line else f"events: '{cut(self.label)}': "


class EventError(ValueError):
    """An event does not fit the experiment. number: which, from 0."""

    def __init__(self, number: int, words: str) -> None:
        super().__init__(words)
        self.number = number


def check_events(events: list[Event], info: ValidationInfo) -> list[Event]:
    """Return the events; raises EventError for one that does not fit into a trial."""
    if len(events) > MOST_EVENTS:
        raise ValueError(f"{len(events)} events: at most {MOST_EVENTS}")
    seconds, warmup_s = info.data.get("seconds"), info.data.get("warmup_seconds")
    if seconds is None or warmup_s is None:
        return events  # These are wrong, and that is what the file's author needs to know.
    first_s, end_s = warmup_s + LEAST_BEFORE_S, warmup_s + seconds
    for number, event in enumerate(events):
        if event.at >= end_s:
            whole = f"it ends after {end_s} s ({warmup_s} s of warm-up and {seconds} s measured)"
            raise EventError(number, f"at = {event.at}: the trial is over by then: {whole}")
        if event.at < first_s:
            raise EventError(
                number,
                f"at = {event.at}: give {first_s} or more: {LEAST_BEFORE_S} s are measured before it, after the "
                f"warm-up of {warmup_s} s",
            )
    return events


def lines_of_events(text: str) -> list[int]:
    """Return the line of each `[[events]]` of a file, from 1."""
    return [number for number, line in enumerate(text.splitlines(), 1) if _TABLE.match(line)]


def line_of_key(text: str, number: int, key: str | None) -> int | None:
    """Return the line of a key of one event, or of the event if it has no such line; None if it is written inline."""
    begins = lines_of_events(text)
    if number >= len(begins):
        return None
    lines = text.splitlines()
    for index in range(begins[number], len(lines)):
        if _ANY_TABLE.match(lines[index]):
            break
        if key and re.match(rf"\s*{re.escape(key)}\s*=", lines[index]):
            return index + 1
    return begins[number]


def place_events(events: Sequence[Event], text: str) -> None:
    """Remember the line of each event, if the file has them as `[[events]]`."""
    lines = lines_of_events(text)
    if len(lines) == len(events):
        for event, line in zip(events, lines, strict=True):
            event.put_at(line)
