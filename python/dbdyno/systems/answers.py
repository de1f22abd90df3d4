"""Answers of servers. A driver gives them as they come, so their values have no type; each reader converts them."""

from typing import Any, TypeAlias

Answer: TypeAlias = dict[str, Any]
"""A row, a document or a list of figures, by name."""
