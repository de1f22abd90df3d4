"""From what `perf script` prints to folded stacks: outermost function first, `;` between, and µs behind them."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

_HEAD = re.compile(r"^(?P<comm>.+?)\s+\d+/(?P<tid>\d+)\s+(?P<at_s>\d+\.\d+):\s+(?P<period>\d+)\s+(?P<event>[\w-]+)\S*:")
_SWITCH = re.compile(
    r"/(?P<tid>\d+)\s+(?P<at_s>\d+\.\d+): PERF_RECORD_SWITCH\S*\s+(?P<way>IN|OUT)(?P<preempt>\s+preempt)?"
)
PREEMPTED = "(waits for a CPU)"
"""The innermost frame of a thread that was ready and lost its CPU to another: nothing that it called made it wait."""
KERNEL = "_[k]"
"""Suffix of a kernel function's name, as in other tools for folded stacks."""


@dataclass
class Folded:
    """Stacks of one process. on_cpu, off_cpu: µs that each was running, or waiting. samples: their number."""

    on_cpu: Counter[str] = field(default_factory=Counter)
    off_cpu: Counter[str] = field(default_factory=Counter)
    samples: Counter[str] = field(default_factory=Counter)


def fold(lines: Iterable[str], switches_per_sample: int) -> Folded:
    """Fold samples of the processor clock and of every `switches_per_sample`-th context switch.

    A sample of a switch is taken as the thread leaves its CPU; it has waited when the thread is next switched in. One
    that still waits when the recording ends counts up to the last event, so a long wait is cut, never lost.
    """
    folding = _Folding(switches_per_sample)
    block: list[str] = []
    for line in lines:
        if switch := _SWITCH.search(line):
            folding.switch(switch)
        elif line.strip():
            block.append(line)
        elif block:
            if head := _HEAD.match(block[0]):
                folding.sample(head, _stack(head["comm"], block[1:]))
            block = []
    folding.end()
    return folding.folded


class _Folding:
    """The stacks folded so far, and the waiting threads: since when, and in which functions."""

    def __init__(self, switches_per_sample: int) -> None:
        self.folded = Folded()
        self._switches_per_sample = switches_per_sample
        self._waiting: dict[str, tuple[float, list[str]]] = {}
        self._last_s = 0.0

    def switch(self, match: re.Match[str]) -> None:
        """Take a thread's switch, in or out; perf says this one after the sample of the same switch."""
        tid, self._last_s = match["tid"], float(match["at_s"])
        if tid in self._waiting and match["way"] == "IN":
            self._waited(tid)
        elif tid in self._waiting and match["preempt"]:
            self._waiting[tid][1].append(PREEMPTED)

    def sample(self, head: re.Match[str], stack: list[str]) -> None:
        """Take a sample of the clock or of a switch."""
        self._last_s = float(head["at_s"])
        if head["event"] == "cpu-clock":
            self.folded.on_cpu[";".join(stack)] += int(head["period"]) // 1000
            self.folded.samples["on-cpu"] += 1
        else:
            self._waiting[head["tid"]] = (self._last_s, stack)

    def end(self) -> None:
        """Take it that nothing follows."""
        for tid in list(self._waiting):
            self._waited(tid)

    def _waited(self, tid: str) -> None:
        since_s, stack = self._waiting.pop(tid)
        self.folded.off_cpu[";".join(stack)] += round((self._last_s - since_s) * 1e6 * self._switches_per_sample)
        self.folded.samples["off-cpu"] += 1


def _stack(comm: str, frames: list[str]) -> list[str]:
    """Return the thread's name and its functions, outermost first."""
    return [_clean(comm), *(_function(frame) for frame in reversed(frames))]


def _function(frame: str) -> str:
    """Return the name in `  7f01 name(int) (/usr/lib/x.so)`; of a function without one, the file it is in."""
    name, _, path = frame.strip().partition(" ")[2].rpartition(" (")
    file = path.rstrip(")").rsplit("/", 1)[-1]
    if not name or name == "[unknown]":
        return f"[{_clean(file.strip('[]') or 'unknown')}]"
    return _clean(name) + (KERNEL if path.startswith("[") else "")


def _clean(name: str) -> str:
    return name.replace(";", ":")


def unnamed_shares(stacks: Counter[str]) -> dict[str, float]:
    """Return the shares of functions that have no name, by the file they are in, each weighted by its stacks' time."""
    total = sum(stacks.values()) or 1
    unnamed: dict[str, float] = defaultdict(float)
    for stack, us in stacks.items():
        functions = stack.split(";")
        for name in functions:
            if name.startswith("["):
                unnamed[name.strip("[]")] += us / len(functions) / total
    by_share = sorted(unnamed.items(), key=lambda item: item[1], reverse=True)
    return {file: round(share, 3) for file, share in by_share}
