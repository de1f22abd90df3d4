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
    """Install a package, showing how far it is on a terminal, and print where it lies."""
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    console = make_console(stderr=True)
    # In a pipe rich would print the bar once, at the end.
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task(package.name, total=package.size_bytes, visible=False)
        there = install(package, lambda size_bytes: progress.update(task, completed=size_bytes, visible=True))
    click.echo(f"{package.name}: {package.release} is in {there.folder}")
