"""The conclusions on a trial (`verdict.json`, docs/run-folder.md), typed: read here, and written from here.

Readers use attributes, not keys. A file that lacks what it must have, or has it of another kind, is refused when it is
read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dbdyno.contract import JsonObject

VERDICT_FORMAT = 6
"""The format of `verdict.json`: conclusions of another format are left aside and drawn anew."""


@dataclass(frozen=True, slots=True)
class NextStep:
    """One thing to try: why, and the command, which can be pasted."""

    why: str
    command: str

    @classmethod
    def read(cls, stated: JsonObject) -> NextStep:
        """Return the step that a file states."""
        return cls(str(stated["why"]), str(stated["command"]))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The limit of a trial.

    Attributes:
        limit: its name in the table of limits.
        sentence: limit, evidence and confidence in one sentence.
        evidence: what speaks for the limit, each a few words with figures.
        runner_up: the limit that held the second most, or `None`.
        confidence: `high`, `medium` or `low`.
        next: what to try next.
    """

    limit: str
    sentence: str
    evidence: tuple[str, ...]
    runner_up: str | None
    confidence: str
    next: tuple[NextStep, ...] = ()

    @classmethod
    def read(cls, stated: JsonObject) -> Verdict:
        """Return the verdict that a file states."""
        runner_up = stated.get("runner_up")
        return cls(
            limit=str(stated["limit"]),
            sentence=str(stated["sentence"]),
            evidence=tuple(map(str, stated["evidence"])),
            runner_up=None if runner_up is None else str(runner_up),
            confidence=str(stated["confidence"]),
            next=tuple(map(NextStep.read, stated.get("next") or ())),
        )

    def document(self) -> dict[str, object]:
        """Return it as JSON has it."""
        return asdict(self) | {"evidence": list(self.evidence), "next": [asdict(step) for step in self.next]}


@dataclass(frozen=True, slots=True)
class Budget:
    """The places where the operations in flight were.

    Attributes:
        in_flight: how many there were, on average over the measured seconds.
        bands: how many of them were in each band, on average over the measured seconds.
        per_second: the same of each second, warm-up included.
        not_seen: bands that at least one server did not show.
    """

    in_flight: float
    bands: Mapping[str, float]
    per_second: Mapping[str, Sequence[float]]
    not_seen: tuple[str, ...] = ()

    @classmethod
    def read(cls, stated: JsonObject) -> Budget:
        """Return the budget that a file states."""
        bands = {str(name): float(value) for name, value in stated["bands"].items()}
        # A run may have a million of these: they stay as they were read.
        per_second = dict(stated["per_second"])
        return cls(float(stated["in_flight"]), bands, per_second, tuple(map(str, stated.get("not_seen") or ())))

    def document(self) -> dict[str, object]:
        """Return it as JSON has it."""
        return {
            "in_flight": self.in_flight,
            "bands": dict(self.bands),
            "per_second": dict(self.per_second),
            "not_seen": list(self.not_seen),
        }


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock that was waited for during the measured seconds.

    Attributes:
        name: the server's own for it.
        latch: it guards what the server has in memory, and neither rows nor tables.
        waiting: how many waited for it on average; `None` if the server only counts how often it was waited for.
        waits_per_s: how often it was waited for; `None` if that is not counted.
    """

    server: str
    name: str
    latch: bool
    waiting: float | None
    waits_per_s: float | None

    @classmethod
    def read(cls, stated: JsonObject) -> Lock:
        """Return the lock that a file states."""
        waiting, waits_per_s = stated["waiting"], stated["waits_per_s"]
        return cls(
            server=str(stated["server"]),
            name=str(stated["name"]),
            latch=bool(stated["latch"]),
            waiting=None if waiting is None else float(waiting),
            waits_per_s=None if waits_per_s is None else float(waits_per_s),
        )

    @property
    def words(self) -> str:
        """Its name and its figures, for a person."""
        waiting = f"{self.waiting:.2g} waiting on average" if self.waiting is not None else ""
        per_s = f"{self.waits_per_s:,.3g} waits/s" if self.waits_per_s is not None else ""
        return f"{self.name}: {', '.join(filter(None, (waiting, per_s)))}"


@dataclass(frozen=True, slots=True)
class Locks:
    """The locks that were waited for; `locks_seen`, `latches_seen`: whether any server shows which ones these are."""

    locks_seen: bool = False
    latches_seen: bool = False
    waited_for: tuple[Lock, ...] = ()

    @classmethod
    def read(cls, stated: JsonObject) -> Locks:
        """Return the locks that a file states."""
        waited_for = tuple(map(Lock.read, stated["waited_for"]))
        return cls(bool(stated["locks_seen"]), bool(stated["latches_seen"]), waited_for)

    def document(self) -> dict[str, object]:
        """Return them as JSON has them."""
        return asdict(self) | {"waited_for": [asdict(lock) for lock in self.waited_for]}


@dataclass(frozen=True, slots=True)
class Conclusions:
    """All that was concluded of a trial.

    Attributes:
        client_limited: the signs that the load client limited the store, or `None` if it did not.
        others_cores: how many processors others used, if that is enough to disturb, else `None`.
        verdict: `None` for a trial that did not run to its end.
        time_budget: `None` if nothing was measured.
        queries: of an analysis, the verdict on each query of which the observations say what limited it.
    """

    client_limited: str | None = None
    others_cores: float | None = None
    verdict: Verdict | None = None
    time_budget: Budget | None = None
    locks: Locks = Locks()
    queries: Mapping[str, Verdict] = field(default_factory=dict)

    @classmethod
    def read(cls, stated: JsonObject) -> Conclusions:
        """Return what a file states; what an older one lacks was not concluded."""
        verdict, budget, locks = (stated.get(key) for key in ("verdict", "time_budget", "locks"))
        client_limited, others_cores = stated.get("client_limited"), stated.get("others_cores")
        return cls(
            client_limited=None if client_limited is None else str(client_limited),
            others_cores=None if others_cores is None else float(others_cores),
            verdict=None if verdict is None else Verdict.read(verdict),
            time_budget=None if budget is None else Budget.read(budget),
            locks=Locks() if locks is None else Locks.read(locks),
            queries={str(name): Verdict.read(said) for name, said in (stated.get("queries") or {}).items()},
        )

    def document(self) -> dict[str, object]:
        """Return them as JSON has them."""
        queries = {name: verdict.document() for name, verdict in self.queries.items()}
        return {
            "format": VERDICT_FORMAT,
            "client_limited": self.client_limited,
            "others_cores": self.others_cores,
            "verdict": self.verdict.document() if self.verdict else None,
            "time_budget": self.time_budget.document() if self.time_budget else None,
            "locks": self.locks.document(),
            **({"queries": queries} if queries else {}),
        }
