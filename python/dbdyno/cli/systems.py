"""`dbdyno systems`: what can be measured, in which versions, and getting, checking and removing them."""

import tempfile
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from dbdyno.cli.console import make_console
from dbdyno.conduct.listener import Listener
from dbdyno.conduct.run import conduct
from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.read import NamedExperiment
from dbdyno.experiment.system_spec import parse_system
from dbdyno.experiment.workloads import ANALYSE, GET, OPERATIONS
from dbdyno.results.model import Run
from dbdyno.results.read import read_run
from dbdyno.systems import ATTACHED, SYSTEMS, build, missing_packages
from dbdyno.systems.packages.cache import cache_folder, installed, remove
from dbdyno.systems.packages.catalogue import PACKAGES
from dbdyno.systems.packages.install import find_package, install
from dbdyno.systems.packages.package import Package

CHECKED_ROWS = 1000
MOST_CHECK_SECONDS = 300
"""For a store that does not read the rows within a second."""


@click.group(invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """List every system with its versions; get, check and remove versions."""
    if context.invoked_subcommand is None:
        _list(make_console())


def _list(console: Console) -> None:
    # Two columns: in three, each is too narrow for its words on a terminal of 80 characters.
    table = Table(box=None, padding=(0, 2), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, system in SYSTEMS.items():
        # Of what comes as one package alone, that is all there is to say; of others it is the host's.
        state = _described(PACKAGES[name]) if name in PACKAGES else system.missing() or "installed"
        lines = (state, system.what, *_lacks(system.operations))
        table.add_row(name, Text("\n".join(lines)))
        for package in (package for package in PACKAGES.values() if package.system == name and package.version):
            table.add_row(f"  {package.name}", Text(_described(package)))
    for scheme, system in ATTACHED.items():
        table.add_row(f"{scheme}://", Text(f"attach only\n{system.what}"))
    console.print(table)
    console.print(f"Versions are kept in {cache_folder()}.", soft_wrap=True)


def _lacks(operations: frozenset[str]) -> list[str]:
    """Return the line that says what it cannot do; none if it can do all, or is for whole tables."""
    lacking = [what for operation, what in OPERATIONS.items() if operation not in operations]
    return [f"cannot: {'; '.join(lacking)}"] if lacking and operations != {ANALYSE} else []


def _described(package: Package) -> str:
    there = installed(package)
    state = "installed" if there else package.how_to_get_it
    if there and (reason := there.broken()):
        state = f"broken: {reason}; dbdyno systems install {package.name}"
    return f"{package.release}, by {package.client}: {state}"


@command.command("install")
@click.argument("names", nargs=-1, required=True)
def install_command(names: tuple[str, ...]) -> None:
    """Get versions such as mysql@5.6 into the cache directory; nothing of the host is configured or started."""
    for package in map(find_package, names):
        _install(package)


def _install(package: Package) -> None:
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=make_console(stderr=True)) as progress:
        task = progress.add_task(package.name, total=package.size_bytes)
        there = install(package, lambda size_bytes: progress.update(task, completed=size_bytes))
    click.echo(f"{package.name}: {package.release} is in {there.folder}")


@command.command("remove")
@click.argument("names", nargs=-1, required=True)
def remove_command(names: tuple[str, ...]) -> None:
    """Remove versions that were installed here."""
    for package in map(find_package, names):
        click.echo(f"{package.name}: removed, {remove(package) / 1e6:.0f} MB freed")


@command.command("check")
@click.argument("name")
@click.option("--install", "allowed", is_flag=True, help="Get it first if it is not there.")
def check_command(name: str, allowed: bool) -> None:
    """Start a system, load 1,000 rows, read them back, and stop it."""
    try:
        spec = parse_system(name)
    except ValueError as error:
        raise UserError(str(error)) from None
    operations = build(replace(spec, label=spec.product)).operations
    for package in missing_packages(spec) if allowed else ():
        _install(package)
    whole_tables = GET not in operations
    seconds = 1
    run, verified = _checked(name, seconds, whole_tables)
    # More than once, as a store may be slower by a factor later than in its first second, on a host with other work.
    while 0 < verified < CHECKED_ROWS and seconds < MOST_CHECK_SECONDS:
        seconds = min(MOST_CHECK_SECONDS, 4 * seconds * CHECKED_ROWS // verified)
        run, verified = _checked(name, seconds, whole_tables)
    (trial,), (preparation,) = run.trials, run.preparations.values()
    if verified < CHECKED_ROWS and not whole_tables:
        raise RunFailed(f"{name}: only {verified} of {CHECKED_ROWS} rows could be read in {trial.about['seconds']} s")
    versions = ", ".join(filter(None, (server.get("version") for server in trial.about["servers"]))) or "of its own"
    start_s, durability = preparation.about["start_seconds"], trial.about["durability"]["class"]
    click.echo(
        f"{name}: fine. Version {versions}, started in {start_s:.1f} s, {preparation.rows:,} rows loaded, "
        f"{'and counted' if whole_tables else f'{verified:,} reads verified'}, durability {durability}"
    )


def _checked(name: str, seconds: int, whole_tables: bool) -> tuple[Run, int]:
    """Return a run that loads the rows and reads them in order for so long, and how many reads were verified."""
    point_get = {"workload": "point-get", "options": {"access": "sequential"}, "warmup_seconds": 0, "ceiling": False}
    keys = {"workload": "wide-rows"} if whole_tables else point_get
    keys |= {"system": name, "rows": CHECKED_ROWS, "clients": 1, "seconds": seconds}
    experiment = Experiment.model_validate(keys)
    with tempfile.TemporaryDirectory() as folder:
        end = conduct(NamedExperiment("check", experiment), f"dbdyno systems check {name}", Path(folder), Listener())
        if end.state != "complete":
            raise RunFailed(f"{name}: {end.reason}")
        run = read_run(end.folder)
    return run, run.trials[0].recorded.sums["reads_verified"]
