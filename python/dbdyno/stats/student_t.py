"""Student's t distribution, by scipy. It is loaded by the first use: a run of single trials needs none of it."""

from __future__ import annotations

from functools import cache
from typing import Any

from dbdyno.later import load_compiled


def probability_below(t: float, freedom: float) -> float:
    """Return the probability that Student's t with so many degrees of freedom is less than `t`."""
    return float(_functions().stdtr(freedom, t))


def quantile(probability: float, freedom: float) -> float:
    """Return the value that Student's t with so many degrees of freedom is less than with this probability."""
    return float(_functions().stdtrit(freedom, probability))


@cache
def _functions() -> Any:
    """Return scipy's special functions. Their package also loads f2py, testing and masked arrays: 0.2 s."""
    return load_compiled("scipy.special", "_ufuncs")
