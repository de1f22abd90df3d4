"""A rule about names: a variable says what it holds."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tidy_rules.house import House

VAGUE = frozenset({"found", "one", "place", "shown", "told"})
"""Names that fit any value, so they say nothing about the one they hold."""
NAMED = ("python/**/*.py", "tests/**/*.py", "scripts/**/*.py", "benches/**/*.py")
"""The sources whose names the rule looks at."""
CONTRACT = "python/dbdyno/contract.py"
"""Its fields are keys of the contract, which programs outside this repository write."""


def vague_names(house: House) -> Iterator[str]:
    """No variable, parameter, field or function has a name of VAGUE."""
    for path in house.paths(*NAMED):
        for number, name in sorted(_bound(house.tree(path))):
            if name in VAGUE and path != CONTRACT:
                yield f"{path}:{number}: {name} does not say what it holds"


def _bound(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield every name that a module gives to a value or a function, with its line."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield node.lineno, name
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield node.lineno, name
            case ast.alias(asname=str(name)) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield node.lineno, name
