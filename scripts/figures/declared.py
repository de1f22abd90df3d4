"""The runs that the documentation has figures of: results/figures.toml."""

import hashlib
import shlex
import tomllib
from dataclasses import dataclass
from pathlib import Path

DECLARATION = Path("results/figures.toml")


@dataclass(frozen=True, slots=True)
class Figures:
    """One documented run.

    Attributes:
        name: its name in results/ and in the blocks of pages.
        command: the words of the command, from `dbdyno` on.
        once: why fewer than five trials a cell are enough; empty if there are five.
        picture: path of its plot, from the root; empty if there is none.
        draws: what the plot shows: throughput by `clients`, `versions` relative to the first, times of `queries`,
            throughput and old row versions by `minutes`, or writes `missing` after crashes.
        classic: the published experiment that it repeats, and its author's question; empty if there is none.
        then: the published answer.
        differs: why today's answer differs from it, or that it does not; empty if none was published.
        floors: whether today's answer is how even each system was, from second to second.
        pairs: two systems each, by label: today's answer is the ratio of the first to the second. Empty: the headline.
    """

    name: str
    command: tuple[str, ...]
    once: str = ""
    picture: str = ""
    draws: str = "clients"
    classic: str = ""
    then: str = ""
    differs: str = ""
    floors: bool = False
    pairs: tuple[tuple[str, str], ...] = ()

    @property
    def result(self) -> Path:
        """Path of the kept summary, from the root."""
        return DECLARATION.with_name(f"{self.name}.json")


def declared(root: Path) -> dict[str, Figures]:
    """Return the documented runs by name; raises TypeError if one has an unknown key."""
    read = tomllib.loads((root / DECLARATION).read_text(encoding="utf-8"))
    return {name: Figures(name, tuple(shlex.split(keys.pop("command"))), **keys) for name, keys in sorted(read.items())}


def digest(kept: Path) -> str:
    """Return what a picture is marked with: a sum over the summary that it was drawn from."""
    return hashlib.sha256(kept.read_bytes()).hexdigest()[:16]
