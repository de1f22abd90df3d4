"""`dbdyno export`: runs in the formats of other programs."""

import os
from pathlib import Path

import click

from dbdyno.cli.find_run import find_run
from dbdyno.errors import UserError
from dbdyno.export.formats import export
from dbdyno.export.names import TABLES_OF
from dbdyno.results.foreign_content import understood
from dbdyno.results.read import read_run


def command(runs: tuple[str, ...], wanted: str | None, table: str | None, output: Path | None) -> None:
    """Write runs in a format, to a file or to standard output."""
    if wanted is None:
        raise UserError(f"give --format: one of {', '.join(TABLES_OF)}")
    if wanted == "parquet" and output is None:
        raise UserError("parquet is a binary format: give a file with --output FILE.parquet")
    folders = [find_run(run) for run in runs]
    with understood(*folders):
        content, notes = export(list(map(read_run, folders)), wanted, table)
    if output is None:
        click.echo(content.decode(), nl=False)
    else:
        write(output, content)
    for note in notes:
        click.echo(f"dbdyno: {note}", err=True)


def write(path: Path, content: bytes) -> None:
    """Write a file so that whoever looks sees all of it or what was there before."""
    partial = path.with_name(f"{path.name}.partial")
    try:
        partial.write_bytes(content)
        os.replace(partial, path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise UserError(f"{path}: cannot be written: {error.strerror}; choose another with --output") from None
