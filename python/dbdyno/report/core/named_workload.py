"""The name of a recorded workload, read: `batch-get?batch=10` is a workload and its options."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple
from urllib.parse import parse_qsl


class NamedWorkload(NamedTuple):
    """A workload without its options, and these; `variant` is their text, empty without any."""

    name: str
    options: Mapping[str, str]
    variant: str


@cache
def named_workload(text: str | None) -> NamedWorkload:
    """Return the workload that a trial names; one that was not reached may name none."""
    name, _, variant = (text or "").partition("?")
    return NamedWorkload(name, dict(parse_qsl(variant, keep_blank_values=True)), variant)
