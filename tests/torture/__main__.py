"""Runs the torture suite, or a part or a case of it: `python -m torture [PART …] --seed N`, with tests/ on PYTHONPATH.

Without a part it runs all. Without counts it runs them at full size, which is what docs/torture.md has the counts of.
"""

from __future__ import annotations

import importlib
import signal
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import click

from torture.part import Part, Report
from torture.table import write_counts

PARTS = ("kills", "attached", "hostile", "inputs")


def load_parts(names: tuple[str, ...]) -> list[Part]:
    """Return the parts of these names; all that are there if none is given."""
    there = [name for name in PARTS if find_spec(f"torture.{name}")]
    if unknown := set(names) - set(there):
        raise click.BadParameter(f"{', '.join(sorted(unknown))}: there are {', '.join(there)}")
    return [importlib.import_module(f"torture.{name}").PART for name in (names or there)]


def run_part(part: Part, seed: int, cases: range, ends_at: float | None) -> tuple[Report, float]:
    """Run one part; returns what it did, and how long it took in seconds."""
    report = Report(part.name, seed, ends_at)
    began = time.monotonic()
    part.run(seed, cases, report)
    return report, time.monotonic() - began


@click.command
@click.argument("names", nargs=-1, metavar="[PART …]")
@click.option("--seed", type=int, default=1, help="Where every choice comes from.")
@click.option("--count", type=click.IntRange(1), help="Cases of each part; default: a full run's.")
@click.option("--first", type=click.IntRange(0), default=0, help="The number of the first case.")
@click.option("--case", type=click.IntRange(0), help="Repeat this one alone.")
@click.option("--minutes", type=float, help="Begin no further case of a part after so long.")
@click.option("--write", type=click.Path(path_type=Path), help="A document whose table of counts is renewed.")
def main(
    names: tuple[str, ...],
    seed: int,
    count: int | None,
    first: int,
    case: int | None,
    minutes: float | None,
    write: Path | None,
) -> None:
    """Run the parts; the exit status is 0 only if nothing was found."""
    # Whatever ends the suite, it ends what it has started.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    done = []
    for part in load_parts(names):
        cases = range(first, first + (count or part.full)) if case is None else range(case, case + 1)
        ends_at = None if minutes is None else time.monotonic() + 60 * minutes
        report, took_s = run_part(part, seed, cases, ends_at)
        done.append((part, report, took_s))
        for group, number, findings in report.rows():
            click.echo(f"{part.name}: {group}: {number:,} {part.unit}, {findings} findings")
    if write:
        write_counts(write, done)
    sys.exit(1 if any(report.findings for _, report, _ in done) else 0)


if __name__ == "__main__":
    main()
