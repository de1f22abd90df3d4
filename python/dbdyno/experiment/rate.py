"""The arrival rate of an open loop: how many transactions begin each second, whatever the store does meanwhile.

rate = 20000                                      # constant
rate = [1000, 5000, 20000]                        # a factor: a trial for each
rate = { ramp = [1000, 20000], seconds = 10 }     # rising (or falling) evenly
rate = { steps = [1000, 2000, 4000], seconds = 5 }  # each for so long
rate = ["50%", "70%", "90%"]                      # shares of what the closed loops of the experiment measure first
"""

import math
import re
from dataclasses import dataclass, replace
from typing import Any, Literal

from dbdyno.contract import SegmentDocument

RATE_MAX_PER_S = 10_000_000
"""The highest rate of the contract (docs/contract.md, Arrivals); no client of ours comes near it."""

_SHAPES = "a number, {ramp = [1000, 20000], seconds = 10} or {steps = [1000, 2000, 4000], seconds = 5}"
_SHARE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%\s*")


@dataclass(frozen=True)
class Rate:
    """Arrivals per second of a whole trial, over its measured seconds; the last rate is held to the end.

    per_s: one rate (constant), the two ends of a ramp, or the steps; empty of a share until its capacity is measured.
    seconds: how long the ramp, or each step, takes; None of a constant rate.
    share: of a system's capacity, above 0 and at most 1, that a constant rate is (two-phase evaluation: Luo & Carey,
    VLDB 2020), else None. capacity_per_s, capacity_of: that capacity, and the closed loop's trial it was measured by.
    """

    shape: Literal["constant", "ramp", "steps"]
    per_s: tuple[float, ...]
    seconds: int | None = None
    share: float | None = None
    capacity_per_s: float | None = None
    capacity_of: str | None = None

    @property
    def length_s(self) -> int:
        """How many seconds it takes until only the last rate is left."""
        return (self.seconds or 0) * (len(self.per_s) if self.shape == "steps" else 1)

    def of_capacity(self, capacity_per_s: float, trial: str) -> "Rate":
        """Return this share as a rate, of the capacity that `trial` measured."""
        per_s = round_rate(min(self.share * capacity_per_s, RATE_MAX_PER_S)) if self.share else 0.0
        return replace(self, per_s=(per_s,), capacity_per_s=capacity_per_s, capacity_of=trial)

    def as_written(self) -> Any:
        """Return what a file says to mean this rate."""
        if self.share:
            return _percent(self.share)
        if self.shape == "constant":
            return self.per_s[0]
        return {self.shape: list(self.per_s), "seconds": self.seconds}

    def segments(self, warmup_s: int) -> list[SegmentDocument]:
        """Return the segments of a plan's arrivals; the warm-up has the first rate, the shape begins after it."""
        pairs = [self.per_s] if self.shape == "ramp" else [(rate, rate) for rate in self.per_s]
        first = self.per_s[0]
        warmup = [(first, first, warmup_s)] if warmup_s and self.shape != "constant" else []
        return [
            {"seconds": seconds, "from_per_s": begin, "to_per_s": end}
            for begin, end, seconds in [*warmup, *((*pair, self.seconds or 1) for pair in pairs)]
        ]

    @property
    def words(self) -> str:
        """For a person: `20,000/s`, `1,000/s to 20,000/s in 10 s`, `12,300/s (50% of capacity)`."""
        rates = [f"{rate:,}/s" for rate in self.per_s]
        if self.share:
            of = f"{_percent(self.share)} of capacity"
            return f"{rates[0]} ({of})" if rates else of
        if self.shape == "ramp":
            return f"{rates[0]} to {rates[1]} in {self.seconds} s"
        return ", ".join(rates) + (f", {self.seconds} s each" if self.shape == "steps" else "")

    @property
    def slug(self) -> str:
        """A short form for the name of a folder: `r20000`, `ramp1000-20000`, `r50pct`."""
        if self.share:
            return f"r{_percent(self.share).removesuffix('%')}pct"
        name = "r" if self.shape == "constant" else self.shape
        return name + "-".join(f"{rate:.10g}" for rate in (self.per_s[0], *self.per_s[1:][-1:]))


def read_rates(value: Any) -> list[Rate]:
    """Read the key `rate`: one rate, or a list of them.

    Raises ValueError, saying what is accepted, for anything else, a rate given twice, or none.
    """
    rates = [_read_rate(entry) for entry in (value if isinstance(value, list) else [value])]
    if not rates or len(set(rates)) < len(rates):
        raise ValueError("give at least one rate, and each once, e.g. [1000, 5000, 20000]")
    if len({rate.share is None for rate in rates}) > 1:
        raise ValueError(
            "give shares of capacity or rates per second, not both: shares need closed loops first, and rates per "
            "second replace these"
        )
    return rates


def round_rate(per_s: float) -> float:
    """Return a rate with three significant digits, as a whole number if that makes no difference."""
    rounded = float(f"{per_s:.3g}")
    return int(rounded) if rounded.is_integer() else rounded


def _read_rate(entry: Any) -> Rate:
    if isinstance(entry, str) and (match := _SHARE.fullmatch(entry)):
        return Rate("constant", (), share=_checked_share(entry, float(match[1]) / 100))
    if not isinstance(entry, dict):
        return Rate("constant", (_per_s(entry),))
    shape = next(iter(entry.keys() - {"seconds"}), None)
    if entry.keys() != {shape, "seconds"} or shape not in ("ramp", "steps"):
        raise ValueError(f"a rate is {_SHAPES}")
    rates, seconds = entry[shape], entry["seconds"]
    if not isinstance(rates, list) or len(rates) < 2 or (shape == "ramp" and len(rates) != 2):
        raise ValueError(f"{shape}: give {'the first and the last rate' if shape == 'ramp' else 'two rates or more'}")
    if isinstance(seconds, bool) or not isinstance(seconds, int) or seconds < 1:
        raise ValueError(f"seconds = {seconds!r} of a {shape}: give whole seconds, at least 1")
    return Rate(shape, tuple(map(_per_s, rates)), seconds)


def _checked_share(text: str, share: float) -> float:
    if not 0 < share <= 1:
        raise ValueError(
            f"'{text}': a share of capacity is above 0% and at most 100%, as no store does more for long; "
            "to offer more, give transactions per second"
        )
    return share


def _percent(share: float) -> str:
    return f"{100 * share:.10g}%"


def _per_s(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(
            f'{value!r} is not a rate; give {_SHAPES}, in transactions per second, or shares such as "50%"'
        )
    if not math.isfinite(value) or value <= 0:
        raise ValueError(f"{value}/s: a rate is above 0 transactions per second")
    if value > RATE_MAX_PER_S:
        raise ValueError(f"{value:,}/s: no load client offers that; a rate is at most {RATE_MAX_PER_S:,} per second")
    return value
