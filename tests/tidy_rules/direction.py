"""Rules about who may know whom, in Python and between the crates, and about files that nobody knows.

The tables here are those of ARCHITECTURE.md, "Allowed dependencies".
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator

from tidy_rules.house import House

PACKAGE = "python/dbdyno/"
PYTHON_MAY_IMPORT = {
    "experiment": set(),
    # Recordings are histograms, so reading them needs their arithmetic.
    "results": {"stats"},
    "stats": set(),
    # A separate program, as the native load client is: what it shares with the rest is docs/contract.md.
    "load_python": set(),
    # The same: how a plan is read and records are written, it shares with the Python load client.
    "load_sysbench": {"load_python"},
    # Rows, files and answers of the flight table.
    "analytics": set(),
    # Guards are separate programs, which run beside dbdyno and import nothing else.
    "leftovers": set(),
    # Both read what cassandra-driver reads of a server, and its bound is one module.
    "systems": {"analytics", "experiment", "leftovers", "load_python", "results", "stats"},
    "observe": {"experiment", "results", "stats"},
    "verdict": {"stats", "results"},
    # An agent starts, watches and ends a load client; a keeper does so with a server, and observes it.
    "hosts": {"experiment", "leftovers", "observe", "results", "systems"},
    "report": {"results", "stats", "verdict"},
    "tables": {"experiment", "report", "results", "stats"},
    # A decision's outcome is named where it is made.
    "export": {"report", "results", "stats", "tables"},
    # How many pairs a wanted precision takes is decided while they are run.
    "conduct": {"analytics", "experiment", "hosts", "leftovers", "systems", "observe", "results", "stats", "verdict"},
    "cli": {
        "experiment",
        "hosts",
        "results",
        "stats",
        "systems",
        "observe",
        "verdict",
        "report",
        "conduct",
        "tables",
        "export",
        "metrics",
        "serve",
    },
    "__main__": {"cli"},
    # Listens to a run that is conducted.
    "metrics": {"conduct", "experiment", "stats"},
    # Pages over the folders of runs; they know nothing of a run but its folder.
    "serve": {"report", "results", "stats", "tables", "verdict"},
    # The Python API; the package itself offers it, and loads it when it is used.
    "api": {"results", "tables"},
    "": {"api"},
}
# Modules that everybody may import; they import nothing but each other. "" is the package itself (its version).
SHARED = {"", "contract", "errors", "later"}

CRATES_MAY_USE = {
    "model": set(),
    "wire": set(),
    "net": set(),
    "workloads": {"model"},
    "stores": {"model", "wire", "net"},
    "load": {"model", "wire", "net", "workloads", "stores"},
}


def python_direction(house: House) -> Iterator[str]:
    """A package imports only those that PYTHON_MAY_IMPORT allows."""
    for path in house.paths(PACKAGE + "**/*.py"):
        part = _part(module_of(path))
        allowed = PYTHON_MAY_IMPORT.get(part, set()) | SHARED | {part}
        if part not in PYTHON_MAY_IMPORT and part not in SHARED:
            yield f"{path}: {part} is not in the table of allowed dependencies"
        for number, name in imports(path, ast.walk(house.tree(path))):
            if name.split(".")[0] == "dbdyno" and _part(name, house) not in allowed:
                yield f"{path}:{number}: {part or 'dbdyno'} may not import {_part(name, house)}"


def module_of(path: str) -> str:
    """The dotted name of a file."""
    return path.removeprefix("python/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _part(module: str, house: House | None = None) -> str:
    """The package or module below dbdyno that a dotted name belongs to; "" for a name that dbdyno itself defines."""
    part = [*module.split("."), ""][1]
    if house and not house.exists(PACKAGE + part) and not house.exists(f"{PACKAGE}{part}.py"):
        return ""
    return part


def imports(path: str, nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """Line and full dotted name of everything that these nodes of a file import.

    `from a import b` imports `a.b`, as b may be a module.
    """
    package = module_of(path).split(".")
    package = package if path.endswith("__init__.py") else package[:-1]
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                yield node.lineno, f"{base}.{alias.name}"


def crate_direction(house: House) -> Iterator[str]:
    """A crate depends only on those that CRATES_MAY_USE allows; its tests may use any."""
    for path in house.paths("crates/*/Cargo.toml"):
        manifest = tomllib.loads(house.text(path))
        crate = path.split("/")[1]
        if crate not in CRATES_MAY_USE:
            yield f"{path}: {crate} is not in the table of allowed dependencies"
        targets = [manifest, *manifest.get("target", {}).values()]
        tables = [target.get(kind, {}) for target in targets for kind in ("dependencies", "build-dependencies")]
        names = {name.removeprefix("dbdyno-") for table in tables for name in table if name.startswith("dbdyno-")}
        for name in sorted(names - CRATES_MAY_USE.get(crate, set())):
            yield f"{path}: {crate} may not depend on {name}"


def dead_python(house: House) -> Iterator[str]:
    """Every Python module is imported by another one, or named in it to be run (`python -m`) or loaded when needed."""
    paths = house.paths(PACKAGE + "**/*.py")
    known: set[str] = set()
    for path in paths:
        named = {name for _, name in imports(path, ast.walk(house.tree(path)))} | _named(house, path)
        known |= named - {module_of(path)}
    for path in paths:
        module = module_of(path)
        if path.endswith(("__init__.py", "__main__.py")):
            continue
        if module not in known and not any(name.startswith(module + ".") for name in known):
            yield f"{path}: nothing imports it"


def _named(house: House, path: str) -> set[str]:
    """Modules named in strings: whole, or as `f"dbdyno.cli.{name}"` with the names that stand in the same file."""
    constants = {node.value for node in ast.walk(house.tree(path)) if isinstance(node, ast.Constant)}
    strings = {value for value in constants if isinstance(value, str)}
    prefixes = {value for value in strings if value.startswith("dbdyno.") and value.endswith(".")}
    return strings | {prefix + value for prefix in prefixes for value in strings}


def dead_rust(house: House) -> Iterator[str]:
    """Every Rust file is a module that another one declares: the compiler does not miss one that nobody does."""
    for path in house.paths("crates/*/src/**/*.rs"):
        crate, _, inside = path.partition("/src/")
        name = inside.removesuffix("/mod.rs").removesuffix(".rs").split("/")[-1]
        if inside in ("main.rs", "lib.rs") or inside.startswith("bin/"):
            continue
        declared = re.compile(rf"^ *(?:pub(?:\([^)]*\))? )?mod {name};", re.MULTILINE)
        if not any(declared.search(house.text(other)) for other in house.paths(crate + "/src/**/*.rs")):
            yield f"{path}: no `mod {name};` declares it"
