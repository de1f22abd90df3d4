"""The band `waits`: in what state a server's connections or threads that serve clients were, on average.

A store shows its waits as counts at a moment, and so does the kernel; processor time and the wait for a processor the
kernel counts exactly. Together they are the places where an operation in flight can be (docs/statistics.md, section 5).
"""

from collections.abc import Iterable, Mapping

CPU, CPU_WAIT, DISK, LOCK, COMMIT, CLIENT, OTHER = "cpu", "cpu_wait", "disk", "lock", "commit", "client", "other"
STATES = (CPU, CPU_WAIT, DISK, LOCK, COMMIT, CLIENT, OTHER)
_IN_ORDER = (LOCK, COMMIT, DISK, CLIENT)
_OF_THREADS = (COMMIT, DISK, CLIENT, LOCK)

Counts = Mapping[str, float]


def mean_of(samples: Iterable[Counts]) -> dict[str, float]:
    """Return the mean count of each state over some samples; empty if there are none."""
    taken = list(samples)
    states = {state for sample in taken for state in sample}
    return {state: sum(sample.get(state, 0.0) for sample in taken) / len(taken) for state in states}


def combine(waits: Counts, threads: Counts, cpu: float | None, cpu_wait: float | None) -> dict[str, float]:
    """Return the mean number in every state, which add up to as many as there are; empty if nothing is known.

    Exact counts go first: a store that must answer a question has less on the processors just then than else. Then
    locks, commits, disks and clients follow in this order, as far as any are left. The rest is `other`: the store says
    that they work, but they are not on a processor, and no reason is shown. If only the kernel tells, locks come
    last: a thread that has its lock and waits for a processor is still in the same system call.

    Args:
        waits: as the store says; its `cpu` means at work, whether on a processor or not. Empty if it does not say.
        threads: of the server's threads as the kernel says; empty if it does not.
        cpu, cpu_wait: the mean number of threads on a processor, and of those waiting for one; None if not known.
    """
    counts = dict(waits or threads)
    total = sum(counts.values())
    if waits:
        counts[DISK] = max(counts.get(DISK, 0.0), threads.get(DISK, 0.0))
    if not counts:
        return {}
    if cpu is None:
        at_work = max(0.0, total - sum(counts.get(state, 0.0) for state in (*_IN_ORDER, OTHER)))
        return {state: counts.get(state, 0.0) for state in STATES if state != CPU_WAIT} | {CPU: at_work}
    order = _IN_ORDER if waits else _OF_THREADS
    result, left = dict.fromkeys(STATES, 0.0), total
    wanted = [(CPU, cpu), (CPU_WAIT, cpu_wait or 0.0), *((state, counts.get(state, 0.0)) for state in order)]
    for state, amount in wanted:
        result[state] = min(left, amount)
        left -= result[state]
    result[OTHER] = left
    return result
