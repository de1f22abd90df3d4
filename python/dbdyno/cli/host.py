"""`dbdyno host`: what this host does by itself, before any store."""

import json
import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from dbdyno.cli.console import make_console
from dbdyno.observe.environment import data_directory
from dbdyno.observe.gauges.measure import FULL, measure_host
from dbdyno.report.sections.hosts import GAUGES, course, figure, sketch


@click.command
@click.option(
    "--directory",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Whose disk to measure; else that of the data of private servers.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of the table.")
def command(directory: Path | None, as_json: bool) -> int:
    """Measure this host: clock, scheduler, memory, loopback, disk and processor, some fifteen seconds in all."""
    print("measuring for some fifteen seconds …", file=sys.stderr)
    directory = directory or data_directory()
    measured = measure_host(directory, FULL) | {"directory": str(directory)}
    if as_json:
        click.echo(json.dumps(measured, indent=1))
    else:
        _print(measured, make_console())
    return 0


def _print(measured: dict[str, Any], console: Console) -> None:
    """A line for each figure: its name, its value, and how it went on; 80 columns have room for all three."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    for gauge in GAUGES:
        value = figure(measured, gauge)
        table.add_row(
            gauge.name,
            gauge.written(value) if value is not None else "not measured",
            sketch(course(measured, gauge)),
        )
    console.print(table)
    console.print("Beside it: the median of each part of the time it took, from zero to the highest.", style="dim")
    for name, reason in measured["not_measured"].items():
        console.print(f"{name}: {reason}", style="yellow", soft_wrap=True)
    if measured["disk"]:
        past = "" if measured["disk"]["direct"] else "; the file system knows no O_DIRECT, so reads came from memory"
        console.print(
            f"disk of {measured['directory']}, by {measured['disk']['by']}{past}", style="dim", soft_wrap=True
        )
