"""`dbdyno run`: an experiment from its name or file to a table and a report."""

import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from dbdyno.cli.console import make_console
from dbdyno.cli.options import experiment_options
from dbdyno.cli.overrides import overrides_of
from dbdyno.cli.running import EXIT_STATUS, run_experiment
from dbdyno.cli.tolerant_output import outputs_may_end
from dbdyno.conduct.run import RunEnd
from dbdyno.experiment.read import read_experiment
from dbdyno.experiment.redact import redact
from dbdyno.report.flame_graph import draw_profiles
from dbdyno.report.html import write_report
from dbdyno.report.table import print_table
from dbdyno.results.read import read_run

_ENDED = {"failed": "failed", "interrupted": "was interrupted"}


@click.command
@click.argument("experiment")
@click.option(
    "--system", multiple=True, help="A system instead of the file's: name, name?setting=value or URL; repeatable."
)
@click.option(
    "--rate", metavar="R,R,…", help="Open loop: transactions per second, or 50%,90% of what closed loops reach."
)
@click.option("--find-rate", metavar="LIMIT", help='Search for the highest rate that holds a limit, e.g. "p99 < 10ms".')
@click.option("--pipeline", metavar="N,N,…", help="Requests a client sends at once before it reads the answers.")
@click.option("--precise", metavar="P%", help="Repeat until every comparison is known to ±P %, 5 to 20 times.")
@click.option("--until-flat", metavar="P%", help="End each sweep of clients where two steps rise by less than that.")
@click.option("--csv", metavar="DIR", help="air-traffic: a folder of real files, zipped or not.")
@click.option("--profile", is_flag=True, help="Record stacks of server and client too, after each trial.")
@experiment_options
@outputs_may_end()
def command(experiment: str, out: Path, quiet: bool, **options: Any) -> int:
    """Run EXPERIMENT, a shipped one by its name or any by its file.

    A password comes from the environment variable DBDYNO_PASSWORD, or from a file that DBDYNO_PASSWORD_FILE names and
    only you can read. In a URL on the command line it is refused: everybody sees that.
    """
    console = make_console()
    end = run_experiment(read_experiment(experiment, overrides_of(options)), out, console, quiet)
    _finish(end, console, quiet)
    return EXIT_STATUS[end.state]


def _finish(end: RunEnd, console: Console, quiet: bool) -> None:
    run = read_run(end.folder)
    report = end.folder / "report.html"
    draw_profiles(end.folder)
    write_report(run, report)
    if not quiet:
        print_table(run, console)
        console.print(f"Report: {report}", soft_wrap=True)
    elif end.reason:
        print(f"dbdyno: the run {_ENDED[end.state]}: {redact(end.reason)}", file=sys.stderr)
