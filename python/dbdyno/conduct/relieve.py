"""`confirm_limit` for what no fifth is taken of: a setting of the running server, its memory, or the injected delay.

One thing is changed for one more run of the same load, and changed back.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from dbdyno.conduct.link import why_not_narrowed
from dbdyno.conduct.plan import Plan
from dbdyno.errors import UserError
from dbdyno.observe.cgroup import ROOT, groups_of
from dbdyno.results.model import Trial
from dbdyno.systems.base import System
from dbdyno.verdict.limits import LIMITS, Changeable

TIMES = 2
"""Doubled, because a smaller change may not show: a log, a pool or memory a fifth larger may change nothing."""
LONGER = 1.25
"""Times the injected delay: four fifths of the throughput are left if nothing else takes time."""
_MEMORY_FILES = ("memory.memsw.limit_in_bytes", "memory.limit_in_bytes", "memory.max")
"""In the order in which they can grow: memory with swap may not be less than memory."""


@dataclass(frozen=True)
class Change:
    """A change that should move `limit`: in words, in the plan, and in the server while the load runs.

    grows: whether throughput should grow with it.
    """

    limit: str
    how: str
    plan: Plan
    made: Callable[[], AbstractContextManager[None]]
    grows: bool = True


def change_of(system: System, plan: Plan, trial: Trial, limit: str) -> Change:
    """Return what to change; raises UserError if there is nothing."""
    changeable = LIMITS[limit].changeable if limit in LIMITS else None
    if changeable is Changeable.DELAY and plan.network_delay_us:
        delay_us = round(plan.network_delay_us * LONGER)
        how = f"an injected delay of {delay_us:,} µs instead of {plan.network_delay_us:,} µs"
        return Change(limit, how, replace(plan, network_delay_us=delay_us), nullcontext, grows=False)
    if changeable is Changeable.DELAY:
        raise UserError(why_not_narrowed(system))
    if system.spec.attached:
        raise UserError("dbdyno did not start the server, so it changes none of its settings")
    if changeable is Changeable.MEMORY and (bytes_now := trial.facts.memory_limit_bytes):
        how = f"{TIMES * bytes_now >> 20} MiB of memory instead of {bytes_now >> 20} MiB"
        return Change(limit, how, plan, lambda: _more_memory(system, TIMES * bytes_now))
    return _setting_changed(system, plan, limit)


def _setting_changed(system: System, plan: Plan, limit: str) -> Change:
    live = system.live_setting(limit)
    if live is None:
        raise UserError(f"the limit '{limit}' cannot be reduced")
    before = system.setting(live.name)
    value = live.value or str(TIMES * int(before))
    if live.least and int(before) < live.least:
        raise UserError(f"a running server takes no {live.name} below {live.least}, so {before} could not be set again")
    if before == value:
        raise UserError(f"{live.name} is {value} already")
    note = f" ({live.note})" if live.note else ""
    return Change(
        limit, f"{live.name}={value} instead of {before}{note}", plan, lambda: _changed(system, live.name, value)
    )


@contextmanager
def _changed(system: System, name: str, value: str) -> Iterator[None]:
    """Change a setting meanwhile; raises UserError if the server does not take it."""
    before = system.setting(name)
    system.change_setting(name, value)
    try:
        yield
    finally:
        system.change_setting(name, before)


@contextmanager
def _more_memory(system: System, limit_bytes: int, root: Path = ROOT) -> Iterator[None]:
    """Give each server more memory meanwhile: its own control group's, as what it has stays counted there."""
    groups = [groups_of(pid, root).get("memory", []) for pid in system.server_pids().values()]
    files = [own[0] / name for own in groups if own for name in _MEMORY_FILES if (own[0] / name).is_file()]
    before = {file: file.read_text() for file in files}
    try:
        for file in files:
            _write(file, str(limit_bytes))
        yield
    finally:
        for file, content in reversed(before.items()):
            _write(file, content)


def _write(file: Path, content: str) -> None:
    try:
        file.write_text(content)
    except OSError as error:
        raise UserError(f"the server's memory limit cannot be changed: {error.strerror or error}") from None
