"""`dbdyno host`: what this host does by itself, before any store, and what its network to another one does."""

import json
import socket
import sys
from contextlib import suppress
from pathlib import Path

import click
from rich.console import Console

from dbdyno.cli.console import make_console
from dbdyno.errors import RunFailed, UserError
from dbdyno.observe.environment import data_directory
from dbdyno.observe.gauges.measure import FULL, measure_host
from dbdyno.observe.gauges.network import answer, measure_network
from dbdyno.report.core.terminal import Column, print_columns, say
from dbdyno.report.sections.hosts import GAUGES, NETWORK_GAUGES, PARALLEL_GAUGES, course, sketch
from dbdyno.results.environment import MeasuredHost

NETWORK_S = 2.0
"""How long each of the three figures of the network takes."""


def command(directory: Path | None, as_json: bool, to: str | None, answer_at: str | None) -> int:
    """Measure this host, and print the figures; or answer another host that measures the network to this one."""
    if to is not None and answer_at is not None:
        raise UserError("--to measures and --answer answers: give one of them")
    if answer_at is not None:
        return _answer(*address_of(answer_at, "--answer"))
    other = address_of(to, "--to") if to is not None else None
    print("measuring for about 20 s …", file=sys.stderr)
    directory = directory or data_directory()
    measured: MeasuredHost = {**measure_host(directory, FULL), "directory": str(directory)}
    if other:
        try:
            measured["network"] = measure_network(*other, NETWORK_S)
        except OSError as error:
            raise RunFailed(f"--to {to}: {error}; is `dbdyno host --answer {other[1]}` running there?") from None
    if as_json:
        click.echo(json.dumps(measured, indent=1))
    else:
        _print(measured, make_console())
    return 0


def address_of(text: str, option: str) -> tuple[str, int]:
    """Return host and port of `HOST:PORT`, or of a port alone, whose host is empty; raises UserError."""
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or not 0 < int(port) < 1 << 16 or (option == "--to" and not host):
        wanted = "HOST:PORT" if option == "--to" else "PORT or ADDRESS:PORT"
        raise UserError(f"{option} {text}: give {wanted}")
    return host.removeprefix("[").removesuffix("]"), int(port)


def _answer(address: str, port: int) -> int:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        listener = socket.create_server((address, port), family=family)
    except OSError as error:
        raise UserError(f"--answer {port}: {error.strerror or error}") from None
    with listener:
        print(f"answering at port {port}, everybody who reaches it; Ctrl-C ends it", file=sys.stderr)
        with suppress(KeyboardInterrupt):
            answer(listener)
    return 0


def _print(measured: MeasuredHost, console: Console) -> None:
    """A line for each figure: its name, its value, and how it went on; 80 columns have room for all three."""
    gauges = [*GAUGES, *PARALLEL_GAUGES, *(NETWORK_GAUGES if "network" in measured else ())]
    figures = [gauge.value(measured) for gauge in gauges]
    written = [
        "not measured" if value is None else gauge.written(value) for gauge, value in zip(gauges, figures, strict=True)
    ]
    sketches = [sketch(course(measured, gauge)) for gauge in gauges]
    columns = [("", [gauge.name for gauge in gauges]), ("", written), ("over time", sketches)]
    print_columns([Column(name, cells, left=True) for name, cells in columns], console, 0)
    say(console, "The sketch has the median of each part of the measurement, from zero to the highest.", "dim")
    for name, reason in measured["not_measured"].items():
        say(console, f"{name}: {reason}", "yellow")
    if disk := measured["disk"]:
        past = "" if disk["direct"] else "; the file system does not support O_DIRECT, so reads came from memory"
        say(console, f"disk of {measured['directory']}, by {disk['by']}{past}", "dim")
    if network := measured.get("network"):
        say(console, f"network to {network['to']}, one connection", "dim")
