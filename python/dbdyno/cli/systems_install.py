"""`dbdyno systems install`: gets versions."""

import click
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from dbdyno.cli.console import make_console
from dbdyno.systems.packages.catalogue import find_package
from dbdyno.systems.packages.install import install
from dbdyno.systems.packages.package import Package


def command(names: tuple[str, ...]) -> None:
    """Install versions."""
    for package in map(find_package, names):
        install_package(package)


def install_package(package: Package) -> None:
    """Install a package, showing how far it is, and print where it lies."""
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=make_console(stderr=True)) as progress:
        task = progress.add_task(package.name, total=package.size_bytes)
        there = install(package, lambda size_bytes: progress.update(task, completed=size_bytes))
    click.echo(f"{package.name}: {package.release} is in {there.folder}")
