"""The page of the contract's keys, from docs/contract.schema.json."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scripts.reference.markdown import code, codes, page, prose, table

INTRODUCTION = """
Every key of a plan and of a record, as [contract.schema.json](../contract.schema.json) has them.
[The contract](../contract.md) explains what they mean.
"""
Schema = Mapping[str, Any]


def contract_page(root: Path) -> str:
    """Return the page of the contract's keys."""
    schema = json.loads((root / "docs/contract.schema.json").read_text(encoding="utf-8"))
    sections = [part for name, value in schema["$defs"].items() for part in _section(name, value)]
    return page("Contract keys", prose(INTRODUCTION), *sections)


def _section(name: str, value: Schema) -> Iterator[str]:
    """Yield the section of one definition."""
    yield f"## {name}"
    shapes = [shape for shape in _shapes(value) if "properties" in shape]
    if not shapes:
        yield prose(f"{_value(value)}.")
    for shape in shapes:
        yield table(("Key", "Value", ""), _rows(shape))


def _shapes(value: Schema) -> list[Schema]:
    """Return what a definition can be."""
    return next((value[key] for key in ("oneOf", "anyOf") if key in value), [value])


def _rows(shape: Schema) -> Iterator[tuple[str, str, str]]:
    required = shape.get("required", ())
    for key, value in shape["properties"].items():
        yield code(key), _value(value), "" if key in required else "may be absent"


def _value(value: Schema) -> str:
    """Return in words what a value can be."""
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        return f"[{name}](#{name})"
    if "const" in value:
        return code(json.dumps(value["const"]))
    if "enum" in value:
        return codes(json.dumps(constant) for constant in value["enum"])
    for several in ("anyOf", "oneOf", "allOf"):
        if several in value:
            return (" and " if several == "allOf" else " or ").join(map(_value, value[several]))
    return _of_type(value)


def _of_type(value: Schema) -> str:
    kind = value.get("type", "any value")
    if kind == "array":
        return f"array of {_value(value['items'])}" if "items" in value else "array"
    if kind == "object" and "properties" in value:
        return "object: " + "; ".join(
            f"{code(key)} {_value(property_schema)}" for key, property_schema in value["properties"].items()
        )
    if isinstance(kind, list):
        kind = " or ".join(kind)
    least, most = value.get("minimum"), value.get("maximum")
    bounds = [f"≥ {least:,}" if least is not None else "", f"≤ {most:,}" if most is not None else ""]
    return ", ".join(filter(None, [kind, *bounds]))
