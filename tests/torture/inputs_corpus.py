"""Good inputs to begin with: shipped experiments, and folders of runs of many kinds, written and recorded."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from dbdyno.experiment.shipped_files import SHIPPED
from dbdyno.results.read import read_run
from synthetic_run import SYSTEMS, write_run

RECORDED = (
    ("game", "--system", "sqlite", "--system", "lmdb", "--clients", "1,2", "--repeat", "2"),
    ("point-get", "--system", "sqlite", "--rate", "500,1000", "--clients", "2"),
    ("point-get", "--system", "sqlite", "--find-rate", "p99 < 50ms", "--clients", "2"),
    ("insert-indexes", "--system", "sqlite", "--clients", "1..4", "--until-flat", "3%", "--rows", "200"),
    ("durability", "--system", "sqlite", "--system", "sqlite?synchronous=off", "--rows", "200"),
    ("air-traffic", "--system", "duckdb", "--rows", "2000"),
    ("dump-restore", "--system", "sqlite", "--rows", "500"),
    ("result-cache", "--rows", "200"),
    ("game", "--system", "redis", "--confirm-limit", "--clients", "2"),
)
"""Runs that are recorded for it; one whose system is not installed is left out."""
FAULTS = {("lmdb", 2): "server-died", ("sqlite", 2): "mismatch", ("mariadb", 2): "killed"}
_SHORT = ("--seconds", "1", "--warmup", "0", "--quiet", "--set", "host=false")


def experiments() -> list[str]:
    """Return the texts of the shipped experiments and of the examples."""
    examples = Path(__file__).parents[2] / "examples"
    return [file.read_text() for folder in (SHIPPED, examples) for file in sorted(folder.glob("**/*.toml"))]


def runs(folder: Path, with_recorded: bool) -> list[Path]:
    """Return folders of runs, made below `folder`; with_recorded: runs of real stores too, which take a minute."""
    written = [
        write_run(folder / "written" / "2026-11-20T20-30-00-one", SYSTEMS[:3], clients=(1, 4)),
        write_run(folder / "written" / "2026-11-20T20-31-00-two", SYSTEMS[2:3], clients=(4,), repeats=3),
        write_run(folder / "written" / "2026-11-20T20-32-00-three", SYSTEMS[:1], clients=(1, 2, 4, 8, 16, 32)),
        write_run(folder / "written" / "2026-11-20T20-33-00-four", SYSTEMS[-2:], clients=(4,), rates=(100, 200)),
        write_run(folder / "written" / "2026-11-20T20-34-00-five", SYSTEMS[:3], clients=(2,), faults=FAULTS),
    ]
    if with_recorded:
        written += _recorded(folder / "recorded")
    for run in written:
        # Derived files are there, as after the first look at a run.
        read_run(run)
    return written


def _recorded(folder: Path) -> Iterator[Path]:
    for arguments in RECORDED:
        out = folder / str(RECORDED.index(arguments))
        subprocess.run(
            [sys.executable, "-m", "dbdyno", "run", *arguments, *_SHORT, "--out", str(out)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        yield from (run.parent for run in out.glob("*/run.json"))
