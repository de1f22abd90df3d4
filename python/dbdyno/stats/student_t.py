"""Student's t distribution, by scipy. It is loaded by the first use: a run of single trials needs none of it."""

from __future__ import annotations

from typing import Any


def probability_below(t: float, freedom: float) -> float:
    """Return the probability that Student's t with so many degrees of freedom is less than `t`."""
    return float(_special().stdtr(freedom, t))


def quantile(probability: float, freedom: float) -> float:
    """Return the value that Student's t with so many degrees of freedom is less than with this probability."""
    return float(_special().stdtrit(freedom, probability))


def _special() -> Any:
    from scipy import special  # noqa: PLC0415

    return special
