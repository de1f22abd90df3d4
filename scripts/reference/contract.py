"""The page of the contract's keys, from docs/contract.schema.json."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scripts.reference.markdown import WIDTH, code, codes, page, prose, table

from dbdyno.systems import SYSTEMS
from dbdyno.systems.embedded.engine import Engine
from dbdyno.systems.embedded.installed_library import InstalledLibrary

INTRODUCTION = """
Every key of a plan and of a record, as [contract.schema.json](../contract.schema.json) has them.
[The contract](../contract.md) explains what they mean.
"""
Schema = Mapping[str, Any]
BEFORE_ENGINES = "sqlite"
"""The store behind which the embedded engines are listed."""
ENGINES = {name: system for name, system in SYSTEMS.items() if issubclass(system, Engine)}


def schema_text(root: Path) -> str:
    """Return docs/contract.schema.json with the store of every embedded engine, as its system declares it."""
    schema = json.loads((root / "docs/contract.schema.json").read_text(encoding="utf-8"))
    store = schema["$defs"]["store"]
    others = {name: value for name, value in schema["$defs"].items() if name not in ENGINES}
    kinds = [kind for kind in store["properties"]["kind"]["enum"] if kind not in ENGINES]
    behind = kinds.index(BEFORE_ENGINES) + 1
    kinds[behind:behind] = ENGINES
    store["properties"]["kind"]["enum"] = kinds
    store["allOf"] = [
        {"if": {"properties": {"kind": {"const": kind}}}, "then": {"$ref": f"#/$defs/{kind}"}} for kind in kinds
    ]
    schema["$defs"] = {}
    for name, value in others.items():
        schema["$defs"][name] = value
        if name == BEFORE_ENGINES:
            schema["$defs"] |= {engine: _engine(engine) for engine in ENGINES}
    return _json(schema) + "\n"


def _engine(name: str) -> Schema:
    """Return the definition of an engine's store: its kind and path, its library, its settings."""
    system = ENGINES[name]
    properties: dict[str, Schema] = {"kind": {"const": name}, "path": {"type": "string"}}
    if issubclass(system, InstalledLibrary):
        properties["library"] = {"type": "string"}
    properties |= {key: {"enum": list(values)} for key, values in system.choices.items()}
    properties |= {key: {"type": "integer", "minimum": 0} for key in system.numbers}
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def _json(value: Any, indent: str = "", taken: int = 0) -> str:
    """Return JSON in which all that fits is on one line; `taken` characters of the first line are used."""
    text = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or len(indent) + taken + len(text) < WIDTH:
        return text
    inner = indent + "  "
    if isinstance(value, list):
        return "[\n" + ",\n".join(inner + _json(item, inner) for item in value) + f"\n{indent}]"
    keys = {key: json.dumps(key) + ": " for key in value}
    lines = [f"{inner}{keys[key]}{_json(item, inner, len(keys[key]))}" for key, item in value.items()]
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"


def engines_table() -> str:
    """Return the table of the embedded engines in docs/contract.md."""
    return table(("`kind`", "keys"), ((code(name), ", ".join(_keys(name))) for name in ENGINES))


def _keys(name: str) -> Iterator[str]:
    for key, value in _engine(name)["properties"].items():
        if key != "kind":
            yield f"{code(key)} ({_value(value)})" if "enum" in value else code(key)


def contract_page(root: Path) -> str:
    """Return the page of the contract's keys."""
    schema = json.loads(schema_text(root))
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
