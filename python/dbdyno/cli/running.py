"""Running an experiment from a command, whichever it is."""

import shlex
import sys
from pathlib import Path

from rich.console import Console

from dbdyno.cli.live import listener_for
from dbdyno.conduct.run import RunEnd, conduct
from dbdyno.experiment.read import NamedExperiment
from dbdyno.experiment.redact import redact

EXIT_STATUS = {"complete": 0, "failed": 1, "interrupted": 130}
"""What a command ends with, by the state of its run."""


def run_experiment(named: NamedExperiment, out: Path, console: Console, quiet: bool) -> RunEnd:
    """Run an experiment, showing how it goes on; the command that was typed is recorded with it."""
    typed = shlex.join(["dbdyno", *map(redact, sys.argv[1:])])
    with listener_for(console, quiet) as listener:
        return conduct(named, typed, out, listener)
