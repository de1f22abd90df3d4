"""The limit a rate search holds: `p99 < 10ms`, on the response time of transactions."""

import re
from dataclasses import dataclass

from dbdyno.experiment.bounds import cut

_LENGTH_US = {"us": 1.0, "µs": 1.0, "ms": 1e3, "s": 1e6}
_MOST_US = 3600 * 1e6
_LIMIT = re.compile(r"\s*(?:p(\d{1,2}(?:\.\d+)?)|(mean|max))\s*<\s*(\d+(?:\.\d+)?)\s*(us|µs|ms|s)\s*")


@dataclass(frozen=True)
class Limit:
    """The latency that must stay below `limit_us`: a percentile (`percent`, 0 to 100), else the mean or the maximum."""

    statistic: str
    limit_us: float
    percent: float | None = None

    def __str__(self) -> str:
        """Write it as it is read."""
        unit = "s" if self.limit_us >= 1e6 else "ms" if self.limit_us >= 1e3 else "us"
        return f"{self.statistic} < {self.limit_us / _LENGTH_US[unit]:g}{unit}"


def parse_limit(text: str) -> Limit:
    """Read a limit; raises ValueError saying how one is written."""
    match = _LIMIT.fullmatch(text)
    percent = float(match[1]) if match and match[1] else None
    limit_us = float(match[3]) * _LENGTH_US[match[4]] if match else 0.0
    if not match or not 0 < limit_us <= _MOST_US or percent == 0:
        raise ValueError(
            f'\'{cut(text)}\' is not a limit; write e.g. "p99 < 10ms", "p99.9 < 1s", "mean < 500us" or "max < 1s"'
        )
    return Limit(match[2] or f"p{percent:g}", limit_us, percent)
