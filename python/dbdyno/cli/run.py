"""`dbdyno run`: an experiment from its name or file to an answer and a report."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from dbdyno.cli.console import make_console
from dbdyno.cli.limits import print_limits
from dbdyno.cli.overrides import overrides_of
from dbdyno.cli.profile import apart
from dbdyno.cli.resume import can_be_resumed, command_to_resume, run_to_resume
from dbdyno.cli.running import exit_status, resume_run, run_experiment
from dbdyno.cli.serve import live_page
from dbdyno.cli.show import places_of
from dbdyno.cli.tolerant_output import outputs_may_end
from dbdyno.conduct.run import NotRecorded, RunEnd
from dbdyno.errors import Interrupted, RunFailed
from dbdyno.experiment.read import read_experiment
from dbdyno.experiment.redact import redact
from dbdyno.report.flame_graph import draw_profiles
from dbdyno.report.html import write_report
from dbdyno.report.summary import print_summary
from dbdyno.results.limits import limit_sentences, limits_broken
from dbdyno.results.model import Run
from dbdyno.results.read import read_run
from dbdyno.systems.packages.versions import in_range

_ENDED = {"failed": "failed", "interrupted": "was interrupted"}


@outputs_may_end()
def command(
    experiment: str | None,
    resume: str | None,
    out: Path,
    quiet: bool,
    metrics: tuple[str, ...],
    live: bool,
    **options: Any,
) -> int:
    """Run an experiment or the rest of a run, write the report, and print the table unless `quiet`.

    Returns the exit status.
    """
    console = make_console()
    experiment, options["profile"] = apart(experiment, options["profile"])
    if resume is not None:
        resumed = run_to_resume(resume, experiment)
        if resumed is None:
            return 0
        out = resumed.parent
        start = partial(resume_run, resumed)
    elif experiment is None:
        raise click.UsageError("Missing argument 'EXPERIMENT'.", click.get_current_context())
    else:
        start = partial(run_experiment, read_experiment(experiment, overrides_of(options), in_range), out)
    with _shown_live(out, console) if live else nullcontext():
        try:
            end = start(console, quiet, metrics)
        except NotRecorded as error:
            raise RunFailed(f"{error} Go on with: {command_to_resume(error.folder)}") from None
        try:
            run = _finish(end, console, quiet)
        except KeyboardInterrupt:
            how = f"The run is {end.state} and recorded; write the report by: dbdyno report {end.folder}"
            raise Interrupted(f"interrupted before the report was written. {how}") from None
    return exit_status(end) or int(limits_broken(run))


@contextmanager
def _shown_live(out: Path, console: Console) -> Iterator[None]:
    """Serve the live page meanwhile. Its address is printed even if the run is quiet: without it there is no page."""
    with live_page(out) as address:
        console.print(Text(f"Live: {address}", style="dim"), soft_wrap=True)
        yield


def _finish(end: RunEnd, console: Console, quiet: bool) -> Run:
    run = read_run(end.folder)
    draw_profiles(end.folder)
    write_report(run, end.folder / "report.html")
    if not quiet:
        print_summary(run, places_of(run), console)
        print_limits(run, console)
        return run
    if end.reason:
        print(f"dbdyno: the run {_ENDED[end.state]}: {redact(end.reason)}", file=sys.stderr)
    if can_be_resumed(run):
        print(f"dbdyno: go on with: {command_to_resume(end.folder)}", file=sys.stderr)
    for sentence in limit_sentences(run) if limits_broken(run) else ():
        print(f"dbdyno: {redact(sentence)}", file=sys.stderr)
    return run
