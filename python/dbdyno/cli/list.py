"""`dbdyno list`: the shipped experiments, the systems and how to get them, the workloads."""

from dataclasses import dataclass

from rich.console import Console

from dbdyno.cli.console import make_console
from dbdyno.cli.first_clause import first_clause
from dbdyno.errors import UserError
from dbdyno.experiment.clients import LIBRARIES, NATIVE, Library
from dbdyno.experiment.shipped_files import shipped_questions
from dbdyno.experiment.workloads import WORKLOADS, Workload
from dbdyno.report.core.terminal import Column, print_columns, say
from dbdyno.systems import ATTACHED, SYSTEMS

BESIDE = {
    "host": "this host by itself, without a store: dbdyno host",
    "your own": "your own tables and transactions, docs/own-workload.md; two are in examples/",
}
"""Experiments that no shipped file holds."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """One line of a list; `more`: the lines that its details have beside it; `missing`: it is not installed."""

    name: str
    what: str
    more: tuple[str, ...] = ()
    missing: bool = False

    @property
    def line(self) -> str:
        """The text beside its name if it has one line."""
        return f"missing · {first_clause(self.what)}" if self.missing else first_clause(self.what)


def command(name: str | None, details: bool) -> int:
    """Print the shipped experiments, the systems and the workloads, or those whose name has `name` in it."""
    console = make_console()
    lists = {
        title: [entry for entry in entries if not name or name in entry.name] for title, entries in _lists().items()
    }
    if not any(lists.values()):
        raise UserError(f"nothing has '{name}' in its name; `dbdyno list` shows what there is")
    for number, (title, entries) in enumerate(item for item in lists.items() if item[1]):
        if number:
            console.print()
        say(console, title, "bold")
        _print(entries, details, console)
    if not details:
        say(console, "\nOptions, and how to get what is missing: dbdyno list --details", "dim")
    return 0


def _lists() -> dict[str, list[_Entry]]:
    experiments = {**shipped_questions(), **BESIDE}
    return {
        "Experiments": [_Entry(name, question) for name, question in experiments.items()],
        "Systems": [_system(name) for name in SYSTEMS],
        "By URL": [_Entry(f"{scheme}://", system.what) for scheme, system in ATTACHED.items()],
        "Clients": [
            _Entry(NATIVE, "dbdyno-load, drives every system"),
            *map(_library, LIBRARIES.values()),
            _Entry("./program", "a program of yours, docs/own-client.md"),
        ],
        "Workloads": [_workload(workload) for workload in WORKLOADS.values()],
    }


def _system(name: str) -> _Entry:
    system = SYSTEMS[name]
    reason = system.missing()
    return _Entry(name, system.what, (reason,) if reason else (), bool(reason))


def _library(library: Library) -> _Entry:
    drives = ", ".join(system.name for system in SYSTEMS.values() if library.name in system.libraries)
    missing = () if library.installed else (str(library.missing),)
    return _Entry(library.name, f"{library.what}; drives {drives}", missing, bool(missing))


def _workload(workload: Workload) -> _Entry:
    options = tuple(f"options.{key}: {workload.values(key)}" for key in workload.options)
    return _Entry(workload.name, workload.what, options)


def _print(entries: list[_Entry], details: bool, console: Console) -> None:
    texts = ["\n".join((entry.what, *entry.more)) if details else entry.line for entry in entries]
    names = Column("", [entry.name for entry in entries], left=True)
    print_columns([names, Column("", texts, left=True, prose=details)], console)
