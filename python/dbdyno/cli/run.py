"""`dbdyno run`: an experiment from its name or file to a table and a report."""

import shlex
import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from dbdyno.cli.live import listener_for
from dbdyno.cli.overrides import overrides_of
from dbdyno.conduct.run import RunEnd, conduct
from dbdyno.experiment.model import SCALES
from dbdyno.experiment.read import read_experiment
from dbdyno.experiment.redact import redact
from dbdyno.report.html import write_report
from dbdyno.report.table import print_table
from dbdyno.results.read import read_run

EXIT_STATUS = {"complete": 0, "failed": 1, "interrupted": 130}
_ENDED = {"failed": "failed", "interrupted": "was interrupted"}


@click.command
@click.argument("experiment")
@click.option(
    "--system", multiple=True, help="A system instead of the file's: name, name?setting=value or URL; repeatable."
)
@click.option("--clients", metavar="N,N,…", help="Numbers of clients, e.g. 1,8,64; 1..64 sweeps 1, 2, 4 … 64, twice.")
@click.option("--rate", metavar="R,R,…", help="Open loop: transactions per second, whatever the store does.")
@click.option("--find-rate", metavar="LIMIT", help='Search for the highest rate that holds a limit, e.g. "p99 < 10ms".')
@click.option("--pipeline", metavar="N,N,…", help="Requests a client sends at once before it reads the answers.")
@click.option("--seconds", type=int, help="Measured seconds of each trial.")
@click.option("--warmup", metavar="N|auto", help="Seconds before them; auto: until the steady state, found afterwards.")
@click.option("--repeat", type=int, help="How often every trial is run.")
@click.option("--precise", metavar="P%", help="Repeat until every comparison is known to ±P %, 5 to 20 times.")
@click.option("--scale", type=click.Choice(SCALES), help="Rows: one of the file's sizes.")
@click.option("--rows", type=int, help="Rows: this many.")
@click.option("--seed", type=int, help="Where every random choice comes from.")
@click.option(
    "--set", multiple=True, metavar="KEY=VALUE", help="Any other key of the file, e.g. cpus.client=[0]; repeatable."
)
@click.option("--out", type=click.Path(path_type=Path), default=Path("runs"), help="Where the run's folder goes.")
@click.option("--keep", is_flag=True, help="Leave on an attached store what dbdyno made there.")
@click.option("--quiet", is_flag=True, help="Say nothing but what went wrong.")
def command(experiment: str, out: Path, quiet: bool, **options: Any) -> int:
    """Run EXPERIMENT, a shipped one by its name or any by its file.

    A password is best left out of a URL and given in the environment variable DBDYNO_PASSWORD.
    """
    named = read_experiment(experiment, overrides_of(options))
    typed = shlex.join(["dbdyno", *map(redact, sys.argv[1:])])
    console = Console(highlight=False)
    with listener_for(console, quiet) as listener:
        end = conduct(named, typed, out, listener)
    _finish(end, console, quiet)
    return EXIT_STATUS[end.state]


def _finish(end: RunEnd, console: Console, quiet: bool) -> None:
    run = read_run(end.folder)
    report = end.folder / "report.html"
    write_report(run, report)
    if not quiet:
        print_table(run, console)
        console.print(f"Report: {report}", soft_wrap=True)
    elif end.reason:
        print(f"dbdyno: the run {_ENDED[end.state]}: {redact(end.reason)}", file=sys.stderr)
