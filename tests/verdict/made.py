"""Trials made up for tests of verdicts: a second of warm-up, ten measured ones, and what was observed in them."""

import numpy as np

from dbdyno.results.model import Interval, Recorded, Sums, Trial
from dbdyno.results.samples import Observations
from dbdyno.stats.histogram import Histogram
from dbdyno.stats.steady_state import steady_state

BEGAN_UNIX_S = 1000.0
SECONDS = 11
IDLE_HOST = {"user": 0.3, "system": 0.1, "iowait": 0.0, "steal": 0.0, "idle": 1.6}
BUSY_HOST = {"user": 1.7, "system": 0.28, "iowait": 0.0, "steal": 0.0, "idle": 0.02}


class MadeTrial(Trial):
    """A trial whose observations are given instead of read."""

    observations = None


def host(states):
    """Columns of a host's processors, in threads in each state."""
    return {f"host.cpu_{state}_s_total": value for state, value in states.items()}


def waits(server="mariadb", **states):
    """Columns of where a server's threads are; a state that is not given has none."""
    names = ("cpu", "cpu_wait", "disk", "lock", "commit", "client", "other")
    return {f"waits.{server}.{state}": states.get(state, 0.0) for state in names}


def process(name, cpu=0.0, queue=0.0, io=0.0):
    """Columns of what the kernel counts of a process."""
    counted = {"cpu_user_s": cpu, "cpu_system_s": 0.0, "run_queue_s": queue, "io_delay_s": io}
    return {f"process.{name}.{what}_total": value for what, value in counted.items()}


def queue(server="mariadb", requests=0.0, answers=0.0, in_transit=0.0, whole=16.0):
    """Columns of what is queued in the sockets of a server's connections, both ends of `whole` of them seen."""
    seen = {"unread_requests": requests, "unread_answers": answers, "requests_in_transit": in_transit}
    seen |= {"answers_in_transit": 0.0, "whole_connections": whole}
    return {f"queue.{server}.{name}": value for name, value in seen.items()}


def thread(name, cpu, run_queue=0.0, server="redis"):
    """Columns of the busiest thread of a name."""
    seen = {"busiest_cpu": cpu, "busiest_run_queue": run_queue, "cores": cpu}
    return {f"threads.{server}.{name}.{what}": value for what, value in seen.items()}


def observed(columns):
    """Samples in the middle of each second, the first before the run; each column's value holds all the time, or is
    given for each sample. A name that ends in `_total` is counted up."""
    at = BEGAN_UNIX_S - 0.5 + np.arange(SECONDS + 2)
    values = {name: np.broadcast_to(np.asarray(value, float), at.shape) for name, value in columns.items()}
    return Observations(
        at,
        {name: np.cumsum(samples) if name.endswith("_total") else samples.copy() for name, samples in values.items()},
    )


def trial(columns=None, clients=16, completed=1000, cpu_s=0.1, offered=None, threads=(), **about):
    """Make a trial of one server; `completed`: of each second, or one for all; `threads`: what each load thread used
    and waited in every second, where the load client says."""
    used, waited = zip(*threads, strict=True) if threads else ((), ())
    counts = np.broadcast_to(np.asarray(completed), (SECONDS,))
    intervals = tuple(
        Interval(
            *(second, second == 0, 1.0, clients, int(count), 0, None, None, None, None, 0, {}, 0, 0, cpu_s, {}),
            scheduled=offered,
            thread_cpu_s=used,
            thread_run_queue_s=waited,
            service_s=float(clients) if offered is None else count * 0.004,
        )
        for second, count in enumerate(counts)
    )
    empty = Histogram.merged([])
    recorded = Recorded(
        {"threads": len(threads) or 2},
        intervals,
        empty,
        (),
        (),
        (),
        (),
        BEGAN_UNIX_S,
        Sums(completed=int(counts.sum()), operations={"get": (int(counts.sum()), 0)}),
        None,
        None,
        steady=steady_state(counts[1:].astype(float)),
        cut=False,
    )
    known = {"clients": clients, "servers": [{"name": "mariadb"}], "system": "mariadb", **about}
    made = MadeTrial("001", "complete", None, known, recorded, (), ())
    object.__setattr__(made, "observations", None if columns is None else observed(columns))
    return made
