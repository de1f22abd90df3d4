"""Decide whether the client limited a trial, from records and observations (docs/statistics.md, section 5.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dbdyno.results.client_limit import client_limited, threads_by_host

if TYPE_CHECKING:
    from dbdyno.results.model import Trial

WAITING_LOAD_THREADS = 0.05
"""Share of the time that a load thread may wait for a processor (docs/statistics.md, section 5)."""
WORKING_LOAD_THREADS = 0.5
"""Share of the time that load threads must work or wait for a processor before the wait counts: those that sleep longer
delay hardly any answer."""
THROTTLED = 0.05
"""Share of the time that a quota throttles a control group."""
FREE_PROCESSORS = 0.1
"""With less than this share of the host's processors idle, whoever waits for one waits for everybody else too."""
_HOST_CPU = tuple(f"host.cpu_{state}_s_total" for state in ("user", "system", "iowait", "steal", "idle"))


def signs_of_client(trial: Trial, others_fill_host: bool = False) -> tuple[str, ...]:
    """Return the signs that the load client limited the store; none if it did not.

    To what the load client recorded itself (dbdyno.results.client_limit) comes that it waited for a processor. Send lag
    is no sign: a client sends its next transaction when its last one has ended, so a late one tells of the store first.

    Args:
        others_fill_host: processes outside the trial do, so the client waits for these, wherever it is pinned.
    """
    recorded = client_limited(trial.recorded, trial.facts, trial.embedded)
    observed: tuple[str | None, ...] = ()
    if not trial.embedded and not trial.recorded.followed:
        observed = (_held_back(trial), None if others_fill_host else _waiting(trial))
    return tuple(sign for sign in (recorded, *observed) if sign)


def load_threads(trial: Trial) -> int | None:
    """Return how many load threads there were; `None` if the load client did not say."""
    hello = trial.recorded.hello
    return (hello.get("threads") or None) if hello else None


def free_processors(trial: Trial) -> float | None:
    """Return which share of the host's processors was idle while it was measured; `None` if that was not seen."""
    window, observations = trial.recorded.window_unix_s, trial.observations
    if window is None or observations is None:
        return None
    rates = [observations.mean_rate(name, *window) or 0.0 for name in _HOST_CPU]
    return (rates[-1] + rates[2]) / sum(rates) if sum(rates) else None


def run_queue_threads(trial: Trial, processes: Sequence[str]) -> float | None:
    """Return how many threads of `processes` waited for a processor, on average; `None` if none was observed."""
    window, observations = trial.recorded.window_unix_s, trial.observations
    if window is None or observations is None:
        return None
    rates = [observations.mean_rate(f"process.{name}.run_queue_s_total", *window) for name in processes]
    known = [rate for rate in rates if rate is not None]
    return sum(known) if known else None


def _held_back(trial: Trial) -> str | None:
    """Return how long a processor quota held it back, in words; `None` if none did."""
    window, observations = trial.recorded.window_unix_s, trial.observations
    held_back = observations.mean_rate("cgroup.client.throttled_s_total", *window) if window and observations else None
    if held_back is None or held_back < THROTTLED:
        return None
    return f"a CPU quota throttled it for {held_back:.2f} s in every second"


def _waiting(trial: Trial) -> str | None:
    """Return that its load threads waited for a processor, if not only because the server had them all.

    Client and server of one host compete for its processors, and both wait if they are all busy: then the time
    budget says who waits more. By this sign alone every saturated server on two processors would be client-limited.
    """
    waited = _waited_at_work(trial)
    if not waited:
        return None
    apart = are_apart(trial)
    free = free_processors(trial)
    # Processors that were idle while the store stalled were of no use to the client.
    stalled = trial.recorded.stalls.share if trial.recorded.stalls else 0.0
    if not apart and (free is None or free - stalled < FREE_PROCESSORS):
        return None
    server_queue = run_queue_threads(trial, trial.server_names) or 0.0
    if not apart and server_queue >= (run_queue_threads(trial, ("client",)) or 0.0):
        return None
    return waited


def are_apart(trial: Trial) -> bool:
    """Return whether clients and servers share no processor: on different hosts, or pinned to different ones."""
    if trial.facts.hosts:
        servers = {host.get("machine") for host in trial.facts.server_hosts}
        return not servers & {host.get("machine") for host in trial.facts.client_hosts}
    client, server = (set(cpus or ()) for cpus in (trial.facts.client_cpus, trial.facts.server_cpus))
    return bool(client and server and not client & server)


def _waited_at_work(trial: Trial) -> str | None:
    """Return that a load thread which works or waits most of the time waited too long; that of all if no more is known.

    Each thread has clients of its own: the mean over four hides one that waits half of the time.
    """
    if by_host := threads_by_host(trial.recorded, trial.facts):
        every = [_late_threads(f"on {host['name']}", threads) for host, threads in by_host]
        return " and ".join(filter(None, every)) or None
    known = [(thread.cpu_share, thread.run_queue_share) for thread in trial.recorded.load_threads]
    threads, observed = load_threads(trial), run_queue_threads(trial, ("client",))
    if not any(waiting is not None for _, waiting in known) and threads and observed is not None:
        working = sum(interval.client_cpu_s for interval in trial.recorded.measured) / trial.recorded.seconds
        known = [(working / threads, observed / threads)]
    return _late_threads("", known)


def _late_threads(where: str, known: Sequence[tuple[float, float | None]]) -> str | None:
    """Return that load threads waited too long for a processor, of those that worked and waited so; else `None`."""
    at_work = [
        waiting
        for working, waiting in known
        if waiting is not None and waiting > WAITING_LOAD_THREADS and working + waiting >= WORKING_LOAD_THREADS
    ]
    if not at_work:
        return None
    whose = f"the load threads {where}" if where else "its load threads"
    who = f"one of {whose}" if len(at_work) < len(known) else whose
    return f"{who} waited for a processor {min(1.0, max(at_work)):.0%} of the time"
