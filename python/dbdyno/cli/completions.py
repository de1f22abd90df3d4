"""`dbdyno completions`: the script that has a shell complete dbdyno's command lines."""

import click
from click.shell_completion import get_completion_class

from dbdyno.errors import UserError

VARIABLE = "_DBDYNO_COMPLETE"
"""The script sets it and calls `dbdyno`, which then prints what may follow instead of running."""


def command(shell: str) -> int:
    """Print the script for a shell."""
    completion = get_completion_class(shell)
    if completion is None:
        raise UserError(f"click {click.__version__} has no completion for {shell}")
    click.echo(completion(click.Command("dbdyno"), {}, "dbdyno", VARIABLE).source())
    return 0
