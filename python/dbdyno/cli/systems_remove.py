"""`dbdyno systems remove`: removes versions."""

import click

from dbdyno.systems.packages.cache import remove
from dbdyno.systems.packages.catalogue import find_package


def command(names: tuple[str, ...]) -> None:
    """Remove versions that were installed here."""
    for package in map(find_package, names):
        click.echo(f"{package.name}: removed, {remove(package) / 1e6:.0f} MB freed")
