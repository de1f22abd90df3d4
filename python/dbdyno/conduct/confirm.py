"""`confirm_limit`: the causal check of a verdict (docs/statistics.md, section 5.6).

A fifth of the resource that limited a trial is taken away, and the same load runs again. If throughput follows, that
confirms the verdict; if not, that speaks against it. The fifth is a share of the available
amount, not of the used one: otherwise every resource would prove to be the limit.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dbdyno.conduct.context import Context
from dbdyno.conduct.load_client import execute, why_it_failed
from dbdyno.conduct.plan import Plan
from dbdyno.conduct.relieve import Change, change_of
from dbdyno.errors import DbdynoError, RunFailed, UserError
from dbdyno.results.confirmation import Confirmation, Followed
from dbdyno.results.model import Recorded, Trial
from dbdyno.results.read import read_trial
from dbdyno.results.records import read_records
from dbdyno.results.write import write_object
from dbdyno.systems.base import System
from dbdyno.systems.running.cgroup import Limit, cpu_limit, disk_limit, limited, writes_to
from dbdyno.systems.running.guard import Guard
from dbdyno.verdict.budget import time_budget
from dbdyno.verdict.decision import FOLLOWED_TOO_FAR
from dbdyno.verdict.evidence import Measured, cores_to_use
from dbdyno.verdict.judge import judge_folder
from dbdyno.verdict.limits import LIMITS, RATE, Resource

TAKEN = 0.2
"""The share that is taken: clearly more than trials differ by, but not so much that another resource is the limit."""

LEAST_BPS = 4096
"""Bytes a second that are worth limiting: a page."""
MOST_OF_ALL = 0.8
"""A share of the bytes on a device: with this share of them a server's operations are all but all there are."""
CUT_SHORT = "it was cut short"
BLOCK = Path("/sys/block")
NO_LIMIT_IOPS = 1e9
"""The limit of a group in which operations are only counted."""


@dataclass(frozen=True)
class _Less:
    """The reduction: a limit on the client's process or the servers', and what it comes to for a person."""

    limit: Limit
    of_client: bool
    how: str


class _OthersWrite(UserError):
    """How many of a device's writes are the server's is not told; device: its number, `8:0`."""

    def __init__(self, name: str, device: str) -> None:
        super().__init__(f"other processes write to {name}, so the server's share is not known")
        self.device = device


@dataclass
class _Holding:
    """Holds the servers, or else the load client, to less while the latter runs.

    device: whose writes are counted meanwhile, or None; writes: how many they asked for.
    """

    pids: list[int]
    less: _Less
    guard: Guard
    device: str | None = None
    writes: int = 0

    @contextmanager
    def watching(self, client_pid: int, client_forks: bool) -> Iterator[None]:
        """Hold them meanwhile; children of a process that is held are so too."""
        del client_forks
        with limited([client_pid] if self.less.of_client else self.pids, self.less.limit, self.guard) as groups:
            before = writes_to(groups, self.device) if self.device else 0
            yield
            self.writes = writes_to(groups, self.device) - before if self.device else 0


def confirm_limit(context: Context, system: System, plan: Plan, secrets: list[str], folder: Path) -> None:
    """Run the load of the trial in `folder` again with less of what limited it, and draw its verdict anew with that.

    If that cannot be done, the verdict says why. A trial without a verdict, or one that did what was asked, has
    nothing to confirm.
    """
    trial = read_trial(folder)
    verdict = trial.judged.verdict if trial.judged else None
    if not verdict or verdict.limit == RATE:
        return
    try:
        confirmation = _tried(context, system, (plan, secrets), trial, verdict.limit)
    except DbdynoError as error:
        confirmation = Confirmation(verdict.limit, TAKEN, None, why_not=str(error))
    write_object(folder / "confirmation.json", confirmation.document())
    if confirmed := judge_folder(folder).verdict:
        context.listener.limit_confirmed(confirmed.sentence)


def _tried(context: Context, system: System, plan: tuple[Plan, list[str]], trial: Trial, limit: str) -> Confirmation:
    """Return what was done and what came of it; raises UserError if nothing can be done."""
    try:
        before, less = _before_and_less(context, system, plan, trial)
    except UserError as why_not:
        try:
            change = change_of(system, plan[0], trial, limit)
        except UserError as error:
            raise (why_not if LIMITS[limit].resource else error) from None
        return _tried_by_change(context, system, plan[1], trial, change)
    holding = _Holding(list(system.server_pids().values()), less, context.guard)
    after = _run_again(context, system, plan, context.folder.confirmation(trial.name), holding)
    left_per_s = after.throughput_per_s or 0.0
    return Confirmation(limit, TAKEN, Followed(less.how, before, left_per_s, (1 - left_per_s / before) / TAKEN))


def _tried_by_change(
    context: Context, system: System, secrets: list[str], trial: Trial, change: Change
) -> Confirmation:
    """Return what came of changing one thing.

    How far throughput grows with it is not known beforehand: by half of TAKEN or more, it followed.
    """
    with change.made():
        folder = context.folder.confirmation(trial.name)
        after = _run_again(context, system, (change.plan, secrets), folder, None)
    before, after_per_s = trial.recorded.throughput_per_s or 0.0, after.throughput_per_s or 0.0
    grown = (after_per_s / before - 1) / TAKEN
    followed = min(FOLLOWED_TOO_FAR, grown) if change.grows else -grown
    return Confirmation(change.limit, None, Followed(change.how, before, after_per_s, followed))


def _before_and_less(
    context: Context, system: System, plan: tuple[Plan, list[str]], trial: Trial
) -> tuple[float, _Less]:
    """Return the throughput before, and what to take away; raises UserError if nothing can be.

    If others write to the device, the load runs once more, in a group that counts the server's own operations.
    """
    limit = trial.judged.verdict.limit if trial.judged and trial.judged.verdict else ""
    try:
        return trial.recorded.throughput_per_s or 0.0, _less(limit, trial)
    except _OthersWrite as others:
        counted = _Less(disk_limit(others.device, {"write_iops": NO_LIMIT_IOPS}), trial.embedded, "")
        holding = _Holding(list(system.server_pids().values()), counted, context.guard, others.device)
    again = _run_again(context, system, plan, context.folder.confirmation(f"{trial.name}-counted"), holding)
    per_s = again.throughput_per_s or 0.0
    # By the transaction, as it counts from connecting on.
    writes_per_s = holding.writes / max(1, again.sums.completed) * per_s
    return per_s, _less(limit, trial, writes_per_s)


def _less(limit: str, trial: Trial, writes_per_s: float | None = None) -> _Less:
    """Return what to take away; raises UserError if nothing can be.

    writes_per_s: how many the server asked of the device, if that was counted.
    """
    measured, budget = Measured.of(trial), time_budget(trial)
    resource = LIMITS[limit].resource if limit in LIMITS else None
    if resource is None:
        raise UserError(f"the limit '{limit}' cannot be reduced")
    if measured is None or budget is None:
        raise UserError("nothing was observed, so the available amount is unknown")
    if resource in (Resource.DISK, Resource.FLUSHES):
        return _less_disk(resource, measured, budget.bands["disk"] + budget.bands["commit"], writes_per_s)
    return _less_cpu(resource, measured)


def _processes(trial: Trial, of_client: bool) -> tuple[str, ...]:
    """Return the processes to take something from; raises UserError if they are not dbdyno's."""
    processes = ("client",) if of_client else tuple(trial.facts.server_pids or ())
    if not processes:
        raise UserError("dbdyno did not start the server, so it removes nothing from it")
    return processes


def _less_cpu(resource: Resource, measured: Measured) -> _Less:
    of_client = resource is Resource.CLIENT_CPU or measured.trial.embedded
    facts = measured.trial.facts
    pinned = facts.client_cpus if of_client else facts.server_cpus
    able = cores_to_use(measured, _processes(measured.trial, of_client), pinned)
    if not able:
        raise UserError("the number of usable CPUs was not observed")
    left = (1 - TAKEN) * able
    return _Less(cpu_limit(left), of_client, f"{left:.2f} of {able:.2f} processors left")


def _less_disk(resource: Resource, measured: Measured, held: float, writes_per_s: float | None) -> _Less:
    """Take from what the servers themselves read and wrote.

    held: how many operations it held, on average. If one or more wait for it all the time, its rate is the most it
    can do. A device that a quota throttles is idle meanwhile, so how busy it is does not tell.
    """
    devices = sorted({name.split(".")[1] for name in measured.observations.names("disk.")})
    processes = _processes(measured.trial, measured.trial.embedded)
    if not devices:
        raise UserError("the device of the data was not observed")
    device, left = devices[0], {}
    number = (BLOCK / device / "dev").read_text().strip()
    for kind, done in (("read", "read"), ("write", "written")):
        own = measured.rate(*(f"process.{name}.{done}_bytes_total" for name in processes)) or 0.0
        of_all = measured.rate(f"disk.{device}.{kind}_bytes_total") or 0.0
        if own >= LEAST_BPS and own >= MOST_OF_ALL * of_all:
            left[f"{kind}_iops"] = measured.rate(f"disk.{device}.{kind}s_total") or 0.0
        elif resource is Resource.FLUSHES and kind == "write":
            # A commit is small: less bytes a second hardly slow it.
            if not writes_per_s:
                raise _OthersWrite(device, number)
            left["write_iops"] = writes_per_s
        elif own >= LEAST_BPS:
            left[f"{kind}_bps"] = own
    if not left:
        raise UserError(f"hardly anything was read from and written to {device}")
    left = {kind: (1 - TAKEN) * per_s / min(1.0, held) for kind, per_s in left.items()}
    how = " and ".join(f"{_in_words(kind, per_s)} left" for kind, per_s in left.items())
    return _Less(disk_limit(number, left), measured.trial.embedded, how)


def _in_words(kind: str, per_s: float) -> str:
    what, _, unit = kind.partition("_")
    return f"{per_s:,.0f} {what}s/s" if unit == "iops" else f"{per_s / 1e6:.3g} MB/s of {what}s"


def _run_again(
    context: Context, system: System, plan: tuple[Plan, list[str]], folder: Path, holding: _Holding | None
) -> Recorded:
    """Return what was recorded with less; raises UserError if it cannot be taken, RunFailed if the trial failed."""
    supervision = context.supervision(system.death)
    summary = execute(*plan, folder, supervision, context.listener.record_came, holding)
    if reason := system.death() or why_it_failed(summary, folder):
        raise RunFailed(reason)
    after = read_records(folder / "records.jsonl", context.experiment.warmup is not None)
    if after.throughput_per_s is None or context.interrupts.requested:
        raise RunFailed(CUT_SHORT)
    return after
