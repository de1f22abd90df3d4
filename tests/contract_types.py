"""The shape of a type of dbdyno.contract and of a definition of docs/contract.schema.json, in a form that compares.

A shape is the set of what a value can be: a name of JSON's for a type, a constant, or a tuple for what holds others.
"""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints

from typing_extensions import is_typeddict

NAMES = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}
ANY = frozenset({"any"})

Shape = frozenset[Any]


def shape_of_type(annotation: Any) -> Shape:
    """Return the shape of a Python type."""
    if annotation in (Any, object):
        return ANY
    if annotation in NAMES:
        return frozenset({NAMES[annotation]})
    if is_typeddict(annotation):
        hints = get_type_hints(annotation, include_extras=True)
        return _object({key: (get_origin(hint) is not NotRequired, _inner(hint)) for key, hint in hints.items()})
    return _of_generic(get_origin(annotation), get_args(annotation))


def _of_generic(origin: Any, arguments: tuple[Any, ...]) -> Shape:
    if origin in (Union, types.UnionType):
        return frozenset().union(*map(shape_of_type, arguments))
    if origin is Literal:
        return frozenset(("constant", value) for value in arguments)
    if origin is Sequence:
        return frozenset({("array", shape_of_type(arguments[0]))})
    if origin is Mapping:
        return frozenset({("map", *map(shape_of_type, arguments))})
    raise TypeError(f"{origin} is no type of JSON")


def _inner(hint: Any) -> Shape:
    return shape_of_type(get_args(hint)[0] if get_origin(hint) is NotRequired else hint)


def _object(keys: dict[str, tuple[bool, Shape]]) -> Shape:
    return frozenset({("object", frozenset((key, *about) for key, about in keys.items()))})


def shape_of_schema(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Shape:
    """Return the shape of a definition of a JSON Schema; bounds of numbers and lengths are no part of it."""
    if "$ref" in schema:
        return shape_of_schema(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in schema:
        return frozenset().union(*(shape_of_schema(part, definitions) for part in schema["anyOf"]))
    if "const" in schema:
        return frozenset({("constant", schema["const"])})
    if "enum" in schema:
        return frozenset("null" if value is None else ("constant", value) for value in schema["enum"])
    return _of_kind(schema, definitions)


def _of_kind(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Shape:
    if "properties" in schema:
        required, parts = schema.get("required", ()), schema["properties"].items()
        return _object({key: (key in required, shape_of_schema(value, definitions)) for key, value in parts})
    if schema.get("type") == "array":
        return frozenset({("array", shape_of_schema(schema["items"], definitions))})
    if schema.get("type") == "object":
        keys = schema.get("propertyNames", {"type": "string"}), schema.get("additionalProperties", {})
        return frozenset({("map", *(shape_of_schema(part, definitions) for part in keys))})
    kinds = schema.get("type", "any")
    return frozenset([kinds] if isinstance(kinds, str) else kinds)
