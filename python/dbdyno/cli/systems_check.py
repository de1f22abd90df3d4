"""`dbdyno systems check`: a system is started, loaded, read and stopped."""

import tempfile
from dataclasses import replace
from pathlib import Path

import click

from dbdyno.cli.systems_install import install_package
from dbdyno.conduct.listener import Listener
from dbdyno.conduct.run import conduct
from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.read import NamedExperiment
from dbdyno.experiment.system_spec import parse_system
from dbdyno.experiment.workloads import GET
from dbdyno.results.model import Run
from dbdyno.results.read import read_run
from dbdyno.systems import build, missing_packages

CHECKED_ROWS = 1000
MOST_CHECK_SECONDS = 300
"""For a store that does not read the rows within a second."""


def command(name: str, allowed: bool) -> None:
    """Start a system, load rows, read them back, stop it, and print what came of it."""
    try:
        spec = parse_system(name)
    except ValueError as error:
        raise UserError(str(error)) from None
    operations = build(replace(spec, label=spec.product)).operations
    for package in missing_packages(spec) if allowed else ():
        install_package(package)
    whole_tables = GET not in operations
    seconds = 1
    run, verified = _checked(name, seconds, whole_tables)
    # More than once, as a store may be slower by a factor later than in its first second, on a host with other work.
    while 0 < verified < CHECKED_ROWS and seconds < MOST_CHECK_SECONDS:
        seconds = min(MOST_CHECK_SECONDS, 4 * seconds * CHECKED_ROWS // verified)
        run, verified = _checked(name, seconds, whole_tables)
    (trial,), (preparation,) = run.trials, run.preparations.values()
    if verified < CHECKED_ROWS and not whole_tables:
        raise RunFailed(f"{name}: only {verified} of {CHECKED_ROWS} rows could be read in {trial.facts.seconds} s")
    versions = ", ".join(filter(None, (server.version for server in trial.facts.known_servers))) or "of its own"
    start_s, durability = preparation.facts.start_seconds or 0.0, trial.facts.promised.level
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
    return run, run.trials[0].recorded.sums.reads_verified
