"""The dask scheduler of a run, which workers join. It is imported only if an experiment has hosts."""

from typing import Any

from distributed import Scheduler

from dbdyno.hosts.settings import WORKER_TTL_S

_DASK_WAITS_FOR = 10
"""Heartbeats at dask's own interval after which it gives a worker up, if that is longer than its `worker-ttl`."""
_HEARTBEATS = 3
"""Heartbeats of a worker in that time. By default there are up to 20, and they were most of the conductor's work. A
trial has its own beat, so they are only about a host that freezes between two trials."""


class RunScheduler(Scheduler):
    """A scheduler that hears of its workers no more often than a run needs."""

    def heartbeat_worker(self, **about: Any) -> dict[str, Any]:
        """Take the heartbeat of a worker, and tell it in how many seconds to send the next."""
        answer: dict[str, Any] = super().heartbeat_worker(**about)
        if answer["status"] != "OK":
            return answer
        given_up_s = max(WORKER_TTL_S, _DASK_WAITS_FOR * answer["heartbeat-interval"])
        return answer | {"heartbeat-interval": given_up_s / _HEARTBEATS}
