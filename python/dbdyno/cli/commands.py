"""The commands in their order. Each has its own module, which is loaded when it is called."""

import click

from dbdyno import __version__
from dbdyno.cli.color import with_color
from dbdyno.cli.parser import PARSERS

COMMANDS = {
    "run": "Run an experiment, and report what it found.",
    "list": "List experiments, systems and workloads.",
    "show": "Print what a run found.",
    "explain": "Say what limited each trial, and what to try next.",
    "export": "Write runs as CSV, Parquet, JUnit and other formats.",
    "report": "Write the report of a run again.",
    "index": "Write one page over the runs in a folder.",
    "serve": "Show the running trial and all runs in a browser.",
    "aa": "Run a system against itself: the noise of this host.",
    "compare": "Compare the systems of a run, or two runs.",
    "why": "Say what changed if one side is faster.",
    "gate": "Fail if a run is slower than its baseline (for CI).",
    "ci": "Compare a head with its base until it is decided.",
    "bisect": "Find the first slow build between two.",
    "history": "Find where runs became faster or slower over time.",
    "watch": "Show a server live on one screen, without load.",
    "clean": "Remove what dbdyno left on your server.",
    "doctor": "Check this host for what would spoil a measurement.",
    "host": "Measure this host by itself.",
    "hosts": "Prepare hosts for runs with several of them.",
    "worker": "Let this host issue load for a run.",
    "systems": "List, install, check and remove versions of systems.",
    "completions": "Print the completions for bash, zsh or fish.",
}
"""The commands in the order of their use, each in a module of its name; cli/parser.py has their options."""


class Commands(click.Group):
    """Finds a command in the parser: its module and its libraries are loaded only if it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of their use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command, or None if there is none of that name."""
        return PARSERS.get(cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands with a line each."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="dbdyno %(version)s")
def dbdyno() -> None:
    """A dynamometer for databases: the same load on any store, honest timing, and what limited it."""


with_color(dbdyno)
