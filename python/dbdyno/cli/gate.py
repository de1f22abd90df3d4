"""`dbdyno gate`: for a build that must not become slower."""

import json

import click
from rich.console import Console

from dbdyno.cli.find_run import find_run
from dbdyno.cli.percent import PERCENT
from dbdyno.errors import UserError
from dbdyno.report.cells import sides_of_runs
from dbdyno.report.comparison import INVALID, compare_sides, comparison_document, print_comparison
from dbdyno.results.noise import read_noise
from dbdyno.results.read import read_run
from dbdyno.stats.comparison import confirmed_slowdown


@click.command
@click.argument("baseline")
@click.argument("run")
@click.option("--margin", type=PERCENT, default="3%", show_default=True, help="A slowdown of less than this passes.")
@click.option("--noise", type=PERCENT, help="What a system differs from itself by here, else as `dbdyno aa` found.")
@click.option("--force", is_flag=True, help="Compare what is not like with like, and say so.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of the table.")
def command(baseline: str, run: str, margin: float, noise: float | None, force: bool, as_json: bool) -> int:
    """End with status 1 if RUN is slower than BASELINE for certain and by more than the margin, else with 0.

    Status 2 if nothing can be judged: runs that cannot be compared, one trial a side, no valid cell.
    """
    sides = sides_of_runs(read_run(find_run(baseline)), read_run(find_run(run)))
    verdicts = compare_sides(sides, margin, read_noise() if noise is None else noise, force)
    slower = [
        one
        for one in verdicts.cells
        if one.verdict != INVALID and one.comparison and confirmed_slowdown(one.comparison)
    ]
    said = f"gate: {len(slower)} of {len(verdicts.cells)} cells are confirmed slower by more than {100 * margin:.3g} %"
    if unjudged := sum(one.verdict == INVALID for one in verdicts.cells):
        said += f"; {unjudged} could not be judged"
    if as_json:
        document = comparison_document(verdicts) | {"confirmed_slowdowns": len(slower), "passed": not slower}
        click.echo(json.dumps(document, ensure_ascii=False, indent=1))
    else:
        print_comparison(verdicts, Console(highlight=False))
        click.echo(said)
    if all(one.verdict == INVALID or not one.comparison or one.comparison.low is None for one in verdicts.cells):
        raise UserError("the gate can judge nothing: no cell has two valid trials a side; run both with --repeat 5")
    return 1 if slower else 0
