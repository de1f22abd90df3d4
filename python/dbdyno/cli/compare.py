"""`dbdyno compare`: is one faster, and how sure is that."""

import json
from collections.abc import Callable

import click

from dbdyno.cli.console import make_console
from dbdyno.cli.find_run import find_run
from dbdyno.errors import UserError
from dbdyno.report.cells import sides_of_run, sides_of_runs
from dbdyno.report.comparison import Verdicts, compare_sides, comparison_document, print_comparison
from dbdyno.report.core.terminal import say
from dbdyno.report.why.why import print_why, reasons, why_document
from dbdyno.results.foreign_content import understood
from dbdyno.results.noise import known_noise
from dbdyno.results.read import read_run

FEW = 3
"""Pieces of evidence that `compare` shows of each group; `why` shows more."""


def command(
    run: str,
    other: str | None,
    as_json: bool,
    *,
    baseline: str | None,
    margin: float,
    noise: float | None,
    force: bool,
) -> int:
    """Print the comparison of a run's systems, or of two runs, and the first evidence of what makes the difference."""

    def show(verdicts: Verdicts) -> None:
        whys = reasons(verdicts)
        if as_json:
            document = comparison_document(verdicts) | {"why": why_document(whys)}
            click.echo(json.dumps(document, ensure_ascii=False, indent=1))
            return
        console = make_console()
        print_comparison(verdicts, console)
        print_why(whys, console, FEW)
        if whys:
            console.print()
            say(console, f"More evidence: dbdyno why {' '.join(filter(None, (run, other)))}", "dim", hang=2)

    look_at_verdicts(show, run, other, baseline=baseline, margin=margin, noise=noise, force=force)
    return 0


def look_at_verdicts(
    show: Callable[[Verdicts], None],
    run: str,
    other: str | None,
    *,
    baseline: str | None,
    margin: float,
    noise: float | None,
    force: bool,
) -> None:
    """Compare the systems of a run, or two runs, and show the verdicts; a folder that is not a run is named.

    Raises UserError if they cannot be compared.
    """
    if other and baseline:
        raise UserError("--baseline names a system of one run; of two runs the first is the baseline")
    folders = [find_run(name) for name in (run, other) if name]
    with understood(*folders):
        first, *second = map(read_run, folders)
        sides = sides_of_runs(first, *second) if second else sides_of_run(first, baseline)
        known = known_noise(*{side.run.path for pair in sides for side in pair}) if noise is None else noise
        show(compare_sides(sides, margin, known, force))
