"""The options of every command that runs an experiment."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from dbdyno.experiment.scale import SCALES

_OPTIONS = (
    click.option(
        "--clients",
        metavar="N,N,…",
        help="Numbers of clients, e.g. 1,8,64; 1..64 doubles, in two passes, 1.. --until-flat 3% as long as it pays.",
    ),
    click.option("--seconds", type=int, help="Measured seconds of each trial."),
    click.option("--warmup", metavar="N|auto", help="Seconds before them; auto: until the steady state, found after."),
    click.option("--repeat", type=int, help="How often every trial is run."),
    click.option("--scale", type=click.Choice(SCALES), help="One of the file's sizes: rows, clients, seconds."),
    click.option("--rows", type=int, help="This many rows, whatever the scale."),
    click.option("--seed", type=int, help="Where every random choice comes from."),
    click.option(
        "--set", multiple=True, metavar="KEY=VALUE", help="Any other key of the file, e.g. cpus.client=[0]; repeatable."
    ),
    click.option("--out", type=click.Path(path_type=Path), default=Path("runs"), help="Where the run's folder goes."),
    click.option("--confirm-limit", is_flag=True, help="Run each trial again with a fifth less of what limited it."),
    click.option("--keep", is_flag=True, help="Leave on an attached store what dbdyno made there."),
    click.option("--no-observe", is_flag=True, help="Do not watch host, servers and client while a trial runs."),
    click.option("--quiet", is_flag=True, help="Say nothing but what went wrong."),
)


def experiment_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command these options."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
