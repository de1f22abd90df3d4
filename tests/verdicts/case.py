"""A case: a cause that is injected into a load, and the limits that the verdict on it may name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from dbdyno.experiment.model import Experiment

from .stage import Cause

CLIENT, NETWORK, SERVER_CPU, DISK, LOCK, COMMIT = "client", "network", "server-cpu", "disk", "lock", "commit"
RATE, UNEXPLAINED = "rate", "unexplained"
HOST_CPU, SERVER_THREAD, SERVER_QUEUE, NEIGHBOUR = "host-cpu", "server-thread", "server-queue", "neighbour"
MEMORY, CHECKPOINT, COMPACTION, STALLS = "memory", "checkpoint", "compaction", "stalls"
REPLICATION, OLD_VERSIONS, VACUUM, CONNECTIONS = "replication", "old-versions", "vacuum", "connections"

LEAST = {"workload": "point-get", "rows": 20_000, "clients": 16, "seconds": 6, "warmup_seconds": 1, "host": False}
"""The keys of every experiment that gives no others."""


class Variant(Enum):
    """How client and server share the processors."""

    PINNED = "pinned"
    UNPINNED = "unpinned"

    @property
    def cpus(self) -> dict[str, list[int]]:
        """The processors of either side, as an experiment has them; empty: any."""
        return {"client": [0], "server": [1]} if self is Variant.PINNED else {}


@dataclass(frozen=True, eq=False)
class Load:
    """A load that nothing is done to: the control of the cases that add a cause to it.

    limits: what its verdict may name; any other limit blames a resource that nobody touched. unpinned: these too if
    client and server share the processors. attached: dbdyno attaches to the server as to somebody else's.
    variants: how it is run; an embedded store has no server to pin.
    """

    name: str
    system: str
    limits: frozenset[str]
    unpinned: frozenset[str] = frozenset()
    keys: Mapping[str, Any] = field(default_factory=dict)
    attached: bool = False
    variants: tuple[Variant, ...] = tuple(Variant)

    @property
    def ways(self) -> tuple[Variant, ...]:
        """How it is run."""
        return self.variants


@dataclass(frozen=True, eq=False)
class Case:
    """One cause.

    what: the cause, in a sentence for a person. load: its control. limits: what the verdict may name; unpinned: these
    too if client and server share the processors. causes: what is done, in this order. system, keys: of the
    experiment, if the cause is a setting. attached: as in `Load`, if it differs. says: what the sentence must hold.
    held_out: True if no verdict rule was written with this case, so that it only checks them.
    quick: short enough for every test run. variants: how it is run, if that differs from its load.
    """

    name: str
    what: str
    load: Load
    limits: frozenset[str]
    causes: tuple[Cause, ...] = ()
    unpinned: frozenset[str] = frozenset()
    system: str = ""
    keys: Mapping[str, Any] = field(default_factory=dict)
    attached: bool | None = None
    says: str = ""
    held_out: bool = False
    quick: bool = False
    variants: tuple[Variant, ...] = ()

    @property
    def ways(self) -> tuple[Variant, ...]:
        """How it is run: as its load is, unless it says otherwise."""
        return self.variants or self.load.variants


def accepted(scenario: Load | Case, variant: Variant) -> frozenset[str]:
    """Return the limits that the verdict may name."""
    return scenario.limits | scenario.unpinned if variant is Variant.UNPINNED else scenario.limits


def system_of(scenario: Load | Case) -> str:
    """Return the system, as an experiment names it."""
    return scenario.system or scenario.load.system if isinstance(scenario, Case) else scenario.system


def is_attached(scenario: Load | Case) -> bool:
    """Return whether dbdyno attaches to its server as to somebody else's."""
    if isinstance(scenario, Load):
        return scenario.attached
    return scenario.load.attached if scenario.attached is None else scenario.attached


def causes_of(scenario: Load | Case) -> tuple[Callable, ...]:
    """Return what is done to it; nothing to a load alone."""
    return scenario.causes if isinstance(scenario, Case) else ()


def keys_of(scenario: Load | Case) -> dict[str, Any]:
    """Return the keys of its experiment, but for the system and the processors."""
    if isinstance(scenario, Case):
        return keys_of(scenario.load) | dict(scenario.keys)
    return LEAST | dict(scenario.keys)


def experiment_of(scenario: Load | Case, variant: Variant, system: str) -> Experiment:
    """Return its experiment on `system`. Whoever starts a server that is attached to also pins it."""
    cpus = variant.cpus
    if is_attached(scenario) or "server" not in cpus:
        cpus = {side: numbers for side, numbers in cpus.items() if side == "client"}
    return Experiment.model_validate(keys_of(scenario) | {"system": system, "cpus": cpus})
