"""`dbdyno history`: a folder of runs over time, and where the level changed."""

import json
from pathlib import Path

import click

from dbdyno.cli.console import make_console
from dbdyno.errors import UserError
from dbdyno.report.history import history, history_document, print_history
from dbdyno.results.foreign_content import understood
from dbdyno.results.noise import known_noise
from dbdyno.results.read import read_run


def command(directory: str, noise: float | None, as_json: bool) -> int:
    """Print where the levels in a folder of runs changed."""
    runs = []
    for file in sorted(Path(directory).glob("*/run.json")):
        try:
            runs.append(read_run(file.parent))
        except UserError as error:
            click.echo(f"left out: {error}", err=True)
    if not runs:
        raise UserError(f"{directory}: holds no run that can be read")
    with understood(Path(directory)):
        changes = history(runs, known_noise(*(run.path for run in runs)) if noise is None else noise)
        if as_json:
            click.echo(json.dumps(history_document(changes), ensure_ascii=False, indent=1))
        else:
            print_history(changes, make_console())
    return 0
