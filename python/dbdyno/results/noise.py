"""The noise floors of this user's hosts: what a system differs from itself by, measured by `dbdyno aa` and kept."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from dbdyno.errors import UserError
from dbdyno.results.jsonfiles import read_lines
from dbdyno.results.write import Lines


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """One cell of one A/A run.

    Attributes:
        rows: per table. seconds: measured in each trial. pairs: trials a side.
        low, high: the 95 % interval of the ratio of the one side to the other.
        noise: its end that lies farther from 1, as a share; 0.02 is ±2 %.
        run: the A/A run's name. at_unix_s: when it was made.
    """

    host: str
    system: str
    workload: str
    rows: int
    clients: int
    pipeline: int
    seconds: int
    pairs: int
    low: float
    high: float
    noise: float
    run: str
    at_unix_s: float


def noise_file() -> Path:
    """Return where noise floors are kept: `dbdyno/noise.jsonl` in the user's directory for data (XDG_DATA_HOME)."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "dbdyno" / "noise.jsonl"


def keep_noise(floors: Iterable[NoiseFloor]) -> Path:
    """Append floors to the file and return it; raises OSError if it cannot be written."""
    file = noise_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = Lines(file)
    try:
        for floor in floors:
            lines.append_object(asdict(floor))
    finally:
        lines.close()
    return file


def read_noise() -> list[NoiseFloor]:
    """Return all that is kept, oldest first; raises UserError naming a line that is none."""
    file, floors = noise_file(), []
    for number, line in read_lines(file):
        try:
            floors.append(NoiseFloor(**line))
        except TypeError as error:
            raise UserError(f"{file}, line {number}: no noise floor: {error}; remove the line") from None
    return floors


def noise_for(
    floors: Sequence[NoiseFloor], host: str, workload: str, likes: Sequence[Callable[[NoiseFloor], bool]]
) -> NoiseFloor | None:
    """Return the floor that holds for a workload on a host, or `None` if none was measured.

    Of those there are, the ones most like it: each of `likes` narrows the choice where that leaves any. Of one
    measured again the last counts, and of several that are as like, the largest.
    """
    found = [floor for floor in floors if (floor.host, floor.workload) == (host, workload)]
    for like in likes:
        found = [floor for floor in found if like(floor)] or found
    last = {(one.system, one.rows, one.clients, one.pipeline, one.seconds): one for one in found}
    return max(last.values(), key=lambda floor: floor.noise, default=None)
