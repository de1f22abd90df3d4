"""`dbdyno doctor`: what on this host would spoil a measurement."""

import click
from rich.text import Text

from dbdyno.cli.console import make_console
from dbdyno.conduct.load_client import find_load_client, load_client_version
from dbdyno.errors import UserError
from dbdyno.observe.doctor import Finding, examine
from dbdyno.observe.environment import data_directory
from dbdyno.systems import SYSTEMS


@click.command
def command() -> int:
    """Say what on this host would spoil a measurement, and what to do about it."""
    console = make_console()
    for finding in [_load_client(), *_servers(), *examine(data_directory())]:
        mark = Text("ok    ", "green") if finding.fine else Text("warn  ", "yellow")
        advice = "" if finding.fine else f"\n      {finding.advice}"
        console.print(mark + Text(finding.what + advice), soft_wrap=True)
    return 0


def _load_client() -> Finding:
    try:
        program = find_load_client()
        version = load_client_version(program)
    except UserError as error:
        return Finding(False, "dbdyno-load cannot be used", str(error))
    return Finding(
        "debug" not in version, f"{program}: {version}", "a debug build measures itself: cargo build --release"
    )


def _servers() -> list[Finding]:
    reasons = {name: system.missing() for name, system in SYSTEMS.items()}
    return [
        Finding(reason is None, f"{name}: {'there' if reason is None else 'missing'}", reason or "")
        for name, reason in reasons.items()
    ]
