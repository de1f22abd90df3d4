"""The commands, each in a file of its own that is loaded when it is called."""

from importlib import import_module

import click

from dbdyno import __version__

COMMANDS = {
    "run": "dbdyno.cli.run",
    "list": "dbdyno.cli.list",
    "show": "dbdyno.cli.show",
    "report": "dbdyno.cli.report",
    "index": "dbdyno.cli.index",
    "aa": "dbdyno.cli.aa",
    "compare": "dbdyno.cli.compare",
    "gate": "dbdyno.cli.gate",
    "history": "dbdyno.cli.history",
    "clean": "dbdyno.cli.clean",
    "doctor": "dbdyno.cli.doctor",
    "host": "dbdyno.cli.host",
    "systems": "dbdyno.cli.systems",
}
"""The commands in the order of their use, each with its module."""


class Commands(click.Group):
    """Finds a command as `command` in its module: the plotting library is loaded only for what plots."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of their use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command, or None if there is none of that name."""
        return import_module(COMMANDS[cmd_name]).command if cmd_name in COMMANDS else None


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="dbdyno %(version)s")
def dbdyno() -> None:
    """A dynamometer for databases: the same load on any store, honest timing, and what limited it."""
