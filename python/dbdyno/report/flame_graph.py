"""Flame graphs of folded stacks (B. Gregg, The Flame Graph, Communications of the ACM 59(6), 2016), as SVG.

A function's width is the time in it and in the functions it called. A click zooms in on a function. A differential
graph compares two systems under the same load. A wide function costs much in either; it is red if the second system
spends more on it, and blue if it spends less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from zlib import crc32

from dbdyno.report.core.templating import templates
from dbdyno.results.facts import TrialFacts
from dbdyno.results.jsonfiles import read_object
from dbdyno.results.profile import is_profiled, read_profile
from dbdyno.results.write import write_whole

NARROWEST = 0.001
"""Narrower functions, as a share of the whole width, are left out. Nobody can see or click them, and they would fill
most of the file."""
ROW_PX = 17
_KERNEL = "_[k]"

Stacks = Mapping[str, float]
"""Folded stacks to µs: functions from the outermost on, `;` between them."""


@dataclass
class _Function:
    """A function at one position of the call tree, with the µs in it and below, for the first and the second system."""

    first: float = 0.0
    second: float = 0.0
    calls: dict[str, _Function] = field(default_factory=dict)

    @property
    def width(self) -> float:
        return self.first + self.second


@dataclass(frozen=True)
class Frame:
    """A rectangle: left edge and width as shares of the whole, row from the bottom, its text, its tooltip."""

    left: float
    width: float
    row: int
    name: str
    said: str
    color: str


def read_folded(path: Path) -> dict[str, float]:
    """Read a `.folded` file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return {stack: float(us) for stack, _, us in (line.rpartition(" ") for line in lines) if stack}


def flame_graph(stacks: Stacks, title: str, waiting: bool = False) -> str:
    """Return the SVG of one process. waiting: its times are waits, and not work."""
    root = _tree({}, stacks)

    def describe(function: _Function) -> str:
        return f"{function.second / 1e6:,.3f} s, {function.second / root.second:.1%}"

    return _svg(title, _frames(root, describe, lambda name, _: _color(name, waiting)))


def differential(first: Stacks, second: Stacks, title: str, unit: str = "µs per transaction") -> str:
    """Return the SVG of two processes, whose times must be in one `unit`."""

    def describe(function: _Function) -> str:
        return f"{function.first:,.3g} → {function.second:,.3g} {unit}"

    return _svg(title, _frames(_tree(first, second), describe, lambda _, function: _change_color(function)))


def _tree(first: Stacks, second: Stacks) -> _Function:
    root = _Function(sum(first.values()), sum(second.values()))
    for which, stacks in (("first", first), ("second", second)):
        for stack, us in stacks.items():
            function = root
            for name in stack.split(";"):
                function = function.calls.setdefault(name, _Function())
                setattr(function, which, getattr(function, which) + us)
    return root


def _frames(
    root: _Function, describe: Callable[[_Function], str], color: Callable[[str, _Function], str]
) -> list[Frame]:
    def below(function: _Function, name: str, left: float, row: int) -> Iterator[Frame]:
        width = function.width / root.width
        if width < NARROWEST:
            return
        yield Frame(
            left, width, row, name.removesuffix(_KERNEL), f"{name}: {describe(function)}", color(name, function)
        )
        for called, callee in sorted(function.calls.items()):
            yield from below(callee, called, left, row + 1)
            left += callee.width / root.width

    return list(below(root, "all", 0.0, 0)) if root.width else []


def _color(name: str, waiting: bool) -> str:
    """Return a name's colour, always the same: warm for work, cold for waits, another hue for the kernel."""
    spread = crc32(name.encode()) % 20
    hue = (205 if waiting else 40) + spread - (25 if name.endswith(_KERNEL) else 0)
    return f"hsl({hue} 75% {70 + spread % 7}%)"


def _change_color(function: _Function) -> str:
    change = (function.second - function.first) / function.width
    return f"hsl({10 if change > 0 else 215} 85% {95 - 35 * abs(change):.0f}%)"


def _svg(title: str, frames: list[Frame]) -> str:
    rows = 1 + max((frame.row for frame in frames), default=0)
    template = templates().get_template("flame_graph.svg.j2")
    return template.render(title=title, frames=frames, rows=rows, row_px=ROW_PX)


def draw_profiles(run_folder: Path) -> list[Path]:
    """Draw every trial's stacks beside them, and their difference to the run's first system under the same load.

    Returns the files. Raises UserError if a file cannot be understood.
    """
    drawn = []
    firsts: dict[str, Profiled] = {}
    for folder in sorted(run_folder.glob("trials/*/profile")):
        if not is_profiled(folder):
            continue
        profiled = Profiled(folder)
        for kind, stacks in profiled.stacks.items():
            what = f"{profiled.label}, {profiled.load}: {_words(kind)}"
            drawn.append(_draw(folder / f"{kind}.svg", flame_graph(stacks, what, "off-cpu" in kind)))
        first = firsts.setdefault(profiled.load, profiled)
        if first.label != profiled.label and first.rate_per_s and profiled.rate_per_s:
            drawn += _draw_against(first, profiled)
    return drawn


class Profiled:
    """A profiled trial: its label, its load in words, its stacks by kind, and the transactions/s during the profile."""

    def __init__(self, folder: Path) -> None:
        facts, profile = TrialFacts.read(read_object(folder.parent / "trial.json")), read_profile(folder)
        self.folder, self.trial, self.label = folder, folder.parent.name, str(facts.label)
        rate = f", {facts.rate['words']}" if facts.rate else ""
        pipeline = f", pipeline {facts.pipeline}" if facts.pipeline > 1 else ""
        away = f", {facts.network_delay_us:,} µs away" if facts.network_delay_us else ""
        repeat = f", repetition {facts.repeat}" if (facts.repeat or 1) > 1 else ""
        self.load = f"{facts.workload}, {facts.clients} clients{rate}{pipeline}{away}{repeat}"
        self.rate_per_s, self.seconds = profile["transactions_per_s"], profile["seconds"]
        self.stacks = {path.stem: read_folded(path) for path in sorted(folder.glob("*.folded"))}

    def per_transaction(self, kind: str) -> dict[str, float]:
        """Return the µs per transaction in each stack; the profile must have seen a transaction."""
        transactions = (self.rate_per_s or 0.0) * self.seconds
        return {stack: us / transactions for stack, us in self.stacks[kind].items()}


def _draw_against(first: Profiled, second: Profiled) -> Iterator[Path]:
    for kind in first.stacks.keys() & second.stacks.keys():
        title = f"{second.label} against {first.label}, {second.load}: {_words(kind)}, red is more in {second.label}"
        image = differential(first.per_transaction(kind), second.per_transaction(kind), title)
        yield _draw(second.folder / f"{kind}-against-{first.trial}.svg", image)


def _draw(path: Path, svg: str) -> Path:
    write_whole(path, svg)
    return path


def _words(kind: str) -> str:
    process, _, way = kind.removesuffix("-cpu").rpartition("-")
    return f"{process}, {'running' if way == 'on' else 'waiting'}"
