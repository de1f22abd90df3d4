"""The templates of pages and flame graphs, as files of this package."""

from __future__ import annotations

import re
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

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


def unbroken(text: str) -> Markup:
    """Return a text in which no line ends within the name of an option, such as --repeat."""
    return Markup(re.sub(r"(?<![\w-])--\w[\w-]*", r'<span class="whole">\g<0></span>', str(escape(text))))
