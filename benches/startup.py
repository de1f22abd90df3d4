"""How long the tool itself takes: the processor time of commands that run no trial, by hyperfine.

    python -m benches.startup

Beside each are its limit, and how often an empty Python starts in that time: hosts differ in speed by a factor of
two or more. `show` reads a run of one second that is made first.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HYPERFINE = ("hyperfine", "--warmup", "2", "--shell=none", "--ignore-failure", "--style", "none")
RUN = ("run", "point-get", "--system", "sqlite", "--rows", "1000", "--clients", "1", "--seconds", "1", "--warmup", "0")
EMPTY = ("-c", "pass")


@dataclass(frozen=True)
class Case:
    """A command and the milliseconds of processor time that it may take."""

    arguments: tuple[str, ...]
    limit_ms: float


CASES = (
    Case(("--version",), 150),
    Case(("--help",), 150),
    Case(("run", "--help"), 150),
    Case(("run", "--nope"), 150),
    Case(("completions", "zsh"), 150),
    Case(("list",), 300),
    Case(("systems",), 300),
    Case(("show", "last"), 400),
)


def cpu_ms(exported: str) -> float:
    """Return the mean processor time, user and system, of what hyperfine exported of one command, in milliseconds."""
    (result,) = json.loads(exported)["results"]
    return 1000 * float(result["user"] + result["system"])


def table(figures: list[tuple[Case, float]], empty_ms: float) -> str:
    """Return the cases as Markdown: their processor times, and those over that of an empty Python."""
    rows = [
        f"| `dbdyno {' '.join(case.arguments)}` | {ms:.0f} ms | {ms / empty_ms:.1f} × | {case.limit_ms:.0f} ms |"
        for case, ms in figures
    ]
    return "\n".join(("| command | CPU, mean | of an empty Python | at most |", "|---|---:|---:|---:|", *rows))


def measure(arguments: tuple[str, ...], folder: Path) -> float:
    """Return the milliseconds of processor time that Python takes in `folder` with these arguments."""
    exported = folder / "hyperfine.json"
    command = " ".join((sys.executable, *arguments))
    subprocess.run((*HYPERFINE, "--export-json", exported, command), cwd=folder, env=environment(), check=True)
    return cpu_ms(exported.read_text())


def environment() -> dict[str, str]:
    """Return an environment in which Python keeps the compiled modules, as it does where a wheel is installed."""
    return {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}


def main() -> int:
    """Measure all cases, print the table, and return 1 if one takes longer than its limit."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run((sys.executable, "-m", "dbdyno", *RUN, "--quiet"), cwd=folder, check=True)
        empty_ms = measure(EMPTY, folder)
        figures = [(case, measure(("-m", "dbdyno", *case.arguments), folder)) for case in CASES]
    print(table(figures, empty_ms))
    return int(any(ms > case.limit_ms for case, ms in figures))


if __name__ == "__main__":
    sys.exit(main())
