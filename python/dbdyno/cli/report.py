"""`dbdyno report`: the report again, from the folder alone."""

import click

from dbdyno.cli.find_run import find_run
from dbdyno.report.flame_graph import draw_profiles
from dbdyno.report.html import write_report
from dbdyno.results.read import read_run


@click.command
@click.argument("run")
def command(run: str) -> int:
    """Write the report of RUN again: its folder, its name in ./runs, or last."""
    folder = find_run(run)
    path = folder / "report.html"
    draw_profiles(folder)
    write_report(read_run(folder), path)
    click.echo(path)
    return 0
