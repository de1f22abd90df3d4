"""TOML read so that whatever is in it ends in a value or in words."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from dbdyno.experiment.bounds import MOST_DEPTH, is_too_deep
from dbdyno.later import LaterModule

if TYPE_CHECKING:
    import tomllib
else:
    tomllib = LaterModule("tomllib")

Table: TypeAlias = Mapping[str, Any]
"""A table as a person wrote it. Its keys are checked when the experiment is read."""


def parse_toml(text: str) -> Table:
    """Return the tables of a text; raises ValueError, saying why, if it is no TOML or nested too deeply."""
    try:
        document = tomllib.loads(text)
    except RecursionError:
        document = None
    # A dotted key nests without recursion.
    if document is None or is_too_deep(document):
        raise ValueError(f"tables and lists nest more than {MOST_DEPTH} deep")
    return document


def as_list(value: Any) -> Any:
    """Return a list as it is, and any other value as a list of it alone."""
    return value if isinstance(value, list) else [value]
