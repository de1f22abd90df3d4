"""The arrival rate of an open loop: how many transactions begin each second, whatever the store does meanwhile.

rate = 20000                                      # constant
rate = [1000, 5000, 20000]                        # a factor: a trial for each
rate = { ramp = [1000, 20000], seconds = 10 }     # rising (or falling) evenly
rate = { steps = [1000, 2000, 4000], seconds = 5 }  # each for so long
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

RATE_MAX_PER_S = 10_000_000
"""The highest rate of the contract (docs/contract.md, Arrivals); no client of ours comes near it."""

_SHAPES = "a number, {ramp = [1000, 20000], seconds = 10} or {steps = [1000, 2000, 4000], seconds = 5}"


@dataclass(frozen=True)
class Rate:
    """Arrivals per second of a whole trial, over its measured seconds; the last rate is held to the end.

    per_s: one rate (constant), the two ends of a ramp, or the steps.
    seconds: how long the ramp, or each step, takes; None of a constant rate.
    """

    shape: Literal["constant", "ramp", "steps"]
    per_s: tuple[float, ...]
    seconds: int | None = None

    @property
    def length_s(self) -> int:
        """How many seconds it takes until only the last rate is left."""
        return (self.seconds or 0) * (len(self.per_s) if self.shape == "steps" else 1)

    def as_written(self) -> Any:
        """Return what a file says to mean this rate."""
        if self.shape == "constant":
            return self.per_s[0]
        return {self.shape: list(self.per_s), "seconds": self.seconds}

    def segments(self, warmup_s: int) -> list[dict[str, float]]:
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
        """For a person: `20,000/s`, `1,000/s to 20,000/s in 10 s`, `1,000/s, 2,000/s, 5 s each`."""
        rates = [f"{rate:,}/s" for rate in self.per_s]
        if self.shape == "ramp":
            return f"{rates[0]} to {rates[1]} in {self.seconds} s"
        return ", ".join(rates) + (f", {self.seconds} s each" if self.shape == "steps" else "")

    @property
    def slug(self) -> str:
        """A short form for the name of a folder: `r20000`, `ramp1000-20000`."""
        name = "r" if self.shape == "constant" else self.shape
        return name + "-".join(f"{rate:.10g}" for rate in (self.per_s[0], *self.per_s[1:][-1:]))


def read_rates(value: Any) -> list[Rate]:
    """Read the key `rate`: one rate, or a list of them.

    Raises ValueError, saying what is accepted, for anything else, a rate given twice, or none.
    """
    rates = [_read_rate(entry) for entry in (value if isinstance(value, list) else [value])]
    if not rates or len(set(rates)) < len(rates):
        raise ValueError("give at least one rate, and each once, e.g. [1000, 5000, 20000]")
    return rates


def _read_rate(entry: Any) -> Rate:
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


def _per_s(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{value!r} is no rate; give {_SHAPES}, in transactions per second")
    if not math.isfinite(value) or value <= 0:
        raise ValueError(f"{value}/s: a rate is above 0 transactions per second")
    if value > RATE_MAX_PER_S:
        raise ValueError(f"{value:,}/s: no load client offers that; a rate is at most {RATE_MAX_PER_S:,} per second")
    return value
