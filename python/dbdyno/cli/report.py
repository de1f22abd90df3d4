"""`dbdyno report`: the report again, from the folder alone, as a page or as Markdown, and its plots as files."""

from pathlib import Path

import click

from dbdyno.cli.find_run import find_run
from dbdyno.errors import UserError
from dbdyno.report.flame_graph import draw_profiles
from dbdyno.report.html import write_report
from dbdyno.report.markdown import markdown
from dbdyno.report.pictures import write_pictures
from dbdyno.results.foreign_content import understood
from dbdyno.results.read import read_run


def command(run: str, plots: Path | None, form: str) -> int:
    """Write the report of a run, and its plots into the folder `plots`; or print it as Markdown."""
    if form == "markdown" and plots:
        raise UserError("--plots draws the plots of a page: leave out --format markdown")
    folder = find_run(run)
    if form == "markdown":
        with understood(folder):
            click.echo(markdown(read_run(folder)), nl=False)
        return 0
    path = folder / "report.html"
    with understood(folder):
        draw_profiles(folder)
        read = read_run(folder)
        write_report(read, path)
    click.echo(path)
    for picture in write_pictures(read, plots) if plots else ():
        click.echo(picture)
    return 0
