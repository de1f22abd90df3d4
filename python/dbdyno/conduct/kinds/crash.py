"""A crash in mid-load: the store is killed, started again on what it left, and asked for all that it acknowledged.

The load client writes the acknowledged writes to a file that outlives it (docs/contract.md, `acknowledged`): servers
are killed under a load client that goes on, embedded stores die with theirs.
"""

import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Event, Timer

from dbdyno.conduct.agreement import agreement_of, hold_against, read_alone
from dbdyno.conduct.context import Context
from dbdyno.conduct.kinds.base import WorkloadKind, refuse_keys
from dbdyno.conduct.listener import Outcome
from dbdyno.conduct.load_client import Summary, execute, why_it_failed
from dbdyno.conduct.plan import Plan, make_trial_plan, plan_workload
from dbdyno.conduct.promise import BROKEN, judge_promise
from dbdyno.conduct.trial import Prepared
from dbdyno.contract import Phase, ReadBackRecord, Record
from dbdyno.errors import DbdynoError, RunFailed, UserError
from dbdyno.experiment.clients import NATIVE
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.trials import Trial
from dbdyno.experiment.workload_spec import WorkloadSpec
from dbdyno.experiment.workloads import TRANSACTION, WORKLOADS, Kind
from dbdyno.results.json_types import AgreementStated, CrashStated, ReadBackStated, RepairedStated
from dbdyno.results.write import write_trial
from dbdyno.systems import SYSTEMS
from dbdyno.systems.base import System
from dbdyno.systems.running import volume
from dbdyno.systems.running.volume import Volume
from dbdyno.systems.witness import Promise, Witness

PATIENCE_S = 60
"""The load goes on for so long if nobody ends it: it is ended when the store is killed."""
KILL, POWER_CUT, KILL_REPLICA = WORKLOADS["durability"].options["crash"]
LEDGER = "acknowledged.bin"
TABLES = ("dbdyno_debit", "dbdyno_credit")
FROM_THE_OTHERS = Promise(True, "the others, which were not killed and send what it lacks")
"""The promise of a replica that was killed while its primary went on."""


class CrashKind(WorkloadKind):
    """Transactions of clients until the store is killed. An operation that fails then is no error."""

    def refuse(self, experiment: Experiment, workload: WorkloadSpec) -> None:
        asked = {
            "workload": any(other.kind is not Kind.CRASH for other in experiment.workload),
            "client": experiment.client != [NATIVE],
            "pipeline": experiment.pipeline != [1],
            "rate": bool(experiment.rate or experiment.find_rate),
            "precise": experiment.precise is not None,
            "restart": experiment.restart is not None,
            "confirm_limit": experiment.confirm_limit,
            "profile": bool(experiment.profile),
        }
        refuse_keys(asked, f"'{workload}' kills its store under a closed loop of clients")
        if crash_of(workload) == POWER_CUT and (reason := volume.missing()):
            raise UserError(f"crash={POWER_CUT}: {reason}; crash={KILL} does not")

    def refuse_system(self, workload: WorkloadSpec, system: System) -> None:
        """Raise UserError if a store is to be killed that dbdyno cannot start again."""
        if crash_of(workload) == KILL_REPLICA:
            system.replica_to_kill()
        elif system.spec.attached or not system.can_crash:
            able = ", ".join(name for name, other in SYSTEMS.items() if other.can_crash)
            raise UserError(
                f"{system.spec.label}: '{workload}' kills its store and starts it again: give one of {able}"
            )

    def make_volume(self, context: Context, workload: WorkloadSpec) -> Volume | None:
        """Return a file system whose power can be cut, if that is the crash."""
        return Volume(context.guard, context.experiment.data_directory) if crash_of(workload) == POWER_CUT else None

    def run(self, context: Context, prepared: Prepared, trial: Trial) -> Iterator[Outcome]:
        yield run_crash(context, prepared, trial)


def crash_of(workload: WorkloadSpec) -> str:
    """Return which crash it is: `kill`, `power-cut`, or `kill-replica`."""
    return workload.option("crash")


class Crash:
    """Kills a system some time after its load's first second, and then ends the load client, as its Watcher.

    after_s: seconds. goes_on_s: for how long the load goes on without it. at_unix_s: when it was killed, None before.
    """

    def __init__(self, system: System, volume: Volume | None, after_s: float, goes_on_s: float = 0.0) -> None:
        self._system, self._volume, self._client_pid = system, volume, 0
        self._goes_on_s, self._load_ended = goes_on_s, Event()
        self._timer = Timer(after_s, self._strike)
        self._problem: RunFailed | None = None
        self.at_unix_s: float | None = None

    @contextmanager
    def watching(self, client_pid: int, client_forks: bool) -> Iterator[None]:
        """Wait for the moment while a load client runs; raises RunFailed if the store could not be killed."""
        del client_forks
        self._client_pid = client_pid
        yield
        self._load_ended.set()
        self._timer.cancel()
        if self._timer.is_alive():
            self._timer.join()
        if self._problem:
            raise self._problem

    def record_came(self, record: Record) -> None:
        """Count from the first second of the load on."""
        if record["record"] == "interval" and record["second"] == 0:
            self._timer.start()

    def _strike(self) -> None:
        self.at_unix_s = time.time()
        try:
            if self._system.embedded:
                os.kill(self._client_pid, signal.SIGKILL)
            self._system.kill()
            if self._volume:
                self._volume.cut()
        except OSError as error:
            self._problem = RunFailed(f"{self._system.spec.label} could not be killed: {error}")
        self._load_ended.wait(self._goes_on_s)
        with suppress(ProcessLookupError):
            os.kill(self._client_pid, signal.SIGINT)


def run_crash(context: Context, prepared: Prepared, trial: Trial) -> Outcome:
    """Load, kill, start again and read back, and write the trial's folder.

    A store that does not come up again, or breaks what its settings promise, makes the trial failed, not the run.
    """
    context.listener.trial_begins(trial)
    folder = context.folder.trial(trial.name)
    facts = replace(prepared.describe(context, trial), seconds=None)
    write_trial(folder, facts)
    summary = Summary()
    try:
        witnesses = _witnesses(prepared.system, crash_of(trial.workload))
        at_unix_s, summary = _load_until_crash(context, prepared, trial, folder)
        tables = dict.fromkeys(TABLES, context.experiment.rows)
        store_is_down = crash_of(trial.workload) != KILL_REPLICA
        alone = read_alone(witnesses, tables, folder / LEDGER) if store_is_down else {}
        read_back = _recover(context, prepared, trial, folder)
        agreement = _agreement(prepared.system, witnesses, tables, alone)
        verdict, sentence, reason = _judge(facts.promised.level, _writes(prepared.system), read_back, agreement)
        crash: CrashStated = {
            "kind": crash_of(trial.workload),
            "writes": _writes(prepared.system),
            "at_unix_s": at_unix_s,
            **read_back,
            "agreement": agreement,
            "verdict": verdict,
            "sentence": sentence,
        }
        facts, state = replace(facts, crash=crash), "failed" if reason else "complete"
    except KeyboardInterrupt:
        state, reason = "interrupted", "by the user"
    except DbdynoError as failure:
        state, reason = "failed", str(failure)
    write_trial(folder, replace(facts, ended_unix_s=time.time(), state=state, reason=reason))
    # An operation that failed when the store was killed is not a wrong answer.
    outcome = Outcome(trial, state, reason, summary.transactions, summary.seconds, {})
    context.listener.trial_ended(outcome)
    return outcome


def _witnesses(system: System, crash: str) -> list[Witness]:
    """Return what should hold the same rows as the store after a crash."""
    witnesses = system.witnesses()
    if crash == KILL_REPLICA:
        for witness in witnesses:
            witness.promise = FROM_THE_OTHERS
    return witnesses


def _killed(system: System, workload: WorkloadSpec) -> System:
    """Return what is killed of a system, and started again."""
    return system.replica_to_kill() if crash_of(workload) == KILL_REPLICA else system


def _agreement(
    system: System, witnesses: list[Witness], tables: dict[str, int], alone: dict[str, int]
) -> list[AgreementStated]:
    if not witnesses:
        return []
    store = system.versions(tables)
    return [agreement_of(hold_against(witness, store, tables, alone)) for witness in witnesses]


def _judge(
    level: str, writes: str, read_back: ReadBackStated, agreement: list[AgreementStated]
) -> tuple[str, str, str | None]:
    """Return the verdict on the class's promise and on agreement, its sentence, and what to say if a promise broke."""
    verdict, sentence = judge_promise(level, writes == "transaction", read_back)
    judged = [(verdict, sentence), *((promised["verdict"], promised["sentence"]) for promised in agreement)]
    broken = [said for outcome, said in judged if outcome == BROKEN]
    return BROKEN if broken else verdict, sentence, "; ".join(broken) or None


def _load_until_crash(context: Context, prepared: Prepared, trial: Trial, folder: Path) -> tuple[float, Summary]:
    """Return when the store was killed, and the load's summary; raises RunFailed if the load ended before that."""
    experiment, system, volume = context.experiment, prepared.system, prepared.volume
    if volume:
        volume.sync()
    # The same moments for every system, others in every repetition; never before half of the time.
    share = random.Random(f"{experiment.seed} {trial.repeat} {trial.clients}").uniform(0.5, 1.0)
    killed = _killed(system, trial.workload)
    goes_on_s = 0.0 if killed is system else (1 - share) * experiment.seconds
    crash = Crash(killed, volume, experiment.warmup_seconds + share * experiment.seconds, goes_on_s)

    def record_came(record: Record) -> None:
        crash.record_came(record)
        context.listener.record_came(record)

    secrets: list[str] = []
    plan = _plan(context, system, trial, secrets, folder, "run")
    summary = execute(plan, secrets, folder, context.supervision(), record_came, crash)
    if context.interrupts.requested:
        raise KeyboardInterrupt
    if crash.at_unix_s is None:
        raise RunFailed(
            why_it_failed(summary, folder) or system.death() or "the load ended before the store was killed"
        )
    return crash.at_unix_s, summary


def _writes(system: System) -> str:
    """Return how both rows of a pair are written: in one `transaction`, or `apart`."""
    return "transaction" if TRANSACTION in system.operations else "apart"


def _plan(context: Context, system: System, trial: Trial, secrets: list[str], folder: Path, phase: Phase) -> Plan:
    experiment = context.experiment
    plan = make_trial_plan(experiment, context.folder.name, system.store_plan(secrets), trial)
    workload = plan_workload(trial.workload, experiment.rows)
    return replace(
        plan,
        phases=(phase,),
        workload=replace(workload, options={**workload.options, "writes": _writes(system)}),
        warmup_s=0,
        duration_s=PATIENCE_S + experiment.warmup_seconds + experiment.seconds,
        acknowledged=str(folder / LEDGER),
    )


def _recover(context: Context, prepared: Prepared, trial: Trial, folder: Path) -> ReadBackStated:
    """Start the store again, and return how long that took, in seconds, and what it still has.

    ready_s: until its server answers; None of a store without one. first_read_s: until a row was read.
    repaired: None, or the command it took before the store started, and what it had said (`reason`).
    Raises RunFailed if it does not come up, or does not answer.
    """
    system = prepared.system
    if prepared.volume:
        prepared.volume.restore()
    began = time.time()
    repaired = _start_again(_killed(system, trial.workload))
    ready_s = None if system.embedded else time.time() - began
    reading, secrets, read_back = folder / "read-back", list[str](), list[ReadBackRecord]()
    reading.mkdir()

    def record_came(record: Record) -> None:
        if record["record"] == "read_back":
            read_back.append(record)

    plan = _plan(context, system, trial, secrets, folder, "verify")
    summary = execute(plan, secrets, reading, context.supervision(system.death), record_came)
    if context.interrupts.requested:
        raise KeyboardInterrupt
    if not read_back:
        raise RunFailed(f"its acknowledged writes could not be read: {why_it_failed(summary, reading)}")
    counted = read_back[-1]
    return {
        "acknowledged": counted["acknowledged"],
        "damaged": counted["damaged"],
        "gone": counted["gone"],
        "half_applied": counted["half_applied"],
        "lost_back_is_least": counted["lost_back_is_least"],
        "lost_back_s": counted["lost_back_s"],
        "missing": counted["missing"],
        "unacknowledged": counted["unacknowledged"],
        "ready_s": ready_s,
        "first_read_s": counted["first_read_unix_s"] - began,
        "repaired": repaired,
    }


def _start_again(system: System) -> RepairedStated | None:
    """Start the store, repaired if it does not start by itself; returns why it did not and which command helped."""
    try:
        system.start_again()
    except DbdynoError as error:
        reason = str(error)
    else:
        return None
    command = system.repair()
    if command is None:
        raise RunFailed(f"it did not start again: {reason}")
    try:
        system.start_again()
    except DbdynoError as error:
        raise RunFailed(f"it did not start again, not even after `{command}`: {error}") from None
    return {"command": command, "reason": reason}
