"""The scenes of random kills: a store, an experiment on it, and what makes the run do more than a plain one."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass

from dbdyno.experiment.system_spec import parse_system
from dbdyno.systems import SYSTEMS, missing
from dbdyno.systems.running import volume

SMALL = ("--rows", "500", "--seconds", "1", "--warmup", "0")
CLIENTS = ("--clients", "2")
WITHOUT_CLIENTS = "dump-restore"
"""Its load is the store's own tools."""
QUICK = ("--set", "host=false", "--set", "operation_timeout_seconds=2")
POWER_CUT = ("--set", 'options.crash=["power-cut"]')


@dataclass(frozen=True)
class Scene:
    """One run that is disturbed. as_root: it takes root. program: beside the store it takes that one."""

    group: str
    store: str
    experiment: str
    options: tuple[str, ...] = ()
    as_root: bool = False
    program: str = ""

    @property
    def embedded(self) -> bool:
        """Return whether the store runs in the load client, and so has no server."""
        return SYSTEMS[parse_system(self.store).product].embedded

    @property
    def command(self) -> list[str]:
        """The words behind `dbdyno`."""
        clients = () if self.experiment == WITHOUT_CLIENTS else CLIENTS
        return ["run", self.experiment, "--system", self.store, *SMALL, *clients, *QUICK, *self.options]

    def lacks(self) -> str | None:
        """Return why it cannot be run here, or None."""
        if reason := missing(parse_system(self.store)):
            return reason
        if self.as_root and os.geteuid() != 0:
            return "it takes root"
        if POWER_CUT[1] in self.options and (reason := volume.missing()):
            return reason
        return f"{self.program} is not installed" if self.program and not shutil.which(self.program) else None


LIMITED = ("--set", "memory_limit=512M")
TWICE = ("--repeat", "2")
RESTARTED = ("--set", "restart=lukewarm")
ONE_DUMP = ("--set", "options.tool=sql", "--set", "options.workers=1", "--set", "options.tables=2")
SYSBENCH = ("--set", 'workload="sysbench?script=oltp_read_write"')
"""Its load client has a process of its own, which is sysbench."""
EVENT = ("--seconds", "5", "--set", 'events=[{ at = 3, command = "exec sleep 600", if_fails = "warn" }]')
"""The command runs until the trial ends; it has no children, which nobody knows if all guards are killed."""
SCENES = (
    Scene("mariadb", "mariadb", "point-get"),
    Scene("mariadb", "mariadb", "game", TWICE),
    Scene("mariadb", "mariadb", "point-update", LIMITED, as_root=True),
    Scene("mariadb", "mariadb", WITHOUT_CLIENTS, ONE_DUMP, program="mariadb-dump"),
    Scene("mariadb", "mariadb", "sysbench", SYSBENCH, program="sysbench"),
    Scene("postgresql", "postgresql", "point-get"),
    Scene("postgresql", "postgresql", "point-update", RESTARTED),
    Scene("postgresql", "postgresql", "point-get", ("--confirm-limit",)),
    Scene("redis", "redis", "point-get"),
    Scene("redis", "redis?appendonly=yes", "durability"),
    Scene("redis", "redis", "point-get", ("--profile",), program="perf"),
    Scene("redis", "redis", "point-get", ("--set", "client=redis-py")),
    Scene("redis", "redis", "point-get", EVENT),
    Scene("memcached", "memcached", "point-get", TWICE),
    Scene("memcached", "memcached", "game"),
    Scene("sqlite", "sqlite", "point-get"),
    Scene("sqlite", "sqlite", "durability", POWER_CUT, as_root=True),
    Scene("rocksdb", "rocksdb", "point-get", RESTARTED),
    Scene("rocksdb", "rocksdb", "durability"),
    Scene("cache-aside", "cache-aside(memcached,mariadb)", "game"),
)
