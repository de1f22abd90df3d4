"""The documentation of a class's attributes in the sources: the string under each."""

import ast
import inspect
import textwrap


def documented_attributes(owner: type) -> dict[str, str]:
    """Return the text under each attribute of a class, by name. Only the source has these strings."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(owner)))
    (definition,) = tree.body
    assert isinstance(definition, ast.ClassDef)
    texts: dict[str, str] = {}
    for attribute, below in zip(definition.body, definition.body[1:], strict=False):
        if isinstance(attribute, ast.AnnAssign) and isinstance(attribute.target, ast.Name) and _is_text(below):
            texts[attribute.target.id] = inspect.cleandoc(below.value.value)
    return texts


def _is_text(node: ast.stmt) -> bool:
    is_constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_constant and isinstance(node.value.value, str)
