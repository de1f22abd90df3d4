"""What client and servers used (`processes.jsonl`) while a trial was measured."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np

from dbdyno.errors import UserError
from dbdyno.results.jsonfiles import read_lines
from dbdyno.results.model import Usage

ENOUGH_OF_THE_TIME = 0.5


def read_usage(path: Path, begin_unix_s: float | None, end_unix_s: float | None) -> tuple[Usage, ...]:
    """Read how much CPU and memory each process used between two times.

    The samples are a second apart and do not fall on the window's ends, so the CPU time at an end is interpolated
    between its neighbours, and a window that is not wholly covered is cut to what is.

    Args:
        begin_unix_s, end_unix_s: the measured time, in seconds since the epoch; unknown ones yield no CPU figure.

    Raises:
        UserError: a line before the last cannot be understood; it is named.
    """
    samples: dict[str, dict[int, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    resident: dict[str, int] = defaultdict(int)
    for number, line in read_lines(path):
        try:
            name = str(line["process"])
            samples[name][int(line["pid"])].append((float(line["at_unix_s"]), float(line["cpu_s"])))
            resident[name] = max(resident[name], int(line["resident_bytes"]))
        except (KeyError, TypeError, ValueError) as error:
            raise UserError(f"{path}, line {number}: not a process sample: {error!r}") from error
    return tuple(
        Usage(name, _cores(list(by_pid.values()), begin_unix_s, end_unix_s), resident[name])
        for name, by_pid in samples.items()
    )


def _cores(series: list[list[tuple[float, float]]], begin: float | None, end: float | None) -> float | None:
    """CPU seconds per second over the window, of all the processes that bore one name."""
    if begin is None or end is None or end <= begin:
        return None
    used_s = covered_s = 0.0
    for samples in series:
        times, cpu_s = np.asarray(samples).T
        first, last = max(begin, times[0]), min(end, times[-1])
        if last > first:
            used_s += float(np.interp(last, times, cpu_s) - np.interp(first, times, cpu_s))
            covered_s += last - first
    return used_s / covered_s if covered_s >= ENOUGH_OF_THE_TIME * (end - begin) else None
