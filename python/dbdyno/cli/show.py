"""`dbdyno show`: a run's table, or all of it as JSON, from its folder."""

import json

import click

from dbdyno.cli.console import make_console
from dbdyno.cli.find_run import find_run
from dbdyno.report.document import document
from dbdyno.report.table import print_table
from dbdyno.results.read import read_run
from dbdyno.results.understood import understood


@click.command
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of the table.")
def command(run: str, as_json: bool) -> int:
    """Print the table of RUN: its folder, its name in ./runs, or last.

    The exit status is that of the run: 0 if every trial ran and every answer was right, else 1.
    """
    shown = read_run(find_run(run))
    with understood(shown.path):
        if as_json:
            click.echo(json.dumps(document(shown), ensure_ascii=False, indent=1))
        else:
            print_table(shown, make_console())
    return 0 if shown.about.get("state") == "complete" else 1
