"""Running an experiment from a command, whichever it is."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from dbdyno.cli.live import listener_for
from dbdyno.cli.metrics import live_metrics
from dbdyno.conduct.listener import Listeners
from dbdyno.conduct.pairs import Rule
from dbdyno.conduct.run import RunEnd, conduct
from dbdyno.experiment.read import NamedExperiment
from dbdyno.experiment.redact import redact

EXIT_STATUS = {"complete": 0, "failed": 1, "interrupted": 130}
"""The exit status of a command, by the state of its run."""


def run_experiment(
    named: NamedExperiment,
    out: Path,
    console: Console,
    quiet: bool,
    metrics: Sequence[str] = (),
    rule: Rule | None = None,
) -> RunEnd:
    """Run an experiment, showing how it goes on; the command that was typed is recorded with it.

    metrics: where live metrics go, as `--metrics` has it. rule: which comparisons need more pairs.
    """
    typed = shlex.join(["dbdyno", *map(redact, sys.argv[1:])])
    with live_metrics(metrics, named.name, console, quiet) as others, listener_for(console, quiet) as listener:
        return conduct(named, typed, out, Listeners(listener, *others) if others else listener, rule)
