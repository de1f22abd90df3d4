"""The templates of pages and flame graphs, as files of this package."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

TEMPLATES = Path(__file__).parent.parent / "templates"
SECTIONS = Path(__file__).parent.parent / "sections"
"""A section's own template lies beside its module."""


def templates() -> Environment:
    """Return the environment of templates: it escapes all values, and refuses names that it was not given."""
    return Environment(
        loader=FileSystemLoader([TEMPLATES, SECTIONS]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
