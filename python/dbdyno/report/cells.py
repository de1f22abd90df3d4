"""The cells of runs, whose trials may be compared, and why two runs may not (docs/statistics.md, sections 3 and 7)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from dbdyno.errors import UserError
from dbdyno.report.core.named_workload import named_workload
from dbdyno.report.sections.hosts import host_differences
from dbdyno.results.rivals import against
from dbdyno.verdict.card import builds_of

if TYPE_CHECKING:
    # Importing Student's t takes a third of the second that `dbdyno show` may last.
    from dbdyno.results.model import Run, Trial
    from dbdyno.results.noise import NoiseFloor
    from dbdyno.stats.comparison import Comparison

_DEFAULTS = {"client": "native", "data": "loaded", "cache_state": "hot", "warmup": None}
"""Values of older runs, which did not record these keys."""
_KIND_OF_HOST: tuple[Literal["kernel", "cpu_model", "cpus"], ...] = ("kernel", "cpu_model", "cpus")
_PLACED = ("client_cpus", "server_cpus", "memory_limit_bytes", "data_dir", "load_threads", "attached", "restart")
TRIAL_KEYS = ("seconds", "warmup_seconds", *_PLACED, *_DEFAULTS)
"""Keys of `environment.json` and of `trial.json` whose values may explain a difference."""


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """Two trials of a cell share the work, the size and the load. `rate` is an open loop's in words, else empty."""

    workload: str
    options: str
    rows: int
    clients: int
    pipeline: int
    rate: str
    network_delay_us: int = 0

    @property
    def load(self) -> str:
        """The load, for people."""
        clients = f"{self.clients} client{'' if self.clients == 1 else 's'}"
        pipeline = f", pipeline {self.pipeline}" if self.pipeline > 1 else ""
        pipeline += f", {self.network_delay_us:,} µs away" if self.network_delay_us else ""
        return clients + pipeline + (f", {self.rate}" if self.rate else "")


@dataclass(frozen=True, slots=True)
class Side:
    """One system of one run, or one variant of a workload on it.

    Attributes:
        name: what tells it from the other side.
        workload: the variant of the workload, such as `insert-indexes?indexes=1`; empty: all of them.
    """

    run: Run
    label: str
    name: str
    workload: str = ""

    @property
    def trials(self) -> tuple[Trial, ...]:
        """Its trials that were reached."""
        reached = (trial for trial in self.run.trials if trial.system is not None and trial.label == self.label)
        return tuple(trial for trial in reached if self.workload in ("", trial.facts.workload))

    @property
    def variant(self) -> Mapping[str, str]:
        """The keys of the experiment that it has for itself, in words."""
        return variants_of(self.run).get(self.label, {})

    @property
    def durability(self) -> str:
        """The durability classes of its trials, usually one."""
        levels = {trial.facts.promised.level for trial in self.trials}
        return ", ".join(sorted(levels))

    def cells(self) -> dict[Cell, dict[int, Trial]]:
        """Its trials by cell and repetition; a variant's cells name the workload without its options."""
        by_cell: dict[Cell, dict[int, Trial]] = {}
        for trial in self.trials:
            cell = cell_of(trial)
            if self.workload:
                cell = replace(cell, workload=named_workload(self.workload).name)
            by_cell.setdefault(cell, {})[int(trial.facts.repeat or 1)] = trial
        return by_cell


@dataclass(frozen=True, slots=True)
class Compared:
    """One cell of two sides.

    Attributes:
        comparison: `None` if there is no usable pair.
        verdict: the comparison's, or `invalid`.
        reason: why it is invalid, else `None`.
        left_out: trials that were not used, with the reason.
        noise_from: the noise floor that sets the margin, if it exceeds the requested margin.
        least: the client limited the faster side, so the difference is a lower bound.
    """

    baseline: Side
    candidate: Side
    cell: Cell
    trials: tuple[tuple[Trial, ...], tuple[Trial, ...]]
    comparison: Comparison | None
    verdict: str
    reason: str | None
    left_out: tuple[str, ...]
    noise_from: NoiseFloor | None = None
    least: bool = False


def variants_of(run: Run) -> dict[str, Mapping[str, str]]:
    """Return the variant of each system of a run, by label, in words."""
    return {trial.label: trial.facts.variant or {} for trial in run.trials if trial.system is not None}


def cell_of(trial: Trial) -> Cell:
    """Return the cell of a trial that was reached."""
    facts = trial.facts
    rate = facts.rate or {}
    return Cell(
        str(facts.workload),
        json.dumps(facts.options or {}, sort_keys=True),
        int(facts.rows or 0),
        int(facts.clients or 0),
        int(facts.pipeline or 1),
        str(rate.get("words", "")) if rate else "",
        int(facts.network_delay_us or 0),
    )


def sides_of_run(run: Run, baseline: str | None) -> list[tuple[Side, Side]]:
    """Return every system of a run against `baseline`, or against the run's first of its variant.

    If the run has one system, these are the variants of its workload.

    Raises:
        UserError: there is no such system, or nothing to compare it with.
    """
    labels = run.labels
    if len(labels) < 2:
        if baseline is None and (variants_of_workload := option_sides(run)):
            return variants_of_workload
        raise UserError(
            f"{run.path.name}: holds {len(labels)} system, to compare there must be two; or name a second run"
        )
    if baseline is not None and baseline not in labels:
        raise UserError(f"{run.path.name}: has no system '{baseline}'; it has {', '.join(labels)}")
    variants = variants_of(run)
    pairs = against({label: variants.get(label, {}) for label in labels}, baseline)
    return [(Side(run, first, first), Side(run, label, label)) for first, label in pairs]


def option_sides(run: Run) -> list[tuple[Side, Side]]:
    """Return each variant of a workload against the first declared variant of it, on each system of the run."""
    pairs = []
    for label in run.labels:
        ran = {trial.facts.workload for trial in run.trials if trial.system is not None and trial.label == label}
        variants: dict[str, list[Side]] = {}
        for text in filter(ran.__contains__, run.facts.workloads):
            workload = named_workload(text)
            name = f"{label}, {workload.variant}" if len(run.labels) > 1 else workload.variant
            variants.setdefault(workload.name, []).append(Side(run, label, name, text))
        pairs += [(first, other) for first, *others in variants.values() for other in others]
    return pairs


def sides_of_runs(baseline: Run, candidate: Run) -> list[tuple[Side, Side]]:
    """Return the systems that both runs have. If each run has a single system, they form the pair, whatever their
    names.

    Raises:
        UserError: there is no such pair.
    """
    labels = [run.labels for run in (baseline, candidate)]
    common = [(label, label) for label in labels[0] if label in labels[1]]
    if not common and len(labels[0]) == len(labels[1]) == 1:
        common = [(labels[0][0], labels[1][0])]
    if not common:
        ours, theirs = (", ".join(part) or "none" for part in labels)
        raise UserError(
            f"the runs have no system in common: {baseline.path.name} has {ours}, {candidate.path.name} {theirs}"
        )
    return [
        (Side(baseline, before, f"{before} before"), Side(candidate, after, f"{after} after"))
        for before, after in common
    ]


def differences(baseline: Side, candidate: Side) -> list[str]:
    """Return why two sides are not comparable, each reason in a few words; empty if they are.

    The variants of one run differ on purpose: their size and their options are no reason.
    """
    sides = baseline.cells(), candidate.cells()
    reasons = []
    sizes = (("options", "options"), ("rows per table", "rows")) if not are_variants(baseline, candidate) else ()
    for what, key in (("workload", "workload"), *sizes):
        ours, theirs = ({getattr(cell, key) for cell in cells} for cells in sides)
        if not ours & theirs:
            reasons.append(f"{what}: {_listed(ours)} against {_listed(theirs)}")
    if baseline.durability != candidate.durability:
        reasons.append(f"durability class: {baseline.durability} against {candidate.durability}")
    return reasons


def are_variants(baseline: Side, candidate: Side) -> bool:
    """Return whether two sides are variants of one run."""
    return baseline.run is candidate.run and baseline.variant != candidate.variant


def matching(baseline: Side, candidate: Side) -> tuple[dict[Cell, dict[int, Trial]], dict[Cell, dict[int, Trial]]]:
    """Return the cells of both sides, so that equal ones are compared.

    If none are equal, variants of one run match without their size and options, others by their load alone.
    """
    ours, theirs = baseline.cells(), candidate.cells()
    if ours.keys() & theirs.keys():
        return ours, theirs
    if are_variants(baseline, candidate):
        return _without_size(ours), _without_size(theirs)
    return loosened(ours), loosened(theirs)


def _without_size(cells: dict[Cell, dict[int, Trial]]) -> dict[Cell, dict[int, Trial]]:
    return {replace(cell, options="{}", rows=0): trials for cell, trials in cells.items()}


def missing(sides: Sequence[tuple[Side, Side]]) -> Iterator[str]:
    """Yield each system and each cell that the first of two runs has and the second lacks; nothing within one run.

    The table of a single run shows itself what the sweep of a system left out.
    """
    baseline, candidate = sides[0][0].run, sides[0][1].run
    if baseline is candidate:
        return
    for label in baseline.labels:
        if label not in {side.label for side, _ in sides}:
            yield f"{label}, which {baseline.path.name} has, is not in {candidate.path.name}"
    for ours, theirs in sides:
        had, has = matching(ours, theirs)
        for cell in (cell for cell in had if cell not in has):
            yield f"{ours.label} on {cell.workload} at {cell.load} is not in {candidate.path.name}"


def _listed(values: Iterable[object]) -> str:
    return ", ".join(sorted(map(str, values))) or "none"


def cautions(baseline: Side, candidate: Side) -> Iterator[str]:
    """Yield what else differs between the sides and may cause the difference."""
    if baseline.run is not candidate.run:
        yield "the runs were made one after the other, so the ratio includes every change of the host between them"
        known: tuple[Literal["host", "kernel", "cpu_model", "cpus"], ...] = ("host", *_KIND_OF_HOST)
        for key in known:
            ours, theirs = (side.run.environment.get(key) for side in (baseline, candidate))
            if ours != theirs and None not in (ours, theirs):
                yield f"between the runs {key.replace('_', ' ')} differs: {ours} against {theirs}"
        yield from host_differences(*(side.run.environment.get("measured") for side in (baseline, candidate)))
    builds = [sorted({build for trial in side.trials for build in builds_of(trial)}) for side in (baseline, candidate)]
    if builds[0] != builds[1]:
        # Two builds can state the same version, and a path can hold another build each day.
        for side, side_builds in zip((baseline, candidate), builds, strict=True):
            yield f"{side.name} is {' and '.join(side_builds)}" if side_builds else f"{side.name} names no path"
    on_purpose = _differing(baseline, candidate)
    for name in (name for name in TRIAL_KEYS if name.replace("_", " ").removesuffix(" bytes") not in on_purpose):
        default = _DEFAULTS.get(name)
        values = [
            {json.dumps(trial.about.get(name, default)) for trial in side.trials} for side in (baseline, candidate)
        ]
        if values[0] != values[1]:
            yield f"not alike in {name.replace('_', ' ')}: {_listed(values[0])} against {_listed(values[1])}"


def _differing(baseline: Side, candidate: Side) -> set[str]:
    """Return the keys in which two variants of one run differ, in small letters."""
    if not are_variants(baseline, candidate):
        return set()
    return {key.lower() for key, _ in baseline.variant.items() ^ candidate.variant.items()}


def conditions(run: Run, trial: Trial) -> dict[str, str]:
    """Return the conditions that all runs of a history share, by name, in words.

    Versions are left out: a history shows the effect of a new one. The host's name is left out too: builds in a new
    container have a new name each time.
    """
    about, cell = trial.about, cell_of(trial)
    # The path of a build is left out as well: a daily build has another path each day.
    settings = trial.facts.settings_but_builds
    of_trial = {key.replace("_", " "): json.dumps(about.get(key, _DEFAULTS.get(key))) for key in TRIAL_KEYS}
    return {
        "durability class": trial.facts.promised.level,
        "options": cell.options,
        "rows per table": str(cell.rows),
        "settings": json.dumps(settings, sort_keys=True, ensure_ascii=False),
        **of_trial,
        **{key.replace("_", " "): str(run.environment.get(key, "unknown")) for key in _KIND_OF_HOST},
    }


def loosened(cells: dict[Cell, dict[int, Trial]]) -> dict[Cell, dict[int, Trial]]:
    """Return cells by their load alone, for a forced comparison; the first cell of each load is kept."""
    loose: dict[Cell, dict[int, Trial]] = {}
    for cell, trials in cells.items():
        loose.setdefault(replace(cell, workload="any", options="{}", rows=0), trials)
    return loose
