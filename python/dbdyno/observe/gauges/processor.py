"""The processor over time: how fast a fixed loop runs in each tenth of a second, and what the hypervisor took."""

import time
from itertools import pairwise
from typing import Any

import numpy as np
import psutil

from dbdyno.results.environment import MeasuredProcessor

SLOT_S = 0.1
STEPS = 2_000
"""Steps of one turn of the loop, about a tenth of a millisecond: a slot ends within that."""


def _turn() -> None:
    """Run STEPS steps of a linear congruential generator: branches and loads of an interpreter, as servers have."""
    state = 1
    for _ in range(STEPS):
        state = (state * 1_103_515_245 + 12_345) & 0x7FFFFFFF


def measure_processor(seconds: float) -> MeasuredProcessor:
    """Run the loop on one thread for `seconds`, at least one slot.

    Returns `steps_per_s`, `median` and `slowest` of the slots. `cpu_share`: the part of the time in which this thread
    had a processor. `steps_per_cpu_s`: its speed in that time, which falls with the clock and not with the neighbours.
    `steal_share`: of all processors' time. `slots` and `steal_slots`: the speed and that share in each slot. The kernel
    counts in hundredths of a second, so the share of one slot is coarse.
    """
    seen, slots = [psutil.cpu_times()], []
    began, cpu_began = time.perf_counter(), time.thread_time()
    for _ in range(max(1, round(seconds / SLOT_S))):
        slots.append(_slot())
        seen.append(psutil.cpu_times())
    took_s, cpu_s = time.perf_counter() - began, time.thread_time() - cpu_began
    mean = sum(slots) / len(slots)
    return {
        "steps_per_s": {"median": round(float(np.median(slots))), "slowest": round(min(slots))},
        "steps_per_cpu_s": round(mean * took_s / cpu_s) if cpu_s else None,
        "cpu_share": round(min(1.0, cpu_s / took_s), 3),
        "steal_share": _stolen(seen[0], seen[-1]),
        "slot_s": SLOT_S,
        "slots": [round(slot) for slot in slots],
        "steal_slots": [_stolen(earlier, later) for earlier, later in pairwise(seen)],
    }


def _stolen(before: Any, after: Any) -> float:
    """Return which share of all processors' time between two looks at `psutil.cpu_times` the hypervisor took."""
    total_s = sum(after) - sum(before)
    stolen_s = getattr(after, "steal", 0.0) - getattr(before, "steal", 0.0)
    return round(max(0.0, stolen_s / total_s), 4) if total_s > 0 else 0.0


def _slot() -> float:
    """Return the steps per second of one slot."""
    turns, began = 0, time.perf_counter()
    while (took_s := time.perf_counter() - began) < SLOT_S:
        _turn()
        turns += 1
    return turns * STEPS / took_s
