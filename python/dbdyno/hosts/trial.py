"""One trial on several hosts, from the conductor: clocks compared, one start, everybody watched, records collected."""

import asyncio
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dbdyno.contract import PlanDocument, Record
from dbdyno.hosts.channel import BEAT_S, Channel, Lost, Message, connect
from dbdyno.hosts.clocks import Reading, compare, why_unsteady
from dbdyno.hosts.crew import Member
from dbdyno.hosts.slices import Slice
from dbdyno.results.samples import AT
from dbdyno.systems.running.process import describe_exit

LEAD_S = 3.0
"""From the plans to the start: every host starts a load client meanwhile."""
CONNECTS_PER_S = 1000
"""The lead is longer by the time that a host's clients take to connect."""
LATE_S = 0.1
"""A host that begins later than the others by more has missed the common start."""
POLL_S = 0.2


@dataclass
class Part:
    """One host's part of a trial, and what became of it.

    Attributes:
        plan: the plan with this host's slice of the clients; its start is filled in once the clock is known.
        folder: where its records are collected, on the conductor.
        before, after: its clock compared; None if that did not come to be.
        exit_status: of its load client, None as long as it did not end.
        problem: why its part is not whole, in words that begin with what happened; None if it is.
        lost: whether the host itself is gone.
    """

    member: Member
    slice: Slice
    plan: PlanDocument
    folder: Path
    before: Reading | None = None
    after: Reading | None = None
    begun_unix_s: float | None = None
    exit_status: int | None = None
    problem: str | None = None
    lost: bool = False
    channel: Channel | None = field(default=None, repr=False)
    own_clocks: Reading | None = None

    @property
    def name(self) -> str:
        """The host's name."""
        return self.member.name

    @property
    def offset_s(self) -> float:
        """How far its clock is ahead of the conductor's, in seconds."""
        return self.before.offset_s if self.before else 0.0

    def fail(self, reason: str, lost: bool = False) -> None:
        """Take note of the first thing that went wrong."""
        self.lost = self.lost or lost
        if self.problem is None:
            self.problem = reason


@dataclass(frozen=True)
class Watch:
    """The events that the conductor watches for meanwhile.

    death: how a server ended, or None while all run. interrupted: whether a person wants the end.
    on_live: takes what hosts tell of their records, the host's name first.
    on_observed: takes what is observed of a client host, once a second, with the conductor's time; None: nothing is.
    peers: where client hosts measure round trips to, by TCP: the server hosts' addresses by name.
    patience_s: after the start, until a load client that did not end is given up.
    """

    death: Callable[[], str | None]
    interrupted: Callable[[], bool]
    on_live: Callable[[str, Record], None]
    patience_s: float
    on_observed: Callable[[str, dict[str, float]], None] | None = None
    peers: Mapping[str, tuple[str, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Ended:
    """How a trial ended: when it was to begin, on the conductor's clock, and why it was ended before its end."""

    start_unix_s: float | None
    given_up: str | None


def run_parts(parts: Sequence[Part], secrets: list[str], trial: str, context: ssl.SSLContext, watch: Watch) -> Ended:
    """Run the parts of one trial at once, collect their records, and return how it ended.

    It has the outcome of each part. Raises OSError if records cannot be kept here.
    """
    return asyncio.run(_Run(parts, watch).run(secrets, trial, context))


class _Run:
    def __init__(self, parts: Sequence[Part], watch: Watch) -> None:
        self._parts, self._watch = parts, watch
        self._given_up: str | None = None
        self._ending = False

    async def run(self, secrets: list[str], trial: str, context: ssl.SSLContext) -> Ended:
        start_unix_s: float | None = None
        try:
            await asyncio.gather(*(_guarded(part, self._connect(part, context)) for part in self._parts))
            # A host that is not there takes so long to say that the agents of the others have given up meanwhile.
            for part in self._parts if not self._problem() else ():
                await _guarded(part, _compare_before(part))
            if not self._problem():
                start_unix_s = await self._start(secrets, trial)
                await self._follow(start_unix_s)
            for part in self._parts:
                await _guarded(part, _compare_after(part))
            ended = [part for part in self._parts if part.exit_status is not None]
            await asyncio.gather(*(_guarded(part, _collect(part)) for part in ended))
        finally:
            await asyncio.gather(*(part.channel.close() for part in self._parts if part.channel))
        return Ended(start_unix_s, self._given_up or self._problem())

    def _problem(self) -> str | None:
        """Return the first part's problem, a lost host's before those that follow from it."""
        failed = [part for part in self._parts if part.problem]
        worst = next((part for part in failed if part.lost), failed[0] if failed else None)
        return f"host {worst.name}: {worst.problem}" if worst else None

    async def _connect(self, part: Part, context: ssl.SSLContext) -> None:
        part.channel = await connect(part.member.host, part.member.port, context, part.name)

    async def _start(self, secrets: list[str], trial: str) -> float:
        """Tell every host when to begin, in its own clock, and return that in the conductor's."""
        most = max(part.slice.count for part in self._parts)
        start_unix_s = time.time() + LEAD_S + most / CONNECTS_PER_S
        for part in self._parts:
            plan = part.plan | {"start_at_unix_s": start_unix_s + part.offset_s}
            message: Message = {"say": "run", "trial": trial, "plan": plan, "secrets": secrets}
            message |= {"observe": self._watch.on_observed is not None, "peers": dict(self._watch.peers)}
            await _guarded(part, _send(part, message))
        return start_unix_s

    async def _follow(self, start_unix_s: float) -> None:
        """Follow every host to its end; if one fails, end the others, because a trial is never spread anew."""
        following = [asyncio.create_task(_guarded(part, self._listen(part, start_unix_s))) for part in self._parts]
        beating = asyncio.create_task(self._beat())
        deadline = start_unix_s + self._watch.patience_s
        last_word: str | None = None
        try:
            while waiting := [task for task in following if not task.done()]:
                await asyncio.wait(waiting, timeout=POLL_S)
                word = self._word(time.time() > deadline)
                # Nothing is said twice, but what must end at once overrides what may end in order.
                if word and last_word not in (word, "stop"):
                    last_word = word
                    await self._tell(word)
        finally:
            beating.cancel()
            await asyncio.gather(beating, return_exceptions=True)

    def _word(self, is_late: bool) -> str | None:
        """Return what to say to the hosts that still run, or None."""
        if is_late and not self._given_up:
            self._given_up = "a load client did not end in time and was given up"
        if self._problem() or is_late:
            return "stop"
        if death := self._watch.death():
            self._given_up = self._given_up or death
        return "interrupt" if self._given_up or self._watch.interrupted() else None

    async def _tell(self, word: str) -> None:
        self._ending = True
        running = [part for part in self._parts if part.exit_status is None and not part.lost]
        await asyncio.gather(*(_guarded(part, _send(part, {"say": word})) for part in running))

    async def _beat(self) -> None:
        while True:
            running = [part for part in self._parts if part.exit_status is None and not part.lost]
            await asyncio.gather(*(_guarded(part, _send(part, {"say": "alive"})) for part in running))
            await asyncio.sleep(BEAT_S)

    async def _listen(self, part: Part, start_unix_s: float) -> None:
        """Take what a host says until its load client has ended."""
        assert part.channel is not None, "only a connected part runs"
        while True:
            message = await part.channel.receive()
            if "observed" in message and self._watch.on_observed:
                row = message["observed"]
                self._watch.on_observed(part.name, row | {AT: round(row[AT] - part.offset_s, 3)})
            if "live" in message:
                self._take(part, message["live"], start_unix_s)
            elif "alive" in message:
                _check_clock(part, Reading(**message["alive"]))
            elif "failed" in message:
                part.fail(str(message["failed"]))
                return
            elif "ended" in message:
                part.exit_status = int(message["ended"])
                if part.exit_status and not self._ending:
                    part.fail(f"its load client {describe_exit(part.exit_status)}")
                return

    def _take(self, part: Part, record: Record, start_unix_s: float) -> None:
        if record["record"] == "end" and record["status"] in ("failed", "refused"):
            part.fail(str(record["reason"]))
        if record["record"] == "phase" and (record["phase"], record["state"]) == ("run", "start"):
            part.begun_unix_s = record["at_unix_s"] - part.offset_s
            if (late_s := part.begun_unix_s - start_unix_s) > LATE_S:
                part.fail(f"began {late_s:.2f} s after the common start")
        if record["record"] == "total" and part.begun_unix_s is not None:
            part.begun_unix_s += record["begun_late_s"]
        self._watch.on_live(part.name, record)


def _check_clock(part: Part, now: Reading) -> None:
    """Compare the host's two clocks with how they stood at first."""
    if part.own_clocks is None:
        part.own_clocks = now
    elif reason := why_unsteady(part.own_clocks, now):
        part.fail(reason)


async def _guarded(part: Part, work: Awaitable[None]) -> None:
    """Do something with a host that may be gone; then it is lost."""
    try:
        await work
    except Lost as lost:
        part.fail(f"lost: {lost}", lost=True)


async def _send(part: Part, message: Message) -> None:
    if part.channel and not part.lost:
        await part.channel.send(message)


async def _compare_before(part: Part) -> None:
    if part.channel and not part.lost:
        part.before = await compare(part.channel)


async def _compare_after(part: Part) -> None:
    if part.channel and part.before and not part.lost and part.exit_status is not None:
        part.after = await compare(part.channel)
        if reason := why_unsteady(part.before, part.after):
            part.fail(reason)


async def _collect(part: Part) -> None:
    """Bring a host's records here, then have it remove them."""
    assert part.channel is not None, "its load client ended"
    part.folder.mkdir(parents=True, exist_ok=True)
    await part.channel.send({"say": "collect"})
    await part.channel.receive_file(part.folder / "records.jsonl")
    await part.channel.receive_file(part.folder / "load.log")
    await part.channel.send({"say": "drop"})
