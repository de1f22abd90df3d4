"""Two sides compared cell by cell: the verdicts as one JSON document and as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np
from rich.console import Console
from rich.text import Text

from dbdyno.errors import UserError
from dbdyno.report.cells import Cell, Compared, Side, cautions, differences, loosened, missing
from dbdyno.report.core import words
from dbdyno.report.core.documents import CellDocument, ComparisonDocument, SideDocument
from dbdyno.report.core.terminal import Column, print_columns, say
from dbdyno.report.noise import floor_of
from dbdyno.results.model import Trial
from dbdyno.results.noise import NoiseFloor
from dbdyno.results.usable import compared_rate_per_s, evenness, unusable
from dbdyno.stats.comparison import EQUIVALENT, FASTER, INCONCLUSIVE, SLOWER, Comparison, compare, holm
from dbdyno.stats.steady_state import TOO_SHORT
from dbdyno.verdict.judge import judged
from dbdyno.verdict.limits import CLIENT, RATE, noun_of

INVALID = "invalid"
"""No verdict: what was measured is not what was asked."""
OPEN_LOOP = "an open loop: its throughput is the requested rate"
EVEN_FLOOR = 0.5
"""Of the median second: a side whose slowest seconds do less is named."""
_STYLES = {FASTER: "green", SLOWER: "red", INVALID: "dim"}


@dataclass(frozen=True, slots=True)
class Verdicts:
    """All cells that were looked at together.

    Attributes:
        badges: what makes them less than like with like.
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
        noise: what a system differs from itself by on this host, or what is known of that; the margin is never below.
        force: compare what cannot be compared, with a badge. Systems of one run were put side by side by whoever wrote
            the experiment: a difference in durability is then a badge without being forced.

    Raises:
        UserError: two sides cannot be compared, or have no cell in common.
    """
    found: list[Compared] = []
    badges: dict[str, None] = {}
    for baseline, candidate in sides:
        reasons = differences(baseline, candidate)
        if reasons and not force and baseline.run is not candidate.run:
            raise UserError(f"not like with like: {'; '.join(reasons)}. Compare them anyway with --force")
        badges |= dict.fromkeys(f"{baseline.name} and {candidate.name}: {reason}" for reason in reasons)
        found += _cells(baseline, candidate, margin, noise)
    if not found:
        raise UserError("the two sides have no cell in common: no workload, size and load was measured on both")
    cells = _conclusions(found)
    said = dict.fromkeys(text for pair in sides for text in cautions(*pair))
    said |= dict.fromkeys(text for one in cells for text in _cautions(one))
    return Verdicts(cells, tuple(badges), tuple(said), tuple(missing(sides)))


def _conclusions(found: Sequence[Compared]) -> tuple[Compared, ...]:
    """The verdicts of all cells: those that are invalid first, so that the correction is for those that are not."""
    trials = {id(trial): trial for one in found for side in one.trials for trial in side}
    bounds = {place for place, trial in trials.items() if judged(trial).client_limited}
    found = [replace(one, least=_least(one, bounds)) for one in found]
    reasons = [_invalid(one, bounds) for one in found]
    valid = [one.comparison for one, why in zip(found, reasons, strict=True) if one.comparison and not why]
    adjusted = iter(holm(valid))
    return tuple(_concluded(one, why, adjusted) for one, why in zip(found, reasons, strict=True))


def _cautions(one: Compared) -> Iterator[str]:
    """Yield what a reader must know of a cell's margin and of the seconds its figures are taken from."""
    if one.least:
        faster = one.candidate if one.verdict == FASTER else one.baseline
        yield f"the client limited {faster.name} at {one.cell.load}, so the difference is a lower bound"
    if one.noise_from and one.comparison:
        margin = f"the margin is ±{words.significant(100 * one.comparison.margin)} % at {one.cell.load}"
        yield f"{margin}: the noise of {one.noise_from.system} in {one.noise_from.run}"
    for side, trials in zip((one.baseline, one.candidate), one.trials, strict=True):
        found = [trial.recorded.steady for trial in trials if not unusable(trial)]
        if unsteady := [steady.kind for steady in found if not steady.steady and steady.kind != TOO_SHORT]:
            kinds = ", ".join(dict.fromkeys(unsteady))
            of = f"{len(unsteady)} of {len(found)} trials"
            yield f"{side.name} at {one.cell.load} had no steady state in {of} ({kinds})"


def _cells(baseline: Side, candidate: Side, margin: float, noise: float | Sequence[NoiseFloor]) -> list[Compared]:
    ours, theirs = baseline.cells(), candidate.cells()
    if not ours.keys() & theirs.keys():
        ours, theirs = loosened(ours), loosened(theirs)
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


def _concluded(one: Compared, reason: str | None, adjusted: Iterator[Comparison]) -> Compared:
    """The verdict of a cell, by the next of those that were corrected together, unless it is invalid."""
    if reason:
        figures = replace(one.comparison, p_holm=None) if one.comparison else None
        return replace(one, comparison=figures, verdict=INVALID, reason=reason)
    comparison = next(adjusted)
    return replace(one, comparison=comparison, verdict=comparison.verdict)


def _least(one: Compared, bounds: Set[int]) -> bool:
    """Whether only the faster side has lower bounds: then it is faster, by at least as much."""
    if one.comparison is None:
        return False
    bounded = tuple(any(id(trial) in bounds for trial in trials) for trials in one.trials)
    return (bounded, one.comparison.verdict) in (((True, False), SLOWER), ((False, True), FASTER))


def _invalid(one: Compared, bounds: Set[int]) -> str | None:
    """Why a cell has no verdict: a trial that failed never wins nor loses silently, and a lower bound never loses.

    Args:
        bounds: the `id` of each trial whose figure is a lower bound, its client having limited it.
    """
    comparison = one.comparison
    if comparison is None:
        return "no pair of trials can be used"
    if one.cell.rate:
        return OPEN_LOOP
    for side, trials, wins in zip((one.baseline, one.candidate), one.trials, (SLOWER, FASTER), strict=True):
        if not one.least and any(id(trial) in bounds for trial in trials):
            return lower_bound(side)
        if comparison.verdict in (wins, EQUIVALENT) and any(map(unusable, trials)):
            return f"{side.name} had failed trials, so it cannot win by the others"
    return None


def lower_bound(side: Side) -> str:
    """Say why a side with a trial that its client limited has no figure to be compared."""
    return f"{side.name} was limited by the client, its figure is a lower bound"


def limited_on_both(one: Compared) -> str | None:
    """Return by what both sides of a cell were limited that is not the store, so that none can be told from the other.

    The rate, where every trial of both followed it: one that did not is a store's trouble. Else the client, where it
    limited a trial of either side. `None` of any other cell, and of one with a trial that cannot be used.
    """
    if any(map(unusable, (trial for side in one.trials for trial in side))):
        return None
    if one.cell.rate and all(trial.recorded.followed for side in one.trials for trial in side):
        return noun_of(RATE)
    clients = all(any(judged(trial).client_limited for trial in side) for side in one.trials)
    return noun_of(CLIENT) if clients else None


def comparison_document(verdicts: Verdicts) -> ComparisonDocument:
    """Return the verdicts as plain JSON values; ratios are of the candidate over the baseline."""
    return {
        "badges": list(verdicts.badges),
        "cautions": list(verdicts.cautions),
        "missing": list(verdicts.missing),
        "cells": [_cell_document(one) for one in verdicts.cells],
        "sentence": sentence(verdicts),
    }


def _cell_document(one: Compared) -> CellDocument:
    baseline, candidate = one.trials
    figures = one.comparison
    return {
        "workload": one.cell.workload,
        "rows": one.cell.rows,
        "clients": one.cell.clients,
        "pipeline": one.cell.pipeline,
        "network_delay_us": one.cell.network_delay_us,
        "rate": one.cell.rate or None,
        "baseline": _side_document(one.baseline, baseline),
        "candidate": _side_document(one.candidate, candidate),
        "pairs": figures.pairs if figures else None,
        "ratio": figures.ratio if figures else None,
        "low": figures.low if figures else None,
        "high": figures.high if figures else None,
        "p_value": figures.p_value if figures else None,
        "p_holm": figures.p_holm if figures else None,
        "p_sign_flip": figures.p_sign_flip if figures else None,
        "margin": figures.margin if figures else None,
        "noise": figures.noise if figures else None,
        "noise_from": one.noise_from.run if one.noise_from else None,
        "verdict": one.verdict,
        "least": one.least,
        "reason": one.reason,
        "left_out": list(one.left_out),
    }


def _side_document(side: Side, trials: Sequence[Trial]) -> SideDocument:
    return {
        "run": side.run.path.name,
        "label": side.label,
        "durability": side.durability,
        "throughput_per_s": _throughput(trials),
        "stability": evenness(trials),
    }


def _throughput(trials: Sequence[Trial]) -> float | None:
    """The geometric mean of the trials that can be used, as the ratio is one of geometric means."""
    rates = [compared_rate_per_s(trial) for trial in trials if not unusable(trial)]
    return float(np.exp(np.mean(np.log(rates)))) if rates else None


def print_comparison(verdicts: Verdicts, console: Console) -> None:
    """Print a table for each pair of sides, and what may be said of it."""
    pairs = dict.fromkeys((one.baseline.name, one.candidate.name) for one in verdicts.cells)
    for baseline, candidate in pairs:
        rows = [one for one in verdicts.cells if (one.baseline.name, one.candidate.name) == (baseline, candidate)]
        durability = f"{rows[0].baseline.durability} / {rows[0].candidate.durability}"
        title = Text.assemble((candidate, "bold"), " against ", (baseline, "bold"), (f"  {durability}", "cyan"))
        workloads = dict.fromkeys(one.cell.workload for one in rows)
        if len(workloads) == 1:
            title.append(f"  {rows[0].cell.workload}", "dim")
        say(console, title, hang=2)
        _print_table(rows, len(workloads) > 1, console)
        for text in filter(None, map(_unevenness, rows)):
            say(console, text, "yellow", hang=2)
    for one in verdicts.cells:
        for text in (*one.left_out, *([f"{one.cell.load}: {one.reason}"] if one.reason else [])):
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
            *((one.cell.workload,) if name_workloads else ()),
            one.cell.load,
            *(words.whole(_throughput(trials)) for trials in one.trials),
            difference(one),
            str(one.comparison.pairs) if one.comparison else "0",
            ("~ " if one.verdict == EQUIVALENT else "") + one.verdict,
        )
        for one in rows
    ]
    named = ("workload",) if name_workloads else ()
    headings = (*named, "load", "baseline/s", "candidate/s", "difference [95 %]", "n", "verdict")
    columns = [
        Column(name, column, 1 if name == "n" else None, left=name in ("workload", "load", "verdict"))
        for name, column in zip(headings, zip(*cells, strict=True), strict=True)
    ]
    print_columns(columns, console, styles=[_STYLES.get(one.verdict, "") for one in rows])


def _unevenness(one: Compared) -> str | None:
    """The lowest floor and the longest stall of either side, which equal means may hide; `None` if both are even."""
    sides = [evenness(trials) for trials in one.trials]
    stalled = any(map(words.stalled, sides))
    if not stalled and all(side["floor"] is None or side["floor"] >= EVEN_FLOOR for side in sides):
        return None
    floors = " / ".join(words.percent(side["floor"]) for side in sides)
    stalls = f", longest stall {' / '.join(map(words.longest_stall, sides))}" if stalled else ""
    return f"{one.cell.workload}, {one.cell.load}: floor {floors} of the median second{stalls}"


def difference(one: Compared) -> str:
    """The ratio, never without its interval; as a percentage where that is easy to read."""
    comparison = one.comparison
    if comparison is None or comparison.low is None or comparison.high is None:
        return words.UNKNOWN
    bound = {FASTER: "≥ ", SLOWER: "≤ "}.get(one.verdict, "") if one.least else ""
    ratios = comparison.ratio, comparison.low, comparison.high
    if not 0.5 < comparison.ratio < 2:
        centre, low, high = map(words.significant, ratios)
        return f"{bound}× {centre} [{low}, {high}]"
    centre, low, high = (f"{100 * (ratio - 1):+.1f}" for ratio in ratios)
    return f"{bound}{centre} % [{low}, {high}]"


def sentence(verdicts: Verdicts) -> str:
    """Say in one sentence what the cells add up to."""
    counted = Counter(one.verdict for one in verdicts.cells)
    margins = sorted({one.comparison.margin for one in verdicts.cells if one.comparison}) or [0.0]
    margin = " to ".join(f"±{100 * one:.3g} %" for one in dict.fromkeys((margins[0], margins[-1])))
    said = ", ".join(f"{count} {verdict}" for verdict, count in counted.most_common())
    cells = f"{len(verdicts.cells)} cell{'' if len(verdicts.cells) == 1 else 's'}"
    return f"{cells}: {said} (margin {margin})."
