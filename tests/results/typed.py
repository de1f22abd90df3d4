"""A value held against the typed dictionary that declares its keys."""

from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_type_hints, is_typeddict


def differing_keys(kind: type, value: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """Yield the keys that a value or its type lacks, also those of what it holds."""
    hints = get_type_hints(kind)
    yield from (f"{path}{key}" for key in hints.keys() ^ value.keys())
    for key in hints.keys() & value.keys():
        kinds = [inner for inner in (hints[key], *get_args(hints[key])) if is_typeddict(inner)]
        if kinds and isinstance(value[key], Mapping):
            yield from differing_keys(kinds[0], value[key], f"{path}{key}.")
