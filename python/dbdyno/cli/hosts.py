"""`dbdyno hosts`: which hosts have certificates here."""

import click

from dbdyno.hosts.certificates import certificates_folder, hosts_in


def command() -> None:
    """List the hosts that have a certificate in the default folder."""
    names = hosts_in(certificates_folder())
    for name in names:
        click.echo(f"{name}: {certificates_folder() / name}")
    if not names:
        click.echo(f"no host has a certificate in {certificates_folder()}; make some with `dbdyno hosts init NAME…`")
