"""The runs that `dbdyno run --resume` takes, and what it refuses beside."""

import shlex
from pathlib import Path

import click
from click.core import ParameterSource

from dbdyno.cli.commands import COMMANDS
from dbdyno.cli.find_run import find_run, name_of_run
from dbdyno.errors import UserError
from dbdyno.results.lock import is_running
from dbdyno.results.model import Run
from dbdyno.results.read import read_run_json

_BESIDE = ("resume", "quiet", "metrics", "live")
"""The options that change nothing about an experiment."""


def run_to_resume(name: str, experiment: str | None) -> Path | None:
    """Return the folder of the run to go on with; None, once that is said, if it is complete.

    Raises UserError for an experiment or an option beside it, and for a run that another command made.
    """
    if experiment is not None:
        raise UserError(f"--resume: the run's folder has its experiment; leave '{experiment}' out")
    context = click.get_current_context()
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
        if given and parameter.expose_value and parameter.name not in _BESIDE:
            option = parameter.opts[0]
            raise UserError(f"{option}: a resumed run keeps its experiment and its folder; leave {option} out")
    folder = find_run(name)
    about = read_run_json(folder)
    if not _is_of_run(about.get("command")):
        raise UserError(f"{folder}: only runs of `dbdyno run` can be resumed; this is one of: {about.get('command')}")
    if about.get("state") == "complete":
        click.echo(f"{folder}: the run is complete; nothing is left to run")
        return None
    return folder


def can_be_resumed(run: Run) -> bool:
    """Return whether a run has ended, or was killed, without all it should have, and `dbdyno run` made it."""
    lacking = run.facts.state == "running" or any(trial.state != "complete" for trial in run.trials)
    return lacking and _is_of_run(run.facts.command) and not is_running(run.path)


def command_to_resume(folder: Path) -> str:
    """Return the command that goes on with a run."""
    return f"dbdyno run --resume {name_of_run(folder)}"


def _is_of_run(command: object) -> bool:
    try:
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return False  # Somebody else wrote it.
    return next((word for word in words[1:] if word in COMMANDS), None) == "run"
