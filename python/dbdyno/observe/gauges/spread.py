"""How many times were measured, how they spread, and how they went on over the time they were measured in."""

from collections.abc import Sequence

import numpy as np

from dbdyno.results.environment import MeasuredCourse, MeasuredRate, MeasuredTimes

SLOTS = 20
"""Into how many equal parts a gauge's time is divided at most: enough to see a stall, few enough to be kept."""


def spread_us(times_ns: Sequence[int], at_ns: Sequence[int]) -> MeasuredTimes:
    """Return what one time or more in nanoseconds come to, in microseconds.

    at_ns: when each was taken, rising.

    Returns `count`, `p50`, `p99`, `max`, and what `over_time` does.
    """
    times_us = np.asarray(times_ns) / 1000
    p50, p99, highest = (round(float(us), 2) for us in np.percentile(times_us, (50, 99, 100)))
    return {"count": len(times_us), "p50": p50, "p99": p99, "max": highest, **over_time(times_us, at_ns, 2)}


def rate_of(done_ns: Sequence[int], began_ns: int, each: int) -> MeasuredRate:
    """Return the rate of one operation or more, and how it went on.

    done_ns: when each was done, in any order. began_ns: when the first began. each: what one counts.
    """
    done = np.sort(np.asarray(done_ns)) - began_ns
    counts, ends = np.histogram(done, bins=min(SLOTS, len(done)), range=(0, done[-1]))
    slot_s = float(ends[1]) / 1e9
    return {
        "count": len(done),
        "per_s": round(len(done) * each * 1e9 / float(done[-1])),
        "slot_s": float(f"{slot_s:.3g}"),
        "slots": [round(count * each / slot_s) for count in counts.tolist()],
    }


def over_time(
    values: Sequence[float] | np.ndarray, at_ns: Sequence[int], digits: int = 0, lower_is_worse: bool = False
) -> MeasuredCourse:
    """Return how one value or more went on in the time from the first to the last of them.

    Returns `slot_s`, the length of each part of that time; `slots`, the median of each; and `worst`, its highest, or
    its lowest where `lower_is_worse`. A part in which no value was taken has None in both: what was being measured
    lasted longer.
    """
    values, since_ns = np.asarray(values, float), np.asarray(at_ns) - at_ns[0]
    # The last value belongs to the last part, not to one behind it.
    slot_ns = (since_ns[-1] + 1) / min(SLOTS, len(values))
    slot_of_value = (since_ns // slot_ns).astype(int)
    parts = [values[slot_of_value == slot] for slot in range(min(SLOTS, len(values)))]
    extreme = np.min if lower_is_worse else np.max
    return {
        "slot_s": float(f"{slot_ns / 1e9:.3g}"),
        "slots": [_rounded(np.median(part), digits) if part.size else None for part in parts],
        "worst": [_rounded(extreme(part), digits) if part.size else None for part in parts],
    }


def _rounded(value: float, digits: int) -> float:
    return round(float(value), digits) if digits else round(float(value))
