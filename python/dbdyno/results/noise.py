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
        network_delay_us: one way, of a link that was made longer.
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
    network_delay_us: int = 0


def noise_file() -> Path:
    """Return where noise floors are kept: `dbdyno/noise.jsonl` in the user's directory for data (XDG_DATA_HOME)."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "dbdyno" / "noise.jsonl"


def noise_file_of(run: Path) -> Path:
    """Return where the floors lie that were known when the run in this folder began."""
    return run / "noise.jsonl"


def keep_noise(floors: Iterable[NoiseFloor], file: Path | None = None) -> Path:
    """Append floors to the file, the user's if none is named, and return it; raises OSError if it cannot be written."""
    file = file or noise_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = Lines(file)
    try:
        for floor in floors:
            lines.append_object(asdict(floor))
    finally:
        lines.close()
    return file


def known_noise(*runs: Path) -> list[NoiseFloor]:
    """Return what is known of the noise of hosts: by this user, and in these runs' folders; the oldest first.

    A run takes along what was known of its host, so that elsewhere the same is said of it.
    """
    floors = dict.fromkeys(floor for file in (noise_file(), *map(noise_file_of, runs)) for floor in read_noise(file))
    return sorted(floors, key=lambda floor: floor.at_unix_s)


def read_noise(file: Path | None = None) -> list[NoiseFloor]:
    """Return all that is kept in a file, the user's if none is named, in its order.

    Raises:
        UserError: a line of it is no noise floor.
    """
    file, floors = file or noise_file(), []
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

    The most similar floors are chosen: each of `likes` narrows the choice if any floor remains. If one was
    measured again, the last counts; among equally similar ones, the largest.
    """
    candidates = [floor for floor in floors if (floor.host, floor.workload) == (host, workload)]
    for like in likes:
        candidates = [floor for floor in candidates if like(floor)] or candidates
    last = {(floor.system, floor.rows, *load_of(floor), floor.seconds): floor for floor in candidates}
    return max(last.values(), key=lambda floor: floor.noise, default=None)


def load_of(floor: NoiseFloor) -> tuple[int, int, int]:
    """Return the load it was measured at: clients, pipeline, and the delay in microseconds."""
    return floor.clients, floor.pipeline, floor.network_delay_us
