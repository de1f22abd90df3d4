"""Rules about names: a variable says what it holds, and a module is a thing or an action."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import PurePath

from tidy_rules.house import House
from tidy_rules.rust import words

VAGUE = frozenset({"found", "one", "place", "shown", "told"})
"""Names that fit any value, so they say nothing about the one they hold."""
NAMED = ("python/**/*.py", "tests/**/*.py", "scripts/**/*.py", "benches/**/*.py")
"""The sources in Python whose names the rule looks at."""
NAMED_IN_RUST = ("crates/**/*.rs", "fuzz/**/*.rs")
"""The sources in Rust. There, a word outside of comments and strings is always a name."""
CONTRACT = "python/dbdyno/contract.py"
"""Its fields are keys of the contract, which programs outside this repository write."""


def vague_names(house: House) -> Iterator[str]:
    """No variable, parameter, field or function has a name of VAGUE."""
    for path in house.paths(*NAMED):
        for number, name in sorted(_bound(house.tree(path))):
            if name in VAGUE and path != CONTRACT:
                yield f"{path}:{number}: {name} does not say what it holds"
    for path in house.paths(*NAMED_IN_RUST):
        for number, word in words(house.text(path)):
            if word in VAGUE:
                yield f"{path}:{number}: {word} does not say what it holds"


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


UNCLEAR = frozenset({"able", "asked", "in_force", "lasting", "moved", "passes", "understood"})
"""Names that say nothing about what a module holds, and that do not end like other participles."""
NAMES_OF_STORES = frozenset({"embedded", "memcached", "replicated"})
"""Names that end like a participle, and are a store's or an arrangement's own."""


def module_names(house: House) -> Iterator[str]:
    """No module is named by a participle alone."""
    for path in house.paths("python/**/*.py", "crates/*/src/**/*.rs"):
        name = PurePath(path).stem
        if name in UNCLEAR or (name.endswith("ed") and "_" not in name and name not in NAMES_OF_STORES):
            yield f"{path}: name the module by a noun for what it holds, not {name}"
