"""Rules against modules that import each other in a circle: none of them could be read, tested or moved alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from tidy_rules.direction import PACKAGE, imports, module_of
from tidy_rules.house import House
from tidy_rules.rust import lines_outside_tests

USED = re.compile(r"\b(?:use )?crate::(\{[^;]*\}|\w+)")


def python_cycles(house: House) -> Iterator[str]:
    """No modules import each other in a circle when they are loaded; imports inside functions are for later."""
    modules = {module_of(path): path for path in house.paths(PACKAGE + "**/*.py")}
    graph: dict[str, set[str]] = {}
    for name, path in modules.items():
        imported = {full for _, full in imports(path, house.tree(path).body)}
        known = {full if full in modules else full.rpartition(".")[0] for full in imported}
        graph[name] = (known & set(modules)) - {name}
    for cycle in _cycle(graph):
        yield f"{modules[cycle[0]]}: modules import each other: {' → '.join(cycle)}"


def rust_cycles(house: House) -> Iterator[str]:
    """No modules of a crate use each other in a circle; a folder and its parts are one module."""
    for manifest in house.paths("crates/*/Cargo.toml"):
        source = manifest.removesuffix("Cargo.toml") + "src/"
        files = house.paths(source + "**/*.rs")
        names = {_top(path, source) for path in files} - {"lib", "main"}
        graph: dict[str, set[str]] = {name: set() for name in names}
        for path in files:
            name = _top(path, source)
            if name in names:
                text = "\n".join(line for _, line in lines_outside_tests(house, path) if "//" not in line[:8])
                graph[name] |= (_used(text) & names) - {name}
        for cycle in _cycle(graph):
            yield f"{source}{cycle[0]}.rs: modules use each other: {' → '.join(cycle)}"


def _cycle(graph: Mapping[str, set[str]]) -> Iterator[list[str]]:
    """The first circle, if there is any: it begins and ends with its alphabetically first module."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle: list[str] = error.args[1][:0:-1]
        first = circle.index(min(circle))
        yield [*circle[first:], *circle[:first], circle[first]]


def _top(path: str, source: str) -> str:
    return path.removeprefix(source).split("/")[0].removesuffix(".rs")


def _used(text: str) -> set[str]:
    """The first words of all paths that begin at the crate."""
    return {word for group in USED.findall(text) for word in re.findall(r"\b[a-z_]+\b(?=::|[,}]|$)", group)}
