"""`dbdyno report`: the report again, from the folder alone, and its plots as files."""

from pathlib import Path

import click

from dbdyno.cli.find_run import find_run
from dbdyno.report.flame_graph import draw_profiles
from dbdyno.report.html import write_report
from dbdyno.report.pictures import write_pictures
from dbdyno.results.read import read_run
from dbdyno.results.understood import understood


@click.command
@click.argument("run")
@click.option("--plots", type=click.Path(path_type=Path), metavar="DIR", help="Write the plots there, as SVG and PNG.")
def command(run: str, plots: Path | None) -> int:
    """Write the report of RUN again: its folder, its name in ./runs, or last."""
    folder = find_run(run)
    path = folder / "report.html"
    with understood(folder):
        draw_profiles(folder)
        read = read_run(folder)
        write_report(read, path)
    click.echo(path)
    for picture in write_pictures(read, plots) if plots else ():
        click.echo(picture)
    return 0
