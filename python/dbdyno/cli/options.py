"""The options of every command that runs an experiment."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import click

from dbdyno.experiment.scale import SCALES

Options: TypeAlias = dict[str, Any]
"""The options of a command as click gives them, by the names of their parameters."""

_OPTIONS = (
    click.option(
        "--clients",
        metavar="N,N,…",
        help="Numbers of clients, e.g. 1,8,64. 1..64 doubles, in two passes; 1.. doubles until --until-flat ends it.",
    ),
    click.option("--seconds", type=int, help="Measured seconds of each trial."),
    click.option("--warmup", metavar="N|auto", help="Warm-up seconds; auto cuts at the detected steady state."),
    click.option("--repeat", type=int, help="How often to run every trial."),
    click.option("--scale", type=click.Choice(SCALES), help="Size of the experiment: rows, clients and seconds."),
    click.option("--rows", type=int, help="Rows per table, at any scale."),
    click.option("--seed", type=int, help="Seed of every random choice."),
    click.option(
        "--set", multiple=True, metavar="KEY=VALUE", help="Any other key of the file, e.g. cpus.client=[0]. Repeatable."
    ),
    click.option(
        "--out", type=click.Path(path_type=Path), default=Path("runs"), help="Folder that gets the run's folder."
    ),
    click.option(
        "--confirm-limit",
        is_flag=True,
        help="Repeat each trial with less of what limited it, or with one setting changed.",
    ),
    click.option("--keep", is_flag=True, help="Keep the tables and keys that dbdyno made on an attached server."),
    click.option("--no-observe", is_flag=True, help="Do not observe host, servers and client during trials."),
    click.option("--quiet", is_flag=True, help="Print errors only."),
)


def experiment_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command these options."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
