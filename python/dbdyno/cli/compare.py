"""`dbdyno compare`: is one faster, and how sure is that."""

import json

import click

from dbdyno.cli.console import make_console
from dbdyno.cli.find_run import find_run
from dbdyno.errors import UserError
from dbdyno.report.cells import sides_of_run, sides_of_runs
from dbdyno.report.comparison import compare_sides, comparison_document, print_comparison
from dbdyno.results.noise import known_noise
from dbdyno.results.read import read_run
from dbdyno.results.understood import understood


def command(
    run: str, other: str | None, baseline: str | None, margin: float, noise: float | None, force: bool, as_json: bool
) -> int:
    """Print the comparison of a run's systems, or of two runs."""
    if other and baseline:
        raise UserError("--baseline names a system of one run; of two runs the first is the baseline")
    folders = [find_run(name) for name in (run, other) if name]
    with understood(*folders):
        first, *second = map(read_run, folders)
        sides = sides_of_runs(first, *second) if second else sides_of_run(first, baseline)
        known = known_noise(*{side.run.path for pair in sides for side in pair}) if noise is None else noise
        verdicts = compare_sides(sides, margin, known, force)
        if as_json:
            click.echo(json.dumps(comparison_document(verdicts), ensure_ascii=False, indent=1))
        else:
            print_comparison(verdicts, make_console())
    return 0
