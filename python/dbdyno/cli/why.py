"""`dbdyno why`: what changed, if one side is confirmed faster."""

import json
from typing import Any

import click

from dbdyno.cli.compare import look_at_verdicts
from dbdyno.cli.console import make_console
from dbdyno.report.comparison import Verdicts, sentence
from dbdyno.report.core.terminal import say
from dbdyno.report.why.why import print_why, reasons, why_document


def command(run: str, other: str | None, as_json: bool, **asked: Any) -> int:
    """Print the evidence for each confirmed difference between a run's systems, or between two runs."""

    def show(verdicts: Verdicts) -> None:
        whys = reasons(verdicts)
        if as_json:
            click.echo(json.dumps(why_document(whys), ensure_ascii=False, indent=1))
            return
        console = make_console()
        say(console, sentence(verdicts), "bold")
        print_why(whys, console)
        if not whys:
            say(console, "No difference is confirmed, so there is nothing to explain. Repeat: --repeat 10", hang=2)

    look_at_verdicts(show, run, other, **asked)
    return 0
