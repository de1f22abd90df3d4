"""`dbdyno hosts init`: certificates for the hosts of a run."""

from pathlib import Path

import click

from dbdyno.errors import UserError
from dbdyno.experiment.hosts import check_name
from dbdyno.hosts.certificates import certificates_folder, make_certificates


def command(names: tuple[str, ...], directory: Path | None) -> None:
    """Make certificates, and say where they are."""
    try:
        checked = [check_name(name) for name in names]
    except ValueError as error:
        raise UserError(str(error)) from None
    for folder in make_certificates(directory or certificates_folder(), checked):
        click.echo(f"{folder}: certificate and key of {folder.name}")
    click.echo(f"Copy each host's folder into {certificates_folder()} on that host. ca-key.pem stays here.")
