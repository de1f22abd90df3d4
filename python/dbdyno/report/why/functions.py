"""Functions that a transaction spends more time in, from recorded stacks (docs/profiling.md)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from dbdyno.report.core import words
from dbdyno.report.flame_graph import Profiled
from dbdyno.report.why.evidence import BY_THE_CLOCK, LEAST_SHARE, Evidence, Pairs
from dbdyno.results.model import Trial
from dbdyno.results.profile import is_profiled

KERNEL = "_[k]"
CLIENT_WAITS = "client-off-cpu"
"""The kind of stacks in which the load client waits."""
_WAYS = {"on": "running", "off": "waiting"}


def functions(pairs: Pairs) -> list[Evidence]:
    """Return the functions whose own time per transaction rose or fell with the transaction's; none without stacks.

    The kernel's time counts for its caller: the function that waits for the disk is named, not the scheduler.
    """
    if not pairs.time_us:
        return []
    sides = [_profiles(pairs.side(which)) for which in (0, 1)]
    kinds = sorted(set.intersection(*({kind for profile in side for kind in profile.stacks} for side in sides)))
    if not all(trial.embedded for pair in pairs.trials for trial in pair):
        # A client waits for its server: why the server takes longer, the server's own stacks tell.
        kinds = [kind for kind in kinds if kind != CLIENT_WAITS]
    changes = [evidence for kind in kinds for evidence in _changes(kind, sides, pairs)]
    return sorted(changes, key=lambda evidence: -(evidence.share or 0.0))


def _changes(kind: str, sides: list[list[Profiled]], pairs: Pairs) -> Iterator[Evidence]:
    """Yield what changed in one kind of stacks, of one process."""
    process, _, way = kind.removesuffix("-cpu").rpartition("-")
    factor = pairs.queue_factor(process) if way == "on" else 1.0
    own_us = [_own_us(side, kind) for side in sides]
    rates = [sum(profile.rate_per_s or 0.0 for profile in side) / len(side) for side in sides]
    for name in own_us[0].keys() | own_us[1].keys():
        before, after = (side[name] for side in own_us)
        share = (after - before) * factor / pairs.time_us
        by_second = after * rates[1] - before * rates[0]
        # A thread that waits all the time for work waits longer per transaction if there are fewer transactions.
        if share >= LEAST_SHARE and by_second > BY_THE_CLOCK * (after - before) * rates[1]:
            described = f"{name}, {_WAYS[way]} ({process})"
            times = words.length(before), words.length(after)
            yield Evidence("function", described, *times, min(1.0, share), _graph(sides, kind))


def _profiles(trials: Iterable[Trial]) -> list[Profiled]:
    folders = [trial.folder / "profile" for trial in trials if trial.folder]
    profiles = [Profiled(folder) for folder in folders if is_profiled(folder)]
    return [profile for profile in profiles if profile.rate_per_s]


def _own_us(profiles: list[Profiled], kind: str) -> defaultdict[str, float]:
    """Return the time of a transaction in each function itself, kernel included; the mean of all trials."""
    own_us: defaultdict[str, float] = defaultdict(float)
    having = [profile for profile in profiles if kind in profile.stacks]
    for profile in having:
        for stack, us in profile.per_transaction(kind).items():
            own = [name for name in stack.split(";") if not name.endswith(KERNEL)]
            own_us[own[-1] if own else stack.split(";")[0]] += us / len(having)
    return own_us


def _graph(sides: list[list[Profiled]], kind: str) -> str:
    """Return the path of the flame graph that shows the difference, if it was drawn."""
    files = [after.folder / f"{kind}-against-{before.trial}.svg" for before in sides[0] for after in sides[1]]
    drawn = [file for file in files if file.exists()]
    return f"flame graph: {drawn[0]}" if drawn else ""
