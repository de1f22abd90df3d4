"""A rule about docstrings: the first words say what a thing is, or what it returns or does."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tidy_rules.house import House

SOURCES = ("python/**/*.py", "tests/**/*.py", "scripts/**/*.py", "benches/**/*.py")
"""The sources whose docstrings the rule looks at."""
INVERTED = re.compile(r"\s*(Of|What(?:ever)?|Where|Whether|Which|Who(?:m|se|ever)?)\b")


def docstring_openings(house: House) -> Iterator[str]:
    """No docstring begins with "Of", "What", "Where", "Whether", "Which" or "Who"."""
    for path in house.paths(*SOURCES):
        for node in ast.walk(house.tree(path)):
            match node:
                case ast.Expr(value=ast.Constant(value=str(text))) if opening := INVERTED.match(text):
                    yield f"{path}:{node.lineno}: say what it is, returns or does; do not begin with {opening[1]}"
