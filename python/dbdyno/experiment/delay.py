"""A network delay: a client waits between an answer and its next request, as if the store were further away."""

import re
from typing import Any

MAX_US = 2_000_000
"""The contract's bound (docs/contract.md): longer than any network's delay."""
_UNITS_US = {"us": 1, "µs": 1, "ms": 1000}


def read_delays(value: Any) -> list[int]:
    """Read the key `network_delay_us`: whole microseconds, `"200us"` or `"1ms"`, or a list of them.

    Raises ValueError, saying what is accepted, for anything else, a delay given twice, or none.
    """
    delays = [_read_delay(entry) for entry in (value if isinstance(value, list) else [value])]
    if not delays or len(set(delays)) < len(delays):
        raise ValueError('give at least one delay, and each once, e.g. [0, "200us", "1ms"]')
    return delays


def _read_delay(entry: Any) -> int:
    if isinstance(entry, str) and (match := re.fullmatch(r"\s*(\d{1,20})\s*([µu]s|ms)\s*", entry)):
        entry = int(match[1]) * _UNITS_US[match[2]]
    if isinstance(entry, bool) or not isinstance(entry, int):
        raise ValueError(f'{entry!r} is not a delay; give whole microseconds, or text such as "200us" or "1ms"')
    if not 0 <= entry <= MAX_US:
        raise ValueError(f"{entry:,} µs: a delay is from 0 to {MAX_US:,} µs")
    return entry
