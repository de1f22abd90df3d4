"""Running an experiment from a command, whichever it is."""

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from dbdyno.cli.live import listener_for
from dbdyno.cli.metrics import live_metrics
from dbdyno.conduct.listener import Listener, Listeners
from dbdyno.conduct.pairs import Rule
from dbdyno.conduct.resumption import resume
from dbdyno.conduct.run import RunEnd, conduct
from dbdyno.errors import BuildReplaced
from dbdyno.experiment.read import NamedExperiment
from dbdyno.experiment.redact import redact
from dbdyno.results.read import read_run_json

_EXIT_STATUS = {"complete": 0, "failed": 1, "interrupted": 130}


def exit_status(end: RunEnd) -> int:
    """Return the exit status of a command, by how its run ended."""
    if end.state == "failed" and end.build_replaced:
        return BuildReplaced.exit_status
    return _EXIT_STATUS[end.state]


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
    with _listening(named.name, console, quiet, metrics) as listener:
        return conduct(named, _typed(), out, listener, rule)


def resume_run(folder: Path, console: Console, quiet: bool, metrics: Sequence[str] = ()) -> RunEnd:
    """Run what a run lacks, as `run_experiment` does."""
    experiment = str(read_run_json(folder).get("experiment"))
    with _listening(experiment, console, quiet, metrics) as listener:
        return resume(folder, _typed(), listener)


def continue_run(
    folder: Path, named: NamedExperiment, console: Console, quiet: bool, rule: Rule | None = None
) -> RunEnd:
    """Add the pairs that the rule wants to a run of this experiment which has ended."""
    with _listening(named.name, console, quiet, ()) as listener:
        return resume(folder, _typed(), listener, rule, named)


def _typed() -> str:
    return shlex.join(["dbdyno", *map(redact, sys.argv[1:])])


@contextmanager
def _listening(name: str, console: Console, quiet: bool, metrics: Sequence[str]) -> Iterator[Listener]:
    """Show how a run goes on, and send its metrics."""
    with live_metrics(metrics, name, console, quiet) as others, listener_for(console, quiet) as listener:
        yield Listeners(listener, *others) if others else listener
