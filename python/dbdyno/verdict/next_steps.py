"""Next steps: for each limit one or two experiments that would tell more, or move it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dbdyno.results.conclusions import NextStep
from dbdyno.verdict.again import repeating, system_of
from dbdyno.verdict.budget import AT_WORK
from dbdyno.verdict.evidence import Measured
from dbdyno.verdict.limits import (
    CHECKPOINT,
    CLIENT,
    COMMIT,
    COMPACTION,
    CONNECTIONS,
    DISK,
    HOST_CPU,
    LIMITS,
    LOCK,
    MEMORY,
    NETWORK,
    OLD_VERSIONS,
    OTHERS,
    RATE,
    REPLICATION,
    SERVER_CPU,
    SERVER_QUEUE,
    SERVER_THREAD,
    STALLS,
    UNEXPLAINED,
    VACUUM,
    Changeable,
)

if TYPE_CHECKING:
    from dbdyno.results.model import Trial
    from dbdyno.verdict.decision import Limited

_PORT = re.compile(r"^[a-z]+://[^(),]*:(\d+)(?:/|$)")
"""Port of the only server that a URL names."""
PINNED = "cpus={client=[0], server=[1]}"
_OF_CLIENTS = frozenset(("--clients", "--rate", "--seconds", "--profile", "--confirm-limit"))
"""Options of a load of clients: where dbdyno asks the queries, or calls a store's tools, they are refused or void."""
_OF_SURVIVORS = frozenset(("--rate", "--profile", "--confirm-limit"))
"""Options of a load whose store is not killed."""
SLOWER = 0.8
"""A share of its throughput at which a store should not wait for its own work."""
_QUANTITY = re.compile(r"^([0-9.]+) ?([kmgt]?)(i?b|s)?$", re.IGNORECASE)
_TIMES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


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
    steps = [*_BY_LIMIT[decided.limit](trial), *_lever(trial, decided.limit)]
    steps = [*(steps or _fewer_clients(trial)), *_confirm(trial, decided)] or [*_profile(trial)]
    possible = [step for step in steps if not _refused(trial).intersection(step.options or ())]
    return tuple(NextStep(step.why, step.command or _command(trial, step.options or ())) for step in possible)


def _refused(trial: Trial) -> frozenset[str]:
    """Return the options that the kind of a trial's workload refuses, or for which they change nothing."""
    facts = trial.facts
    if facts.analysis:
        return _OF_CLIENTS | {"--repeat"}
    if facts.copy:
        return _OF_CLIENTS
    return _OF_SURVIVORS if facts.crash else frozenset()


def _command(trial: Trial, options: tuple[str, ...]) -> str:
    # The file numbers groups of clients itself, and there may be none.
    is_known = "--clients" in options or trial.facts.client_groups or "--clients" in _refused(trial)
    clients = [] if is_known else ["--clients", str(trial.facts.clients)]
    return shlex.join([*(repeating(trial, options) or ()), *clients, *options])


def _pin(trial: Trial) -> Iterator[Step]:
    """Give each side its own processor, unless they have that, or dbdyno itself is the client."""
    if trial.facts.analysis:
        return
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
    yield from _see_more(trial)
    yield from _pin(trial)
    yield from _profile(trial)


def _see_more(trial: Trial) -> Iterator[Step]:
    """Repeat it after what hides the waits of a server has been changed, such as a missing grant."""
    reasons = [unseen.reason for unseen in trial.facts.unseen if str(unseen.band).startswith(("waits.", "locks."))]
    for reason in filter(None, dict.fromkeys(reasons)):
        yield Step(f"repeat it with the server's waits observed: {reason}", ())


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


def _more_clients(what: str) -> Callable[[Trial], Iterator[Step]]:
    """Return the step to see whether more clients hide or share a wait."""

    def steps(trial: Trial) -> Iterator[Step]:
        clients = trial.facts.clients or 1
        if not trial.facts.client_groups:
            yield Step(f"see whether more clients {what}", ("--clients", f"{clients},{4 * clients}"))

    return steps


def _lower_rate(trial: Trial) -> Iterator[Step]:
    per_s = SLOWER * (trial.recorded.throughput_per_s or 0.0)
    if per_s >= 1 and not trial.facts.client_groups:
        yield Step(f"see whether it keeps up with {SLOWER:.0%} of that rate", ("--rate", f"{per_s:.0f}"))


def _fewer_rows(trial: Trial) -> Iterator[Step]:
    if (rows := trial.facts.rows) and rows > 1:
        yield Step("see whether a quarter of the rows, which caches may hold, is faster", ("--rows", f"{rows // 4}"))


def _longer(trial: Trial) -> Iterator[Step]:
    if seconds := trial.facts.seconds:
        yield Step("see whether a longer trial slows down further", ("--seconds", f"{4 * seconds}"))


def _higher_rate(trial: Trial) -> Iterator[Step]:
    offered = trial.recorded.offered_per_s
    if offered:
        yield Step("see whether it keeps up with twice the rate", ("--rate", f"{2 * offered:.0f}"))


def _more_memory(trial: Trial) -> Iterator[Step]:
    if limit := trial.facts.memory_limit_bytes:
        yield Step("give each server twice the memory", ("--set", f"memory_limit={limit >> 19}M"))
    else:
        yield from _fewer_rows(trial)


def _doctor(trial: Trial) -> Iterator[Step]:
    names = ", ".join(host["name"] for host in trial.facts.server_hosts)
    why = f"on {names}, see what else runs there" if names else "see what else runs on this host"
    yield Step(f"{why}, and stop it", None, "dbdyno doctor")


def _lever(trial: Trial, limit: str) -> Iterator[Step]:
    """Compare with the setting that should move the limit, unless it has that or more."""
    setting = (trial.facts.levers or {}).get(limit)
    name, _, value = (setting or "").partition("=")
    given = (trial.facts.settings or {}).get(name)
    if setting and (given is None or _moves(str(given), value)):
        changed = system_of(trial, {name: value})
        repeated = () if "--repeat" in _refused(trial) else ("--repeat", "3")
        yield Step(f"compare with {setting}", ("--system", changed, *repeated))


def _moves(given: str, value: str) -> bool:
    """Return whether a setting's other value may move a limit: a larger quantity, or another word."""
    now, then = _quantity(given), _quantity(value)
    return given != value if now is None or then is None else then > now


def _quantity(text: str) -> float | None:
    """Return a number with its unit as a number; `None` if it is none."""
    match = _QUANTITY.match(text)
    return float(match[1]) * _TIMES[match[2].lower()] if match else None


def _confirm(trial: Trial, decided: Limited) -> Iterator[Step]:
    if trial.facts.hosts:
        return  # It works on one host only.
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
    SERVER_QUEUE: _fewer_clients,
    LOCK: _fewer_clients,
    CONNECTIONS: _fewer_clients,
    MEMORY: _more_memory,
    DISK: _fewer_rows,
    COMMIT: _more_clients("share a flush"),
    REPLICATION: _more_clients("share the wait for other nodes"),
    NETWORK: _more_clients("hide the network delay"),
    CHECKPOINT: _lower_rate,
    COMPACTION: _lower_rate,
    VACUUM: _lower_rate,
    OLD_VERSIONS: _longer,
    OTHERS: _doctor,
    RATE: _higher_rate,
}
