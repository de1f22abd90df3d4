"""`dbdyno gate`: for a build that must not become slower."""

import json

import click
from rich.console import Console

from dbdyno.cli.find_run import find_run
from dbdyno.cli.percent import PERCENT
from dbdyno.errors import UserError
from dbdyno.report.cells import sides_of_runs
from dbdyno.report.comparison import INVALID, compare_sides, comparison_document, print_comparison
from dbdyno.results.noise import known_noise
from dbdyno.results.read import read_run
from dbdyno.stats.comparison import SINGLE, confirmed_slowdown


@click.command
@click.argument("baseline")
@click.argument("run")
@click.option("--margin", type=PERCENT, default="3%", show_default=True, help="A slowdown of less than this passes.")
@click.option("--noise", type=PERCENT, help="What a system differs from itself by here, else as `dbdyno aa` found.")
@click.option("--force", is_flag=True, help="Compare what is not like with like, and say so.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of the table.")
def command(baseline: str, run: str, margin: float, noise: float | None, force: bool, as_json: bool) -> int:
    """End with status 1 if RUN is slower than BASELINE for certain and by more than the margin, else with 0.

    Status 2 if it cannot see: runs that cannot be compared, and, where nothing is slower, a cell of BASELINE that RUN
    lacks, that has one trial a side, or that is not valid.
    """
    sides = sides_of_runs(read_run(find_run(baseline)), read_run(find_run(run)))
    known = known_noise(*{side.run.path for pair in sides for side in pair}) if noise is None else noise
    verdicts = compare_sides(sides, margin, known, force)
    judged = [one for one in verdicts.cells if one.verdict not in (INVALID, SINGLE)]
    slower = [one for one in judged if one.comparison and confirmed_slowdown(one.comparison)]
    unjudged = len(verdicts.cells) - len(judged) + len(verdicts.missing)
    cells = len(judged) + unjudged
    said = f"gate: {len(slower)} of {cells} cells are confirmed slower by more than {100 * margin:.3g} %"
    if as_json:
        counted = {"confirmed_slowdowns": len(slower), "not_judged": unjudged, "passed": not slower and not unjudged}
        click.echo(json.dumps(comparison_document(verdicts) | counted, ensure_ascii=False, indent=1))
    else:
        print_comparison(verdicts, Console(highlight=False))
        click.echo(f"{said}; {unjudged} could not be judged" if unjudged else said)
    if not judged:
        raise UserError("the gate can judge nothing: no cell has two valid trials a side; run both with --repeat 5")
    if unjudged and not slower:
        raise UserError(
            f"the gate cannot pass: {unjudged} of the baseline's cells could not be judged; run both with what both "
            "can do, or leave these out of both"
        )
    return 1 if slower else 0
