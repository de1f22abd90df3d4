"""The workloads: their tables and steps, and each one's transaction over the logical operations (crates/workloads)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from dbdyno.contract import JsonObject
from dbdyno.load_python.choices import Choices
from dbdyno.load_python.column import (
    Counter,
    Email,
    Key,
    Letters,
    Name,
    Number,
    Padded,
    Value,
    Version,
    VersionedLetters,
)
from dbdyno.load_python.failure import Ended
from dbdyno.load_python.table import Row, Table

EMAIL = 1
"""The column `email` of both player and account."""

BM = Table("bm", (Key("id"), Counter("k"), Padded("c", 120, "x"), Padded("pad", 120, "y")))
BM_WITH_SECONDARY_KEY = Table(
    "bm", (Key("id"), Key("sid"), Counter("k"), Padded("c", 120, "x"), Padded("pad", 60, "y"))
)
PLAYER = Table(
    "player",
    (
        Key("id"),
        Email("email", 64),
        Name("name", 64),
        Version("version"),
        Number("level", salt=1, below=100),
        Number("experience", salt=2, below=1_000_000_000),
        Number("gold", salt=3, below=1_000_000),
        Number("health", salt=4, below=1_000),
        Number("strength", salt=5, below=1_000),
        Number("position_x", salt=6, below=100_000),
        Number("position_y", salt=7, below=100_000),
        VersionedLetters("inventory", 400, salt=8),
        Letters("biography", 400, salt=9),
    ),
)
ACCOUNT = Table(
    "account",
    (
        Key("id"),
        Email("email", 64),
        Name("name", 64),
        Letters("password_hash", 64, salt=10),
        Letters("address", 800, salt=11),
    ),
    filed_under=EMAIL,
)


@dataclass(frozen=True)
class Step:
    """A step of a transaction: what the report calls it; operation: `get`, `find`, `update` or `add`."""

    name: str
    operation: str
    table: Table
    column: int = 0


class Operations(Protocol):
    """The logical operations as a workload issues them: timed, verified, recorded. Each raises Failure."""

    def get(self, step: int, key: int) -> Row:
        """Read the row with this primary key."""

    def find(self, step: int, value: Value, key: int) -> Row:
        """Read the one row with this value in the step's column; `key` is the primary key it must have."""

    def update(self, step: int, key: int, version: int) -> None:
        """Write version `version` of row `key`."""

    def add(self, step: int, key: int, delta: int) -> None:
        """Add to the step's column of row `key`."""


KeyOf = Callable[[Choices], int]


@dataclass(frozen=True)
class Workload:
    """A workload over tables of `rows` rows; transaction: what one is called; key: chooses the row of a transaction."""

    name: str
    transaction: str
    steps: tuple[Step, ...]
    rows: int
    key: KeyOf
    run: Callable[[Operations, int], None]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Its tables, each once."""
        return tuple(dict.fromkeys(step.table for step in self.steps))


def _point_get(operations: Operations, key: int) -> None:
    operations.get(0, key)


def _secondary_get(operations: Operations, key: int) -> None:
    operations.find(0, key, key)


def _point_update(operations: Operations, key: int) -> None:
    operations.add(0, key, 1)


def _game(operations: Operations, key: int) -> None:
    player = operations.get(0, key)
    operations.update(1, key, PLAYER.version_of(player) + 1)
    email = player[EMAIL]
    operations.find(2, email if isinstance(email, str) else "", key)


_WORKLOADS: dict[str, tuple[str, tuple[Step, ...], Callable[[Operations, int], None]]] = {
    "point-get": ("get", (Step("get", "get", BM),), _point_get),
    "secondary-get": ("find", (Step("find", "find", BM_WITH_SECONDARY_KEY, 1),), _secondary_get),
    "point-update": ("add", (Step("add", "add", BM, 1),), _point_update),
    "game": (
        "game",
        (
            Step("read_player", "get", PLAYER),
            Step("store_player", "update", PLAYER),
            Step("find_account", "find", ACCOUNT, EMAIL),
        ),
        _game,
    ),
}


def make_workload(name: str, rows: int, options: JsonObject) -> Workload:
    """Return the workload `name` over tables of `rows` rows; raises Ended if there is none or it has no such option."""
    if name not in _WORKLOADS:
        raise Ended("refused", f"workload.name = {name!r}: there are {', '.join(_WORKLOADS)}")
    if unknown := set(options) - {"access"}:
        raise Ended("refused", f"{name} has no option {unknown.pop()!r}: there is access")
    transaction, steps, run = _WORKLOADS[name]
    return Workload(name, transaction, steps, rows, _key_of(options.get("access", "uniform"), rows), run)


def _key_of(access: str, rows: int) -> KeyOf:
    """Return how keys are chosen: `sequential` is all clients together walking them in order."""
    if access == "sequential":
        return lambda choices: 1 + (choices.step * choices.clients + choices.client) % rows
    if access == "uniform":
        return lambda choices: choices.key(rows)
    raise Ended("refused", f'access = {access!r}: there are "uniform" and "sequential"')
