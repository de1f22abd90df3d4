"""Rules about size and documentation: a function fits on a screen, a file is one thing, and each says what it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tidy_rules import rust
from tidy_rules.house import House

MAX_FUNCTION_LINES = 70
MAX_FILE_LINES = 500


def function_length(house: House) -> Iterator[str]:
    """Functions have at most MAX_FUNCTION_LINES lines, docstring included."""
    for path in house.paths("**/*.py", "**/*.rs"):
        functions = rust.functions(house, path) if path.endswith(".rs") else _python_functions(house, path)
        for name, number, length in functions:
            if length > MAX_FUNCTION_LINES:
                yield f"{path}:{number}: {name} has {length} lines, at most {MAX_FUNCTION_LINES}"


def _python_functions(house: House, path: str) -> Iterator[tuple[str, int, int]]:
    for node in ast.walk(house.tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.lineno, (node.end_lineno or node.lineno) - node.lineno + 1


def file_length(house: House) -> Iterator[str]:
    """Source files have at most MAX_FILE_LINES lines."""
    for path in house.paths("**/*.py", "**/*.rs", "scripts/*", "Makefile"):
        length = house.text(path).count("\n")
        if length > MAX_FILE_LINES:
            yield f"{path}: {length} lines, at most {MAX_FILE_LINES}: split it by what it is about"


def module_documentation(house: House) -> Iterator[str]:
    """Every Python module has a docstring, and every Rust file begins with a `//!` line."""
    for path in house.paths("**/*.py"):
        if not ast.get_docstring(house.tree(path)):
            yield f"{path}:1: the module has no docstring"
    for path in house.paths("**/*.rs"):
        if not house.text(path).startswith("//! "):
            yield f"{path}:1: the file does not begin with a //! line that says what it is"


def silent_handlers(house: House) -> Iterator[str]:
    """An exception that is dropped has a comment that says why it may be."""
    for path in house.paths("**/*.py"):
        lines = house.text(path).split("\n")
        for node in ast.walk(house.tree(path)):
            if isinstance(node, ast.ExceptHandler) and all(isinstance(part, ast.Pass) for part in node.body):
                # The comment may stand before the handler, beside it, or in it.
                around = lines[node.lineno - 2 : node.end_lineno]
                if not any("#" in line for line in around):
                    yield f"{path}:{node.lineno}: the exception is dropped without a comment that says why"
