"""The looks of stores in every plot and table: each store has a hue, and its configurations have shades of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dbdyno.later import LaterModule

if TYPE_CHECKING:
    import hashlib
else:
    hashlib = LaterModule("hashlib")

HUES = (
    ("#cc79a7", "#72445e", "#9d5d80"),
    ("#e69f00", "#6e4c00", "#a57200"),
    ("#56b4e9", "#2a5771", "#3e82a8"),
    ("#7d6bc9", "#b8aee2", "#998bd5"),
    ("#8a7a2a", "#beb589", "#a39657"),
    ("#0072b2", "#86bcda", "#4296c6"),
    ("#d55e00", "#e8a773", "#df833b"),
    ("#009e73", "#68c5ac", "#34b290"),
)
"""Okabe and Ito's colours without black and yellow, which vanish on one of the two backgrounds, and two similar
colours. Each has two shades that both backgrounds show; the one that differs more comes first."""
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "pentagon", "triangle-down", "star", "hexagon")
DASHES = ("solid", "dash", "dot", "dashdot")
PATTERNS = ("", "x", ".", "-")
"""Fillings of bars, like dashes of lines. Strokes are not among them: they mark the server's part of a cost."""
SEED = 44832
"""Among the seeds up to 120,000, this one most often gives different hues to stores that are often compared."""


@dataclass(frozen=True, slots=True)
class Look:
    """One configuration's colour, marker, line and filling, the same in every plot.

    Attributes:
        hue: the index of its store's hue in `HUES`.
        variant: its number among the configurations of that hue, from 0; first the shades differ, then lines and
            fillings.
    """

    hue: int
    variant: int = 0

    @property
    def colour(self) -> str:
        """Its shade of the hue."""
        shades = HUES[self.hue]
        return shades[self.variant % len(shades)]

    @property
    def symbol(self) -> str:
        """Its marker: systems differ in more than colour."""
        return SYMBOLS[(self.hue + self.variant) % len(SYMBOLS)]

    @property
    def round(self) -> int:
        """How often the shades were used up before it."""
        return self.variant // len(HUES[self.hue])

    @property
    def dash(self) -> str:
        """Its line."""
        return DASHES[self.round % len(DASHES)]

    @property
    def pattern(self) -> str:
        """The filling of its bars."""
        return PATTERNS[self.round % len(PATTERNS)]


def bar_marker(look: Look) -> dict[str, object]:
    """Return the marker of a bar: its colour and, if the shades are used up, its filling."""
    return {"color": look.colour} | ({"pattern": {"shape": look.pattern, "size": 6}} if look.pattern else {})


def store_of(system: str) -> str:
    """Return the store that gives a system its hue: the `name` of `name@5.6`, of `name?setting=value`, of `name(part,
    part)` and of `name://host`."""
    return re.split(r"[@(?:]", system, maxsplit=1)[0].strip()


def hues(stores: Iterable[str]) -> dict[str, int]:
    """Return the index of each store's hue.

    A store's hue follows from its name, so it is the same in the reports of several runs. If two stores of a run have
    the same hue, the alphabetically later store takes the next free hue. If no hue is free, they share it.
    """
    named = sorted(set(stores))
    hue_of: dict[str, int] = {}
    for store in named:
        if (own := _own_hue(store)) not in hue_of.values():
            hue_of[store] = own
    for store in named:
        own = _own_hue(store)
        following = [(own + step) % len(HUES) for step in range(len(HUES))]
        hue_of.setdefault(store, next((hue for hue in following if hue not in hue_of.values()), own))
    return hue_of


def _own_hue(store: str) -> int:
    return hashlib.blake2b(f"{SEED}{store}".encode(), digest_size=1).digest()[0] % len(HUES)


def looks(of_hues: Sequence[int]) -> list[Look]:
    """Return a look for each of several hues, in their order; no two are the same."""
    counted: Counter[int] = Counter()
    distinct = []
    for hue in of_hues:
        distinct.append(Look(hue, counted[hue]))
        counted[hue] += 1
    return distinct
