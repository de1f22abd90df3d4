"""Rules about what stands where: mirrored tests, shipped experiments, and documents that can be reached."""

from __future__ import annotations

import ast
import posixpath
import re
import sys
import tomllib
from collections.abc import Iterator

from tidy_rules.house import House

# Modules whose test is another module's, and whose. Only ever shortened.
TESTED_ELSEWHERE: dict[str, str] = {}


def mirrored_tests(house: House) -> Iterator[str]:
    """python/dbdyno/PACKAGE/NAME.py has its test in tests/PACKAGE/test_NAME.py."""
    for path in house.paths("python/dbdyno/**/*.py"):
        folder, name = posixpath.split(path.removeprefix("python/dbdyno/"))
        test = posixpath.join("tests", folder, f"test_{name}")
        wanted = folder and name != "__init__.py" and _has_behaviour(house, path)
        if wanted and not house.exists(test) and path not in TESTED_ELSEWHERE:
            yield f"{path}: its test {test} is missing"
        elif path in TESTED_ELSEWHERE and (house.exists(test) or not wanted):
            yield f"{path}: needs no exemption any more: take it out of TESTED_ELSEWHERE"
    for path, test in TESTED_ELSEWHERE.items():
        if not house.exists(path) or not house.exists(test):
            yield f"{path}: TESTED_ELSEWHERE names it or {test}, which is gone"


def _has_behaviour(house: House, path: str) -> bool:
    """Return whether the module defines a function. Declarations of data alone have nothing a test could find wrong."""
    return any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in ast.walk(house.tree(path)))


def shipped_experiments(house: House) -> Iterator[str]:
    """Every shipped experiment can be read and says what it asks and what to look for."""
    for path in house.paths("experiments/*.toml"):
        try:
            experiment = tomllib.loads(house.text(path))
        except tomllib.TOMLDecodeError as error:
            yield f"{path}: {error}"
            continue
        for key in ("question", "look_for"):
            if not experiment.get(key, "").strip():
                yield f"{path}: `{key}` is missing"


LINK = re.compile(r"\]\(([^)\s]+)[^)]*\)")
HEADING = re.compile(r"#+ +(.*)")


def links(house: House) -> Iterator[str]:
    """Links inside the project lead to a file, and to a heading of it, and every document is reached by one."""
    reached: set[str] = set()
    for path in house.paths("**/*.md"):
        for number, line in house.lines(path):
            for target in LINK.findall(line):
                if "://" in target or target.startswith("mailto:"):
                    continue
                file, _, anchor = target.partition("#")
                inside = posixpath.normpath(posixpath.join(posixpath.dirname(path), file)) if file else path
                reached.add(inside)
                if not house.exists(inside):
                    yield f"{path}:{number}: the link leads nowhere: {target}"
                elif anchor and anchor not in _anchors(house, inside):
                    yield f"{path}:{number}: there is no such heading: {target}"
    for path in house.paths("docs/**/*.md"):
        if path not in reached:
            yield f"{path}: no other document links to it"


def _anchors(house: House, path: str) -> set[str]:
    """Return the headings of a document as GitHub names them in addresses."""
    headings = (HEADING.match(line) for _, line in house.lines(path))
    return {re.sub(r"[^\w\- ]", "", heading[1].lower()).replace(" ", "-") for heading in headings if heading}


# Packages whose types are another's public interface, and come with it.
PART_OF = {"markupsafe": "jinja2", "pydantic_core": "pydantic"}
# Packages imported by another name than they are installed by.
INSTALLED_AS = {
    "MySQLdb": "mysqlclient",
    "cassandra": "cassandra_driver",
    "opentelemetry": "opentelemetry_exporter_otlp_proto_http",
}
# Extras that no module of the package needs.
FOR_DEVELOPMENT = {"test"}


def declared_dependencies(house: House) -> Iterator[str]:
    """The package imports what pyproject.toml declares, no more and no less."""
    if not house.exists("pyproject.toml"):
        yield "pyproject.toml: missing"
        return
    project = tomllib.loads(house.text("pyproject.toml"))["project"]
    extras = project.get("optional-dependencies", {})
    optional = [entry for name, entries in extras.items() if name not in FOR_DEVELOPMENT for entry in entries]
    declared = project.get("dependencies", []) + optional
    wanted = {re.split(r"[^\w-]", entry)[0].replace("-", "_").lower() for entry in declared}
    imported: dict[str, str] = {}
    for path in house.paths("python/dbdyno/**/*.py"):
        for name in _imported_packages(house.tree(path)) - sys.stdlib_module_names - {"dbdyno"}:
            imported.setdefault(PART_OF.get(name, INSTALLED_AS.get(name, name)), path)
    for name in sorted(imported.keys() - wanted):
        yield f"{imported[name]}: imports {name}, which pyproject.toml does not declare"
    for name in sorted(wanted - imported.keys()):
        yield f"pyproject.toml: {name} is declared and never imported"


def _imported_packages(tree: ast.Module) -> set[str]:
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    froms = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level == 0]
    names = [alias.name for node in imports for alias in node.names] + [node.module or "" for node in froms]
    return {name.split(".")[0] for name in [*names, *_loaded_compiled(tree)]}


def _loaded_compiled(tree: ast.Module) -> Iterator[str]:
    """Yield the packages whose compiled modules are loaded apart from them (`dbdyno.later.load_compiled`)."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="load_compiled"), args=[ast.Constant(value=str(package)), *_]):
                yield package
