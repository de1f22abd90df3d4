"""`dbdyno compare`: is one faster, and how sure is that."""

import json

import click

from dbdyno.cli.console import make_console
from dbdyno.cli.find_run import find_run
from dbdyno.cli.percent import PERCENT
from dbdyno.errors import UserError
from dbdyno.report.cells import sides_of_run, sides_of_runs
from dbdyno.report.comparison import compare_sides, comparison_document, print_comparison
from dbdyno.results.noise import known_noise
from dbdyno.results.read import read_run
from dbdyno.results.understood import understood
from dbdyno.stats.comparison import MARGIN


@click.command
@click.argument("run")
@click.argument("other", metavar="[RUN]", required=False)
@click.option("--baseline", metavar="LABEL", help="Of one run: the system the others stand against; else its first.")
@click.option("--margin", type=PERCENT, default=f"{MARGIN:.0%}", show_default=True, help="Less is no difference.")
@click.option("--noise", type=PERCENT, help="What a system differs from itself by here, else as `dbdyno aa` found.")
@click.option("--force", is_flag=True, help="Compare what is not like with like, and say so.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of the table.")
def command(
    run: str, other: str | None, baseline: str | None, margin: float, noise: float | None, force: bool, as_json: bool
) -> int:
    """Compare the systems of RUN, or RUN with a second one: faster, slower, equivalent or inconclusive."""
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
