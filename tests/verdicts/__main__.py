"""Injects known causes and grades the verdicts: `python -m verdicts [CASE …] --repeats 3`, with tests/ on PYTHONPATH.

Runs stay in a folder, so that they can be judged again after a verdict rule has changed (`--judge`). Verdicts stay in
a file, so that further repetitions can be added to them on another day.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

import click

from dbdyno.errors import DbdynoError

from .case import Case, Load, Variant
from .cases import CASES
from .grade import Grade, Verdict, failures, groups, totals
from .kept import PAGE, RESULT, Kept, read_kept
from .quiet import wait_for_quiet
from .runs import folder_of, read, run
from .stage import CannotInject
from .table import document


class Trials:
    """Runs and reads trials in folders below `parent`; `kept` has the verdicts, and what was left out or failed."""

    def __init__(self, parent: Path, reuse: bool, judge: bool, kept: Kept) -> None:
        self.parent, self.reuse, self.judge, self.kept = parent, reuse or judge, judge, kept
        self.left_out, self.failed = kept.left_out, kept.failed = {}, {}

    def verdict(self, scenario: Load | Case, variant: Variant, repeat: int) -> Verdict | None:
        """Return the verdict on one repetition, run now if it is not there; None if it is left out."""
        if verdict := self._verdict(scenario, variant, repeat):
            self.kept.add(verdict)
        return verdict

    def _verdict(self, scenario: Load | Case, variant: Variant, repeat: int) -> Verdict | None:
        folder = folder_of(self.parent, scenario, variant, repeat)
        if not self.reuse:
            shutil.rmtree(folder, ignore_errors=True)
        verdict = read(scenario, variant, repeat, folder, self.judge)
        if self.reuse and not verdict:
            verdict = self.kept.verdicts.get((scenario, variant, repeat))
        if self.judge and not verdict:
            self.failed[f"{scenario.name}, {variant.value}"] = "it has no complete run"
        if verdict or self.judge:
            return verdict
        # The rest of an earlier attempt is not whole.
        shutil.rmtree(folder, ignore_errors=True)
        try:
            if (others := wait_for_quiet()) is not None:
                click.echo(f"other programs use {others:.1f} processors: the next verdict may name them")
            run(scenario, variant, folder)
            return read(scenario, variant, repeat, folder)
        except CannotInject as error:
            self.left_out[scenario.name] = str(error)
        except DbdynoError as error:
            # Operations may fail in a trial that ends, as those do that find no connection.
            if verdict := read(scenario, variant, repeat, folder):
                return verdict
            self.failed[f"{scenario.name}, {variant.value}"] = str(error)
        return None


def chosen(names: tuple[str, ...]) -> list[Case]:
    """Return the cases of these names, or all; a name may be the beginning of several."""
    for name in names:
        if not any(case.name.startswith(name) for case in CASES):
            raise click.BadParameter(f"{name}: there are {', '.join(case.name for case in CASES)}")
    return [case for case in CASES if not names or case.name.startswith(names)]


def plan(cases: list[Case], variants: tuple[Variant, ...], repeats: int) -> Iterator[tuple[Load | Case, Variant, int]]:
    """Yield what is to be run: each case, and each control once for all its cases."""
    loads = list(dict.fromkeys(case.load for case in cases))
    for repeat in range(1, repeats + 1):
        for scenario in (*loads, *cases):
            yield from ((scenario, variant, repeat) for variant in variants if variant in scenario.ways)


def show(verdict: Verdict) -> None:
    """Print one verdict."""
    where = f"{verdict.scenario.name}, {verdict.variant.value}, {verdict.throughput_per_s:,.0f}/s"
    click.echo(f"{verdict.grade.value}: {where}: {verdict.sentence}")


def summary(verdicts: list[Verdict]) -> Iterable[str]:
    """Yield a line for each group of verdicts."""
    for group, members in groups(verdicts).items():
        counted = totals(members)
        grades = "; ".join(f"{counted[grade]} {grade.value}" for grade in Grade)
        yield f"{group}: {grades}; {len(members)} in all"


@click.command
@click.argument("names", nargs=-1, metavar="[CASE …]")
@click.option("--repeats", type=click.IntRange(1), default=1, help="How often each is run.")
@click.option("--variant", type=click.Choice([variant.value for variant in Variant]), help="One variant only.")
@click.option("--runs", type=click.Path(path_type=Path), help="The folder that keeps the runs.")
@click.option("--resume", is_flag=True, help="Run what is not in that folder yet.")
@click.option("--judge", is_flag=True, help="Run nothing: judge the runs in that folder again.")
@click.option("--write", type=click.Path(path_type=Path), help=f"The project whose {RESULT} and {PAGE} are written.")
def main(
    names: tuple[str, ...],
    repeats: int,
    variant: str | None,
    runs: Path | None,
    resume: bool,
    judge: bool,
    write: Path | None,
) -> None:
    """Run the cases; the exit status is 0 only if the verdicts are as good as they must be."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if (resume or judge) and runs is None:
        raise click.UsageError("--resume and --judge need --runs FOLDER")
    variants = (Variant(variant),) if variant else tuple(Variant)
    with ExitStack() as opened:
        scratch = opened.enter_context(tempfile.TemporaryDirectory())
        # No noise floor and no loaded data of the person's.
        own = {"XDG_DATA_HOME": f"{scratch}/data", "DBDYNO_STATE_DIR": f"{scratch}/states"}
        opened.enter_context(patch.dict(os.environ, own))
        kept = read_kept(write / RESULT) if write and (resume or judge) else Kept()
        trials = Trials(runs or Path(scratch) / "runs", resume, judge, kept)
        verdicts = []
        for scenario, way, repeat in plan(chosen(names), variants, repeats):
            if scenario.name not in trials.left_out and (verdict := trials.verdict(scenario, way, repeat)):
                verdicts.append(verdict)
                show(verdict)
                if write:
                    kept.write(write / RESULT)
    for name, reason in trials.left_out.items():
        click.echo(f"left out: {name}: {reason}")
    if write:
        kept.write(write / RESULT)
        (write / PAGE).write_text(document(kept), encoding="utf-8")
    reasons = [*failures(verdicts), *(f"{name} failed: {reason}" for name, reason in trials.failed.items())]
    for line in (*summary(verdicts), *reasons):
        click.echo(line)
    sys.exit(1 if reasons else 0)


if __name__ == "__main__":
    main()
