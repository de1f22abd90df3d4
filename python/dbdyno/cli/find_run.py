"""A run from what a person calls it."""

import shlex
from pathlib import Path

from dbdyno.errors import UserError

RUNS = Path("runs")


def name_of_run(folder: Path) -> str:
    """Return the shortest that a person can call a run by: `last`, its name in ./runs, or its folder."""
    if folder.resolve().parent != RUNS.resolve():
        return shlex.quote(str(folder))
    newest = max((path.parent.name for path in RUNS.glob("*/run.json")), default=None)
    return "last" if folder.name == newest else shlex.quote(folder.name)


def find_run(text: str) -> Path:
    """Return the folder of a path, of a name in ./runs, or of `last`, the newest; raises UserError if there is none."""
    if text == "last":
        runs = [path.parent for path in RUNS.glob("*/run.json")]
        if not runs:
            raise UserError("there is no run in ./runs; `dbdyno run quickstart` makes one")
        return max(runs, key=lambda run: run.name)
    for path in (Path(text), RUNS / text):
        if path.is_dir():
            return path
    raise UserError(f"'{text}' is not a run: give a run's folder, its name in ./runs, or last")
