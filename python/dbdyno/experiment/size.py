"""Sizes as text: `512M`, `2G`."""

import re

from dbdyno.experiment.bounds import MOST_SIZE_BYTES, cut

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def size_bytes(text: str) -> int:
    """Return the bytes of a size such as `512M`, `2G` or `1000000`; raises ValueError if it is none."""
    match = re.fullmatch(r"(\d{1,20})\s*([KMGT]?)i?B?", text.strip())
    if not match:
        raise ValueError(f'\'{cut(text)}\' is not a size; write e.g. "512M" or "2G"')
    return int(match[1]) * _UNITS[match[2]]


def check_size(value: str) -> str:
    """Return a size as it is; raises ValueError if it is none, or larger than any memory."""
    if size_bytes(value) > MOST_SIZE_BYTES:
        raise ValueError(f"{cut(value)}: at most {MOST_SIZE_BYTES >> 40:,}T")
    return value
