"""`dbdyno index`: one page over the runs in a folder."""

from pathlib import Path

import click

from dbdyno.report.index import write_index


def command(directory: Path) -> int:
    """Write one page over the runs in a folder."""
    click.echo(write_index(directory))
    return 0
