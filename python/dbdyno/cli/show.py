"""`dbdyno show`: what a run found, everything about it, or all of it as JSON, from its folder."""

import json

import click

from dbdyno.cli.console import make_console
from dbdyno.cli.find_run import find_run, name_of_run
from dbdyno.cli.limits import print_limits
from dbdyno.cli.resume import can_be_resumed, command_to_resume
from dbdyno.report.details import print_details
from dbdyno.report.document import json_document
from dbdyno.report.summary import Places, print_summary
from dbdyno.results.foreign_content import understood
from dbdyno.results.limits import limits_broken
from dbdyno.results.model import Run
from dbdyno.results.read import read_run


def command(run: str, details: bool, as_json: bool) -> int:
    """Print what a run found, everything about it, or its document; return the exit status of the run."""
    recorded_run, console = read_run(find_run(run)), make_console()
    with understood(recorded_run.path):
        if as_json:
            click.echo(json.dumps(json_document(recorded_run), ensure_ascii=False, indent=1))
        elif details:
            print_details(recorded_run, console)
        else:
            print_summary(recorded_run, places_of(recorded_run), console)
        if not as_json:
            print_limits(recorded_run, console)
        return 0 if recorded_run.facts.state == "complete" and not limits_broken(recorded_run) else 1


def places_of(run: Run) -> Places:
    """Return where the rest of a run is."""
    report = run.path / "report.html"
    resume = command_to_resume(run.path) if can_be_resumed(run) else None
    return Places(name_of_run(run.path), str(report) if report.is_file() else None, resume)
