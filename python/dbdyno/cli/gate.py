"""`dbdyno gate`: for a build that must not become slower."""

import json
from dataclasses import dataclass
from typing import Any

import click

from dbdyno.cli.console import make_console
from dbdyno.cli.find_run import find_run
from dbdyno.errors import UserError
from dbdyno.report.cells import sides_of_runs
from dbdyno.report.comparison import (
    INVALID,
    Verdicts,
    compare_sides,
    comparison_document,
    limited_on_both,
    print_comparison,
)
from dbdyno.report.core.terminal import say
from dbdyno.results.foreign_content import understood
from dbdyno.results.model import Run
from dbdyno.results.noise import known_noise
from dbdyno.results.read import read_run
from dbdyno.stats.comparison import SINGLE, confirmed_slowdown


def command(baseline: str, run: str, as_json: bool, leave_out_limited: bool, **asked: Any) -> int:
    """Print the comparison, and return 1 if a cell is confirmed slower; raises UserError if it cannot be judged."""
    folders = find_run(baseline), find_run(run)
    with understood(*folders):
        first, second = map(read_run, folders)
        gate = _judge(first, second, leave_out_limited, **asked)
        if as_json:
            click.echo(json.dumps(comparison_document(gate.verdicts) | gate.counted(), ensure_ascii=False, indent=1))
        else:
            console = make_console()
            print_comparison(gate.verdicts, console)
            say(console, gate.sentence(asked["margin"]), "bold")
    if not gate.judged:
        why = "no cell has two valid trials a side; run both with --repeat 5"
        if gate.left_out and not gate.unjudged:
            why = "the client or the rate limited every cell on both sides; run both with a load that the store limits"
        raise UserError(f"the gate can judge nothing: {why}")
    if gate.unjudged and not gate.slower:
        raise UserError(
            f"the gate cannot pass: {gate.unjudged} of the baseline's cells could not be judged. Run both on the same "
            "systems and loads, or leave these cells out of both. --leave-out-limited leaves out those that the client "
            "or the rate limited."
        )
    return 1 if gate.slower else 0


@dataclass(frozen=True, slots=True)
class _Gate:
    """The result over all cells: `left_out` names the intended omissions, `unjudged` counts other unjudged cells."""

    verdicts: Verdicts
    judged: int
    slower: int
    unjudged: int
    left_out: tuple[str, ...]

    def counted(self) -> dict[str, object]:
        passed = bool(self.judged) and not self.slower and not self.unjudged
        counts = {"confirmed_slowdowns": self.slower, "not_judged": self.unjudged}
        return counts | {"left_out_limited": list(self.left_out), "passed": passed}

    def sentence(self, margin: float) -> str:
        cells = self.judged + self.unjudged
        said = f"gate: {self.slower} of {cells} cells are confirmed slower by more than {100 * margin:.3g} %"
        said += f"; {self.unjudged} could not be judged" if self.unjudged else ""
        left_out = f"; left out, limited on both sides: {len(self.left_out)} ({'; '.join(self.left_out)})"
        return said + (left_out if self.left_out else "")


def _judge(baseline: Run, run: Run, leave_out_limited: bool, margin: float, noise: float | None, force: bool) -> _Gate:
    sides = sides_of_runs(baseline, run)
    known = known_noise(*{side.run.path for pair in sides for side in pair}) if noise is None else noise
    verdicts = compare_sides(sides, margin, known, force)
    judged = [compared for compared in verdicts.cells if compared.verdict not in (INVALID, SINGLE)]
    slower = sum(compared.comparison is not None and confirmed_slowdown(compared.comparison) for compared in judged)
    invalid = [compared for compared in verdicts.cells if compared.verdict == INVALID and leave_out_limited]
    left_out = tuple(
        f"{compared.baseline.label} on {compared.cell.workload} at {compared.cell.load}: {by}"
        for compared in invalid
        if (by := limited_on_both(compared))
    )
    unjudged = len(verdicts.cells) - len(judged) - len(left_out) + len(verdicts.missing)
    return _Gate(verdicts, len(judged), slower, unjudged, left_out)
