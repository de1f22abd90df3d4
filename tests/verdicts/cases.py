"""The cases: what is done, to what, and what the verdict must be."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from dbdyno.systems.running.cgroup import cpu_limit

from .causes import client_limited, far_away, nothing, permitted, server_limited, slow_disk, stalling

SMALL_POOL = "mariadb?innodb_buffer_pool_size=6M&innodb_flush_method=O_DIRECT"
# Its background writer is off, and no checkpoint comes so soon. Past the kernel's cache, which no limit would slow.
UNCLEANED = (
    "postgresql@18?shared_buffers=2MB&bgwriter_lru_maxpages=0&synchronous_commit=off"
    "&debug_io_direct=data&io_method=sync&autovacuum=off"
)


@dataclass(frozen=True)
class Case:
    """One cause.

    what: it, for a person. limit: what the verdict must be. system: what is measured, or is the far end of a way to it.
    cause: what does it, made when the case is run. keys: of the experiment. quick: short enough for every test run.
    says: what must stand in the sentence. confirmed: throughput must follow what is taken away of the limit.
    """

    name: str
    what: str
    limit: str
    cause: Callable[[], AbstractContextManager]
    system: str = "mariadb"
    keys: dict[str, Any] = field(default_factory=dict)
    quick: bool = False
    says: str = ""
    confirmed: bool = False


CASES = (
    Case(
        "server-cpu",
        "server held to 0.5 processors by a control group, 16 clients read",
        "server-cpu",
        lambda: server_limited(cpu_limit(0.5)),
        says="quota",
    ),
    Case(
        "disk",
        "device held to 300 reads/s, buffer pool a fraction of the data, 16 clients read",
        "disk",
        lambda: server_limited(slow_disk(read_iops=300)),
        SMALL_POOL,
        {"rows": 100_000, "operation_timeout_seconds": 60},
    ),
    Case(
        "disk-writers",
        "device held to 600 reads/s, buffers that nobody else cleans, 16 clients update random rows (PostgreSQL)",
        "disk",
        lambda: server_limited(slow_disk(read_iops=600)),
        UNCLEANED,
        {"workload": "point-update", "rows": 40_000, "operation_timeout_seconds": 60},
        says="by what works for clients: too few of its buffers were clean",
    ),
    Case(
        "commit",
        "device held to 40 writes/s, log flushed at every commit, 8 clients update random rows",
        "commit",
        lambda: server_limited(slow_disk(write_iops=40)),
        "mariadb?innodb_flush_log_at_trx_commit=1",
        {"workload": "point-update", "rows": 20_000, "clients": 8},
    ),
    Case(
        "commit-confirmed",
        "log flushed at every commit, 8 clients update random rows, then with a fifth less of the writes they caused",
        "commit",
        lambda: permitted(slow_disk(write_iops=1e9)),
        "mariadb?innodb_flush_log_at_trx_commit=1",
        {"workload": "point-update", "clients": 8, "confirm_limit": True},
        says="taken away",
        confirmed=True,
    ),
    Case(
        "lock",
        "64 clients update one and the same row, log not flushed at commit",
        "lock",
        nothing,
        "mariadb?innodb_flush_log_at_trx_commit=0",
        {"workload": "point-update", "rows": 1, "clients": 64},
    ),
    Case(
        "embedded-lock",
        "8 clients update random rows of LMDB, which has one writer at a time, nothing flushed",
        "lock",
        nothing,
        "lmdb?sync=none",
        {"workload": "point-update", "clients": 8},
    ),
    Case(
        "embedded-commit",
        "device held to 40 writes/s, every update flushed, 8 clients update random rows of Tokyo Cabinet",
        "commit",
        lambda: client_limited(slow_disk(write_iops=40)),
        "tokyocabinet",
        {"workload": "point-update", "clients": 8, "operation_timeout_seconds": 60},
    ),
    Case(
        "client",
        "load client held to 0.2 processors by a control group, 16 clients read",
        "client",
        lambda: client_limited(cpu_limit(0.2)),
    ),
    Case(
        "network",
        "a way of 20 ms in either direction between client and server, 16 clients read",
        "network",
        lambda: far_away("mariadb", 20),
        keys={"seconds": 3},
        quick=True,
    ),
    Case(
        "stall",
        "server stopped for 2 of every 10 s (SIGSTOP), 16 clients read",
        "unexplained",
        lambda: stalling(2, 10),
        keys={"seconds": 20},
        says="it stood all but still",
    ),
    Case(
        "rate",
        "500 transactions a second are asked for, and done",
        "rate",
        nothing,
        keys={"rate": 500, "seconds": 3},
        quick=True,
    ),
    Case(
        "unknowable",
        "the same way of 20 ms before a server that does not show where its clients' requests are",
        "unexplained",
        lambda: far_away("redis", 20),
        "redis",
        keys={"seconds": 3},
    ),
)
