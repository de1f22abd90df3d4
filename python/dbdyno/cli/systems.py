"""`dbdyno systems`: what can be measured, and in which versions."""

from collections.abc import Iterator
from dataclasses import dataclass

from dbdyno.cli.console import make_console
from dbdyno.cli.first_clause import first_clause
from dbdyno.errors import UserError
from dbdyno.experiment.workloads import ANALYSE, OPERATIONS
from dbdyno.report.core.terminal import Column, print_columns, say
from dbdyno.systems import ATTACHED, SYSTEMS
from dbdyno.systems.packages.cache import cache_folder, installed
from dbdyno.systems.packages.catalogue import PACKAGES
from dbdyno.systems.packages.package import Package

INSTALLED, MISSING, BROKEN, ATTACH = "installed", "missing", "broken", "attach only"


@dataclass(frozen=True, slots=True)
class _Entry:
    """One system or version.

    Attributes:
        how: how to get it, if it is not installed.
        what: what it is; empty of a version.
        lacks: what it cannot do, or empty.
    """

    name: str
    version: str
    state: str
    how: str
    what: str = ""
    lacks: str = ""

    @property
    def line(self) -> str:
        """The text beside its name if it has one line: how to get it, or else what it is."""
        return self.how.partition("; ")[0] or first_clause(self.what)

    @property
    def details(self) -> str:
        """Everything about it, in lines."""
        return "\n".join(filter(None, (self.how, self.what, self.lacks)))


def command(name: str | None, details: bool) -> None:
    """Print every system with its versions, or those whose name has `name` in it."""
    console = make_console()
    entries = [entry for entry in _entries() if not name or name in entry.name]
    if not entries:
        raise UserError(f"no system has '{name}' in its name; `dbdyno systems` lists them")
    texts = [entry.details if details else entry.line for entry in entries]
    columns = [
        Column("system", [entry.name for entry in entries], left=True),
        Column("version", [entry.version for entry in entries], 1, left=True),
        Column("state", [entry.state for entry in entries], left=True),
        Column("", texts, left=True, prose=details),
    ]
    print_columns(columns, console, 0, ["" if entry.state != BROKEN else "yellow" for entry in entries])
    console.print()
    say(console, f"Versions are kept in {cache_folder()}.", "dim")
    if not details:
        say(console, "Settings, and what a system cannot do: dbdyno systems --details", "dim")


def _entries() -> Iterator[_Entry]:
    for name, system in SYSTEMS.items():
        lacks = _lacks(system.operations)
        # A system that comes as one package has that version; others have the host's.
        if name in PACKAGES:
            yield _of_package(PACKAGES[name], system.what, lacks)
        else:
            reason = system.missing()
            yield _Entry(name, "", MISSING if reason else INSTALLED, _how(reason or ""), system.what, lacks)
        for package in (package for package in PACKAGES.values() if package.system == name and package.version):
            yield _of_package(package)
    for scheme, system in ATTACHED.items():
        yield _Entry(f"{scheme}://", "", ATTACH, "", system.what)


def _how(reason: str) -> str:
    """Return how to get what is missing, from the sentence that says what is."""
    before, _, how = reason.partition(": ")
    return how if before.endswith("not installed") else reason


def _lacks(operations: frozenset[str]) -> str:
    """Return what it cannot do; empty if it can do all, or is for whole tables."""
    lacking = [what for operation, what in OPERATIONS.items() if operation not in operations]
    return f"cannot: {'; '.join(lacking)}" if lacking and operations != {ANALYSE} else ""


def _of_package(package: Package, what: str = "", lacks: str = "") -> _Entry:
    there = installed(package)
    broken = there.broken() if there else None
    state = BROKEN if broken else INSTALLED if there else MISSING
    how = f"dbdyno systems install {package.name}; {broken}" if broken else "" if there else package.how_to_get_it
    name = f"  {package.name}" if package.version else package.name
    return _Entry(name, f"{package.release}, {package.client}", state, how, what, lacks)
