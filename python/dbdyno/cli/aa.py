"""`dbdyno aa`: a system against itself, which says how much of a difference is this host's noise."""

from pathlib import Path
from typing import Any

import click
from rich.console import Console

from dbdyno.cli.console import make_console
from dbdyno.cli.options import Options
from dbdyno.cli.overrides import overrides_of
from dbdyno.cli.running import exit_status, run_experiment
from dbdyno.cli.tolerant_output import outputs_may_end
from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.clients import NATIVE
from dbdyno.experiment.read import read_experiment
from dbdyno.experiment.redact import redact
from dbdyno.experiment.system_spec import bare_name, parse_system
from dbdyno.report.cells import sides_of_run
from dbdyno.report.comparison import compare_sides, print_comparison
from dbdyno.report.core.terminal import say
from dbdyno.report.noise import floor_sentence, measured_floors
from dbdyno.results.model import Run
from dbdyno.results.noise import NoiseFloor, keep_noise, noise_file
from dbdyno.results.read import read_run
from dbdyno.stats.margin import MARGIN

LEAST_PAIRS = 10


@outputs_may_end()
def command(system: str, experiment: str, out: Path, quiet: bool, **options: Any) -> int:
    """Run a system against itself, keep the noise floor that this shows, and return the exit status."""
    repeat: int = options["repeat"] or LEAST_PAIRS
    if repeat < LEAST_PAIRS:
        raise UserError(f"--repeat {repeat}: a system against itself takes at least {LEAST_PAIRS} pairs")
    asked: Options = dict.fromkeys(("rate", "find_rate", "pipeline", "precise", "until_flat", "profile"))
    asked |= options | {"system": sides_of(system), "repeat": repeat}
    # Through several clients it would be compared with something else than itself.
    named = read_experiment(experiment, {**overrides_of(asked), "client": NATIVE, "until_flat": None})
    if named.experiment.rate or named.experiment.find_rate:
        raise UserError(f"{experiment}: is an open loop, whose throughput is the requested rate; name a closed one")
    console = make_console(quiet=quiet)
    end = run_experiment(named, out, console, quiet)
    if end.state == "complete":
        _conclude(read_run(end.folder), console)
    else:
        click.echo(f"dbdyno: no noise floor, the run is {end.state}: {redact(end.reason or '')}", err=True)
    return exit_status(end)


def _conclude(run: Run, console: Console) -> None:
    """Print the comparison and the noise floor of each of its cells, and keep these."""
    verdicts = compare_sides(sides_of_run(run, None), MARGIN, 0.0, force=False)
    print_comparison(verdicts, console)
    floors = measured_floors(verdicts.cells)
    for floor in floors:
        say(console, floor_sentence(floor))
    if floors:
        console.print(f"Kept in {_keep(floors)}, for every comparison on this host.", soft_wrap=True)


def _keep(floors: list[NoiseFloor]) -> Path:
    try:
        return keep_noise(floors)
    except OSError as error:
        raise RunFailed(
            f"{noise_file()}: the noise floor cannot be kept: {error.strerror}; set XDG_DATA_HOME, or use --noise"
        ) from None


def sides_of(system: str) -> list[dict[str, str]]:
    """Return the system twice, told apart by nothing but its label; raises UserError if it is not a system."""
    try:
        name = bare_name(parse_system(system))
    except ValueError as error:
        raise UserError(str(error)) from None
    return [{"system": system, "label": f"{name} {side}"} for side in ("A", "B")]
