"""`[limits]`: figures that every trial must keep, or the command ends with status 1.

[limits]
p99 = "< 10ms"           # also mean, max, p50, "p99.9": response time in an open loop, service time in a closed one
throughput = "> 1000/s"  # transactions per second
errors = 0               # failed operations; also "< 10", or a share of all operations: "< 1%"
"""

import math
import re
from dataclasses import dataclass
from typing import Any

from dbdyno.errors import did_you_mean
from dbdyno.experiment.bounds import brief, cut
from dbdyno.experiment.limit import Limit, parse_limit
from dbdyno.experiment.percent import parse_percent

_TIME = re.compile(r"p\d{1,2}(\.\d+)?|mean|max")
_THROUGHPUT = re.compile(r"\s*>\s*(\d{1,15}(?:\.\d+)?)\s*/\s*s\s*")
_COUNT = re.compile(r"\s*<\s*(\d{1,15})\s*")
_SHARE = re.compile(r"\s*<\s*(\d[\d.]*\s*%)\s*")


@dataclass(frozen=True)
class LeastThroughput:
    """Transactions per second that a trial must exceed."""

    per_s: float

    def __str__(self) -> str:
        """Write it as it is read."""
        return f"throughput > {self.per_s:.10g}/s"


@dataclass(frozen=True)
class MostErrors:
    """Failed operations that a trial must stay below: a count, or else a share of all its operations."""

    below: int | None = None
    below_share: float | None = None

    def __str__(self) -> str:
        """Write it as it is read."""
        if self.below_share is not None:
            return f"errors < {100 * self.below_share:.10g}%"
        return "errors = 0" if self.below == 1 else f"errors < {self.below}"


Bound = Limit | LeastThroughput | MostErrors


def read_limits(value: Any) -> tuple[Bound, ...]:
    """Read the table `limits`; raises ValueError that names the key and says what it accepts."""
    if not isinstance(value, dict):
        raise ValueError('give a table, e.g. limits = {p99 = "< 10ms", errors = 0}')
    return tuple(_read(key, bound) for key, bound in value.items())


def write_limits(bounds: tuple[Bound, ...]) -> dict[str, str | int]:
    """Return the table that reads as these limits."""
    pairs = (str(bound).partition(" ") for bound in bounds)
    return {key: 0 if bound == "= 0" else bound for key, _, bound in pairs}


def _read(key: str, bound: Any) -> Bound:
    if key == "errors":
        return _read_errors(bound)
    if key == "throughput":
        return _read_throughput(bound)
    if not _TIME.fullmatch(key):
        known = ("p50", "p99", "mean", "max", "throughput", "errors")
        raise ValueError(
            f"'{cut(key)}' is not a figure{did_you_mean(key, known)} Give p50, \"p99.9\", mean, max, throughput, errors"
        )
    if not isinstance(bound, str):
        raise ValueError(f'{key} = {brief(bound)}: write e.g. {key} = "< 10ms"')
    return parse_limit(f"{key} {bound}")


def _read_throughput(bound: Any) -> LeastThroughput:
    match = _THROUGHPUT.fullmatch(bound) if isinstance(bound, str) else None
    if not match:
        raise ValueError(f'throughput = {brief(bound)}: write e.g. throughput = "> 1000/s"')
    return LeastThroughput(float(match[1]))


def _read_errors(bound: Any) -> MostErrors:
    if bound == 0 and isinstance(bound, int) and not isinstance(bound, bool):
        return MostErrors(below=1)
    count, share = (pattern.fullmatch(bound) if isinstance(bound, str) else None for pattern in (_COUNT, _SHARE))
    if count and int(count[1]) > 0:
        return MostErrors(below=int(count[1]))
    if share and (below := parse_percent(share[1])) > 0 and math.isfinite(below):
        return MostErrors(below_share=below)
    raise ValueError(f'errors = {brief(bound)}: write errors = 0, errors = "< 10" or errors = "< 1%"')
