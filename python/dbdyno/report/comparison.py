"""Two sides compared cell by cell: the verdicts as one JSON document and as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.text import Text

from dbdyno.errors import UserError
from dbdyno.report.cells import Cell, Compared, Side, cautions, differences, matching, missing
from dbdyno.report.core import words
from dbdyno.report.core.named_workload import named_workload
from dbdyno.report.core.terminal import Column, print_columns, say
from dbdyno.report.limited_sides import client_decided, times_limited
from dbdyno.report.noise import floor_of
from dbdyno.results.usable import compared_rate_per_s, evenness, unusable
from dbdyno.stats.comparison import EQUIVALENT, FASTER, INCONCLUSIVE, SINGLE, SLOWER, Comparison, compare, holm
from dbdyno.stats.steady_state import TOO_SHORT
from dbdyno.verdict.limits import CLIENT, RATE, noun_of

if TYPE_CHECKING:
    from dbdyno.report.core.documents import CellDocument, ComparisonDocument, SideDocument
    from dbdyno.results.model import Trial
    from dbdyno.results.noise import NoiseFloor

INVALID = "invalid"
"""No verdict: the trials cannot answer the question."""
OPEN_LOOP = "an open loop: its throughput is the requested rate"
EVEN_FLOOR = 0.5
"""A side is named if its floor is below this share of its median second."""
_STYLES = {FASTER: "green", SLOWER: "red", INVALID: "dim"}
_IN_TABLE = {EQUIVALENT: f"~ {EQUIVALENT}", SINGLE: "one trial a side"}
"""Verdicts that a table says in other words; the conclusion below it says each in full."""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """All cells that were judged together.

    Attributes:
        badges: why they are not like with like.
        missing: what the first of two runs has and the second lacks, a system or a cell each.
    """

    cells: tuple[Compared, ...]
    badges: tuple[str, ...]
    cautions: tuple[str, ...]
    missing: tuple[str, ...] = ()


def compare_sides(
    sides: Sequence[tuple[Side, Side]], margin: float, noise: float | Sequence[NoiseFloor], force: bool
) -> Verdicts:
    """Compare pairs of sides in every cell that both have.

    Args:
        margin: the share that counts as no difference.
        noise: the A/A noise of this host, or its known noise floors; the margin is never smaller.
        force: compare sides that are not comparable, with a badge. Within one run no force is needed: the author of the
            experiment put its systems side by side, so a difference in durability is only a badge.

    Raises:
        UserError: two sides cannot be compared, or have no cell in common.
    """
    compared: list[Compared] = []
    badges: dict[str, None] = {}
    for baseline, candidate in sides:
        reasons = differences(baseline, candidate)
        if reasons and not force and baseline.run is not candidate.run:
            raise UserError(f"not like with like: {'; '.join(reasons)}. Compare them anyway with --force")
        badges |= dict.fromkeys(f"{baseline.name} and {candidate.name}: {reason}" for reason in reasons)
        compared += _cells(baseline, candidate, margin, noise)
    if not compared:
        raise UserError("the two sides have no cell in common: no workload, size and load was measured on both")
    cells = _conclusions(compared)
    said = dict.fromkeys(text for pair in sides for text in cautions(*pair))
    said |= dict.fromkeys(text for cell in cells for text in _cautions(cell))
    return Verdicts(cells, tuple(badges), tuple(said), tuple(missing(sides)))


def _conclusions(cells: Sequence[Compared]) -> tuple[Compared, ...]:
    """Return all cells with their verdicts. Holm's correction counts only the cells that are not invalid."""
    cells = [replace(compared, least=_least(compared)) for compared in cells]
    reasons = [_invalid(compared) for compared in cells]
    valid = [
        compared.comparison for compared, why in zip(cells, reasons, strict=True) if compared.comparison and not why
    ]
    adjusted = iter(holm(valid))
    return tuple(_concluded(compared, why, adjusted) for compared, why in zip(cells, reasons, strict=True))


def _cautions(compared: Compared) -> Iterator[str]:
    """Yield cautions about a cell: a lower bound, the source of its margin, trials without a steady state."""
    if compared.least:
        faster = compared.candidate if compared.verdict == FASTER else compared.baseline
        yield f"the client limited {faster.name} at {compared.cell.load}, so the difference is a lower bound"
    if compared.noise_from and compared.comparison:
        margin = f"the margin is ±{words.significant(100 * compared.comparison.margin)} % at {compared.cell.load}"
        yield f"{margin}: the noise of {compared.noise_from.system} in {compared.noise_from.run}"
    if compared.comparison and compared.comparison.taken_back:
        p_holm = f"p = {compared.comparison.p_holm:.2g}"
        yield f"among all comparisons, the difference at {compared.cell.load} may be chance ({p_holm} after Holm)"
    for side, trials in zip((compared.baseline, compared.candidate), compared.trials, strict=True):
        states = [trial.recorded.steady for trial in trials if not unusable(trial)]
        if (limited := times_limited(trials)) and not client_decided(trials):
            of = f"{limited} of {len(states)} trials"
            yield f"the client limited {side.name} at {compared.cell.load} in {of}, so its figure may be low"
        if unsteady := [steady.kind for steady in states if not steady.steady and steady.kind != TOO_SHORT]:
            kinds = ", ".join(dict.fromkeys(unsteady))
            of = f"{len(unsteady)} of {len(states)} trials"
            yield f"{side.name} at {compared.cell.load} had no steady state in {of} ({kinds})"


def _cells(baseline: Side, candidate: Side, margin: float, noise: float | Sequence[NoiseFloor]) -> list[Compared]:
    ours, theirs = matching(baseline, candidate)
    return [
        _compared(baseline, candidate, cell, (ours[cell], theirs[cell]), margin, noise)
        for cell in ours
        if cell in theirs
    ]


def _compared(
    baseline: Side,
    candidate: Side,
    cell: Cell,
    trials: tuple[dict[int, Trial], ...],
    margin: float,
    noise: float | Sequence[NoiseFloor],
) -> Compared:
    both = [{repeat: trial for repeat, trial in side.items() if not unusable(trial)} for side in trials]
    repeats = sorted(both[0].keys() & both[1].keys())
    rates = [[compared_rate_per_s(side[repeat]) for repeat in repeats] for side in both]
    left_out = tuple(f"{trial.name}: {why}" for side in trials for trial in side.values() if (why := unusable(trial)))
    everything = (tuple(trials[0].values()), tuple(trials[1].values()))
    floor = None if isinstance(noise, float) else floor_of(noise, baseline, candidate, cell)
    least = noise if isinstance(noise, float) else floor.noise if floor else 0.0
    comparison = compare(rates[0], rates[1], margin, least) if repeats else None
    decides = floor if floor and floor.noise > margin else None
    return Compared(baseline, candidate, cell, everything, comparison, INCONCLUSIVE, None, left_out, decides)


def _concluded(compared: Compared, reason: str | None, adjusted: Iterator[Comparison]) -> Compared:
    """Return a cell with its verdict: invalid if there is a reason, else by the next of the corrected comparisons."""
    if reason:
        figures = replace(compared.comparison, p_holm=None) if compared.comparison else None
        return replace(compared, comparison=figures, verdict=INVALID, reason=reason)
    comparison = next(adjusted)
    return replace(compared, comparison=comparison, verdict=comparison.verdict)


def _least(compared: Compared) -> bool:
    """Return whether only the faster side has lower bounds: then it is faster by at least the ratio."""
    if compared.comparison is None:
        return False
    bounded = tuple(map(client_decided, compared.trials))
    return (bounded, compared.comparison.verdict) in (((True, False), SLOWER), ((False, True), FASTER))


def _invalid(compared: Compared) -> str | None:
    """Return why a cell has no verdict, or `None`.

    Failed trials must not decide silently, and a lower bound never loses.
    """
    comparison = compared.comparison
    if comparison is None:
        return "no pair of trials can be used"
    if compared.cell.rate:
        return OPEN_LOOP
    for side, trials, wins in zip(
        (compared.baseline, compared.candidate), compared.trials, (SLOWER, FASTER), strict=True
    ):
        if not compared.least and client_decided(trials):
            return lower_bound(side)
        if comparison.verdict in (wins, EQUIVALENT) and any(map(unusable, trials)):
            return f"{side.name} had failed trials, so it cannot win by the others"
    return None


def lower_bound(side: Side) -> str:
    """Say why a side whose trials the client decided has no figure to be compared."""
    return f"{side.name} was limited by the client, its figure is a lower bound"


def limited_on_both(compared: Compared) -> str | None:
    """Return what limited both sides of a cell, if it was not the store: then the cell cannot compare the stores.

    It is the rate if every trial followed it, else the client if it decided both sides. `None` for any other cell, and
    for a cell with an unusable trial.
    """
    if any(map(unusable, (trial for side in compared.trials for trial in side))):
        return None
    if compared.cell.rate and all(trial.recorded.followed for side in compared.trials for trial in side):
        return noun_of(RATE)
    return noun_of(CLIENT) if all(map(client_decided, compared.trials)) else None


def comparison_document(verdicts: Verdicts) -> ComparisonDocument:
    """Return the verdicts as plain JSON values; ratios are of the candidate over the baseline."""
    return {
        "badges": list(verdicts.badges),
        "cautions": list(verdicts.cautions),
        "missing": list(verdicts.missing),
        "cells": [_cell_document(compared) for compared in verdicts.cells],
        "sentence": sentence(verdicts),
    }


def _cell_document(compared: Compared) -> CellDocument:
    baseline, candidate = compared.trials
    figures = compared.comparison
    return {
        "workload": compared.cell.workload,
        "rows": compared.cell.rows,
        "clients": compared.cell.clients,
        "pipeline": compared.cell.pipeline,
        "network_delay_us": compared.cell.network_delay_us,
        "rate": compared.cell.rate or None,
        "baseline": _side_document(compared.baseline, baseline),
        "candidate": _side_document(compared.candidate, candidate),
        "pairs": figures.pairs if figures else None,
        "ratio": figures.ratio if figures else None,
        "low": figures.low if figures else None,
        "high": figures.high if figures else None,
        "p_value": figures.p_value if figures else None,
        "p_holm": figures.p_holm if figures else None,
        "p_sign_flip": figures.p_sign_flip if figures else None,
        "margin": figures.margin if figures else None,
        "noise": figures.noise if figures else None,
        "noise_from": compared.noise_from.run if compared.noise_from else None,
        "verdict": compared.verdict,
        "least": compared.least,
        "reason": compared.reason,
        "left_out": list(compared.left_out),
    }


def _side_document(side: Side, trials: Sequence[Trial]) -> SideDocument:
    return {
        "run": side.run.path.name,
        "label": side.label,
        "variant": named_workload(side.workload).variant or None,
        "durability": side.durability,
        "throughput_per_s": _throughput(trials),
        "stability": evenness(trials),
    }


def _throughput(trials: Sequence[Trial]) -> float | None:
    """Return the geometric mean of the usable trials: the ratio is one of geometric means too."""
    rates = [compared_rate_per_s(trial) for trial in trials if not unusable(trial)]
    return float(np.exp(np.mean(np.log(rates)))) if rates else None


def print_comparison(verdicts: Verdicts, console: Console) -> None:
    """Print a table for each pair of sides, remarks, and the conclusion."""
    pairs = dict.fromkeys((compared.baseline.name, compared.candidate.name) for compared in verdicts.cells)
    for baseline, candidate in pairs:
        rows = [
            compared
            for compared in verdicts.cells
            if (compared.baseline.name, compared.candidate.name) == (baseline, candidate)
        ]
        durability = f"{rows[0].baseline.durability} / {rows[0].candidate.durability}"
        title = Text.assemble((candidate, "bold"), " against ", (baseline, "bold"), (f"  {durability}", "cyan"))
        workloads = dict.fromkeys(compared.cell.workload for compared in rows)
        if len(workloads) == 1:
            title.append(f"  {rows[0].cell.workload}", "dim")
        say(console, title, hang=2)
        _print_table(rows, len(workloads) > 1, console)
        for text in filter(None, map(_unevenness, rows)):
            say(console, text, "yellow", hang=2)
    for compared in verdicts.cells:
        for text in (*compared.left_out, *([f"{compared.cell.load}: {compared.reason}"] if compared.reason else [])):
            say(console, text, "yellow", hang=2)
    for text in verdicts.missing:
        say(console, f"Missing: {text}", "yellow", hang=2)
    for text in verdicts.badges:
        say(console, f"NOT LIKE WITH LIKE: {text}", "bold yellow", hang=2)
    for text in verdicts.cautions:
        say(console, f"Note: {text}.", "dim", hang=2)
    say(console, sentence(verdicts), "bold")


def _print_table(rows: Sequence[Compared], name_workloads: bool, console: Console) -> None:
    cells = [
        (
            *((compared.cell.workload,) if name_workloads else ()),
            compared.cell.load,
            *(words.whole(_throughput(trials)) for trials in compared.trials),
            difference(compared),
            str(compared.comparison.pairs) if compared.comparison else "0",
            _IN_TABLE.get(compared.verdict, compared.verdict),
        )
        for compared in rows
    ]
    named = ("workload",) if name_workloads else ()
    headings = (*named, "load", "baseline/s", "candidate/s", "difference [95 %]", "n", "verdict")
    columns = [
        Column(name, column, 1 if name == "n" else None, left=name in ("workload", "load", "verdict"))
        for name, column in zip(headings, zip(*cells, strict=True), strict=True)
        if set(column) != {words.UNKNOWN}
    ]
    print_columns(columns, console, styles=[_STYLES.get(compared.verdict, "") for compared in rows])


def _unevenness(compared: Compared) -> str | None:
    """Return the floors and the longest stalls of both sides, which equal means may hide; `None` if both are even."""
    sides = [evenness(trials) for trials in compared.trials]
    stalled = any(map(words.stalled, sides))
    if not stalled and all(side["floor"] is None or side["floor"] >= EVEN_FLOOR for side in sides):
        return None
    known = any(side["floor"] is not None for side in sides)
    floors = f"floor {' / '.join(words.percent(side['floor']) for side in sides)} of the median second" if known else ""
    stalls = f"longest stall {' / '.join(map(words.longest_stall, sides))}" if stalled else ""
    return f"{compared.cell.workload}, {compared.cell.load}: {', '.join(filter(None, (floors, stalls)))}"


def difference(compared: Compared) -> str:
    """Return the ratio with its interval, as a percentage if that is easy to read."""
    comparison = compared.comparison
    if comparison is None or comparison.low is None or comparison.high is None:
        return words.UNKNOWN
    bound = {FASTER: "≥ ", SLOWER: "≤ "}.get(compared.verdict, "") if compared.least else ""
    ratios = comparison.ratio, comparison.low, comparison.high
    if not 0.5 < comparison.ratio < 2:
        centre, low, high = map(words.significant, ratios)
        return f"{bound}× {centre} [{low}, {high}]"
    centre, low, high = (f"{100 * (ratio - 1):+.1f}" for ratio in ratios)
    return f"{bound}{centre} % [{low}, {high}]"


def sentence(verdicts: Verdicts) -> str:
    """Return the number of cells by verdict, in one sentence."""
    counted = Counter(compared.verdict for compared in verdicts.cells)
    margins = sorted({compared.comparison.margin for compared in verdicts.cells if compared.comparison}) or [0.0]
    margin = " to ".join(f"±{100 * share:.3g} %" for share in dict.fromkeys((margins[0], margins[-1])))
    said = ", ".join(f"{count} {verdict}" for verdict, count in counted.most_common())
    cells = f"{len(verdicts.cells)} cell{'' if len(verdicts.cells) == 1 else 's'}"
    return f"{cells}: {said} (margin {margin})."
