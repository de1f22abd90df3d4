"""The limit a rate search holds: `p99 < 10ms`, on the response time of transactions."""

import re
from dataclasses import dataclass

_LENGTH_US = {"us": 1.0, "µs": 1.0, "ms": 1e3, "s": 1e6}
_LIMIT = re.compile(r"\s*(?:p(\d{1,2}(?:\.\d+)?)|(mean|max))\s*<\s*(\d+(?:\.\d+)?)\s*(us|µs|ms|s)\s*")


@dataclass(frozen=True)
class Limit:
    """What must stay below `limit_us`: a percentile (`percent`, between 0 and 100), else the mean or the maximum."""

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
    if not match or limit_us <= 0 or percent == 0:
        raise ValueError(f'\'{text}\' is no limit; write e.g. "p99 < 10ms", "p99.9 < 1s", "mean < 500us" or "max < 1s"')
    return Limit(match[2] or f"p{percent:g}", limit_us, percent)
