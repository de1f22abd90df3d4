"""`dbdyno list`: the shipped experiments, the systems and how to get them, the workloads."""

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dbdyno.cli.console import make_console
from dbdyno.experiment.clients import LIBRARIES, NATIVE, Library
from dbdyno.experiment.read import read_experiment, shipped_experiments
from dbdyno.experiment.workloads import WORKLOADS
from dbdyno.systems import ATTACHED, SYSTEMS

BESIDE = (
    ("host", "What does this host do by itself? A command of its own: dbdyno host"),
    ("your own", "tables, statements and transactions in a file: docs/own-workload.md, and two in examples/"),
)
"""Experiments that no shipped file holds."""


@click.command
def command() -> int:
    """List the shipped experiments, the systems and the workloads."""
    console = make_console()
    shipped = [(name, read_experiment(name).experiment.question) for name in shipped_experiments()]
    _print(console, "Experiments", [*shipped, *BESIDE])
    _print(console, "Systems", [(name, _system(name)) for name in SYSTEMS])
    _print(console, "By URL", [(f"{scheme}://", system.what) for scheme, system in ATTACHED.items()])
    _print(console, "Clients", [(NATIVE, "dbdyno-load, drives every system"), *map(_library, LIBRARIES.values())])
    _print(console, "Workloads", [(workload.name, _options(workload.name)) for workload in WORKLOADS.values()])
    return 0


def _system(name: str) -> str:
    system = SYSTEMS[name]
    reason = system.missing()
    return f"{system.what}\n{reason}" if reason else system.what


def _library(library: Library) -> tuple[str, str]:
    drives = ", ".join(system.name for system in SYSTEMS.values() if library.name in system.libraries)
    what = f"{library.what}; drives {drives}"
    return library.name, what if library.installed else f"{what}\n{library.missing}"


def _options(name: str) -> str:
    workload = WORKLOADS[name]
    options = [f"options.{key}: {workload.values(key)}" for key in workload.options]
    return "\n".join([workload.what, *options])


def _print(console: Console, title: str, rows: list[tuple[str, str]]) -> None:
    table = Table(title=Text(title, style="bold"), title_justify="left", box=None, show_header=False, padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column()
    for name, what in rows:
        table.add_row(Text(name), Text(what))
    console.print(table)
