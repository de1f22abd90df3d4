"""Next steps: for each limit one or two experiments that would tell more, or move it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from dbdyno.results.conclusions import NextStep
from dbdyno.results.model import Trial
from dbdyno.verdict.again import repeating, system_of, with_settings
from dbdyno.verdict.budget import AT_WORK
from dbdyno.verdict.decision import Limited
from dbdyno.verdict.evidence import Measured
from dbdyno.verdict.limits import (
    CLIENT,
    HOST_CPU,
    LIMITS,
    LOCK,
    MEMORY,
    NETWORK,
    OTHERS,
    RATE,
    SERVER_CPU,
    SERVER_THREAD,
    STALLS,
    UNEXPLAINED,
    Changeable,
)

_PORT = re.compile(r"^[a-z]+://[^(),]*:(\d+)(?:/|$)")
"""Port of the only server that a URL names."""
PINNED = "cpus={client=[0], server=[1]}"


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to try.

    Attributes:
        why: what it would show.
        options: of `dbdyno run`, appended to what repeats the trial; `None` for another command.
        command: that other command.
    """

    why: str
    options: tuple[str, ...] | None
    command: str | None = None


def next_steps(trial: Trial, decided: Limited) -> tuple[NextStep, ...]:
    """Return what to try next, each with a command that can be pasted.

    Nothing for a trial whose run does not say how it was started, or that was recorded without its run.
    """
    if repeating(trial) is None:
        return ()
    steps = [*_BY_LIMIT.get(decided.limit, _nothing)(trial), *_lever(trial, decided.limit), *_confirm(trial, decided)]
    return tuple(NextStep(step.why, step.command or _command(trial, step.options or ())) for step in steps)


def _command(trial: Trial, options: tuple[str, ...]) -> str:
    # The file numbers groups of clients itself.
    is_known = "--clients" in options or trial.facts.client_groups
    clients = [] if is_known else ["--clients", str(trial.facts.clients)]
    return shlex.join([*(repeating(trial, options) or ()), *clients, *options])


def _nothing(_: Trial) -> Iterator[Step]:
    return iter(())


def _pin(trial: Trial) -> Iterator[Step]:
    """Give each side its own processor, unless they have that."""
    if not trial.embedded and not trial.facts.attached and not (trial.facts.client_cpus and trial.facts.server_cpus):
        yield Step("give client and server separate processors", ("--set", PINNED))


def _profile(trial: Trial) -> Iterator[Step]:
    del trial
    yield Step("see which functions take the time", ("--profile",))


def _profile_stall(trial: Trial) -> Iterator[Step]:
    del trial
    yield Step("record stacks while it stalls", ("--profile", "on-stall"))


def _find_out(trial: Trial) -> Iterator[Step]:
    yield from _who_answers(trial)
    yield from _pin(trial)
    yield from _profile(trial)


def _who_answers(trial: Trial) -> Iterator[Step]:
    """Look which program has the port of a server on this host that hardly works: a relay has the data meanwhile."""
    measured, port = Measured.of(trial), _PORT.search(trial.label)
    if not trial.facts.attached or not port or measured is None:
        return
    (server, *others), used = trial.server_names, measured.cores(trial.server_names)
    is_here = measured.mean(f"queue.{server}.unread_requests") is not None
    if is_here and not others and used is not None and used < AT_WORK:
        why = "see which program answers there; if it is a proxy, attach to the server behind it"
        yield Step(why, None, shlex.join(["ss", "-tlnp", f"sport = :{port[1]}"]))


def _fewer_clients(trial: Trial) -> Iterator[Step]:
    clients = trial.facts.clients or 1
    if clients > 1 and not trial.facts.client_groups:
        yield Step("see whether fewer clients reach as much", ("--clients", f"{max(1, clients // 4)},{clients}"))


def _more_clients(trial: Trial) -> Iterator[Step]:
    clients = trial.facts.clients or 1
    if not trial.facts.client_groups:
        yield Step("see whether more clients hide the network delay", ("--clients", f"{clients},{4 * clients}"))


def _higher_rate(trial: Trial) -> Iterator[Step]:
    offered = trial.recorded.offered_per_s
    if offered:
        yield Step("see whether it keeps up with twice the rate", ("--rate", f"{2 * offered:.0f}"))


def _more_memory(trial: Trial) -> Iterator[Step]:
    if limit := trial.facts.memory_limit_bytes:
        yield Step("give each server twice the memory", ("--set", f"memory_limit={limit >> 19}M"))


def _doctor(trial: Trial) -> Iterator[Step]:
    del trial
    yield Step("see what else runs on this host, and stop it", None, "dbdyno doctor")


def _lever(trial: Trial, limit: str) -> Iterator[Step]:
    """Compare with the setting that should move the limit."""
    setting = (trial.facts.levers or {}).get(limit)
    name, _, value = (setting or "").partition("=")
    if setting and name not in (trial.facts.settings or {}):
        changed = with_settings(system_of(trial), {name: value})
        yield Step(f"compare with {setting}", ("--system", changed, "--repeat", "3"))


def _confirm(trial: Trial, decided: Limited) -> Iterator[Step]:
    if LIMITS[decided.limit].resource and not trial.facts.attached and trial.confirmation is None:
        yield Step("remove a fifth of it and see whether throughput follows", ("--confirm-limit",))
    elif _can_change(trial, decided.limit) and trial.confirmation is None:
        yield Step("change only this and see whether throughput follows", ("--confirm-limit",))


def _can_change(trial: Trial, limit: str) -> bool:
    """Return whether dbdyno can change what limited it while the server runs."""
    changeable = LIMITS[limit].changeable
    if changeable is Changeable.DELAY:
        return bool(trial.facts.network_delay_us)
    has = {Changeable.MEMORY: trial.facts.memory_limit_bytes, Changeable.SETTING: limit in (trial.facts.levers or {})}
    return bool(changeable and has[changeable]) and not trial.facts.attached


_BY_LIMIT: Mapping[str, Callable[[Trial], Iterator[Step]]] = {
    CLIENT: _pin,
    HOST_CPU: _pin,
    UNEXPLAINED: _find_out,
    STALLS: _profile_stall,
    SERVER_CPU: _profile,
    SERVER_THREAD: _profile,
    LOCK: _fewer_clients,
    MEMORY: _more_memory,
    NETWORK: _more_clients,
    OTHERS: _doctor,
    RATE: _higher_rate,
}
