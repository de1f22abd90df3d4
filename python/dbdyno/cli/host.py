"""`dbdyno host`: what this host does by itself, before any store."""

import json
import sys
from pathlib import Path

import click
from rich.console import Console

from dbdyno.cli.console import make_console
from dbdyno.observe.environment import data_directory
from dbdyno.observe.gauges.measure import FULL, measure_host
from dbdyno.report.core.terminal import Column, print_columns, say
from dbdyno.report.sections.hosts import GAUGES, course, sketch
from dbdyno.results.environment import MeasuredHost


def command(directory: Path | None, as_json: bool) -> int:
    """Measure this host, and print the figures."""
    print("measuring for about 15 s …", file=sys.stderr)
    directory = directory or data_directory()
    measured: MeasuredHost = {**measure_host(directory, FULL), "directory": str(directory)}
    if as_json:
        click.echo(json.dumps(measured, indent=1))
    else:
        _print(measured, make_console())
    return 0


def _print(measured: MeasuredHost, console: Console) -> None:
    """A line for each figure: its name, its value, and how it went on; 80 columns have room for all three."""
    figures = [gauge.value(measured) for gauge in GAUGES]
    written = [
        "not measured" if value is None else gauge.written(value) for gauge, value in zip(GAUGES, figures, strict=True)
    ]
    sketches = [sketch(course(measured, gauge)) for gauge in GAUGES]
    columns = [("", [gauge.name for gauge in GAUGES]), ("", written), ("over time", sketches)]
    print_columns([Column(name, cells, left=True) for name, cells in columns], console, 0)
    say(console, "The sketch has the median of each part of the measurement, from zero to the highest.", "dim")
    for name, reason in measured["not_measured"].items():
        say(console, f"{name}: {reason}", "yellow")
    if disk := measured["disk"]:
        past = "" if disk["direct"] else "; the file system does not support O_DIRECT, so reads came from memory"
        say(console, f"disk of {measured['directory']}, by {disk['by']}{past}", "dim")
