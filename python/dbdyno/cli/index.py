"""`dbdyno index`: one page over the runs in a folder."""

from pathlib import Path

import click

from dbdyno.report.index import write_index


@click.command
@click.argument("directory", metavar="DIR", default="runs", type=click.Path(path_type=Path))
def command(directory: Path) -> int:
    """Write DIR/index.html: every run in DIR with its sentence and a link to its report."""
    click.echo(write_index(directory))
    return 0
