"""One trial: run and verify by the load client, the server's counters before and after, its log meanwhile."""

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dbdyno.conduct.ceiling import measure_ceiling
from dbdyno.conduct.client_build import client_build
from dbdyno.conduct.confirm import confirm_limit
from dbdyno.conduct.context import Ceiling, Context
from dbdyno.conduct.events import Events
from dbdyno.conduct.listener import Outcome
from dbdyno.conduct.load_client import Summary, execute, why_it_failed
from dbdyno.conduct.observing import AnyObserver, end_observing, observer_of
from dbdyno.conduct.on_hosts import Load, execute_on_hosts
from dbdyno.conduct.on_stall import StallProfile, profile_of_stall
from dbdyno.conduct.own_client import with_version
from dbdyno.conduct.plan import Plan, make_trial_plan, plan_groups, store_of
from dbdyno.conduct.profile import profile
from dbdyno.conduct.refused_clients import with_setting
from dbdyno.conduct.replica_lag import ReplicaLag
from dbdyno.contract import GroupDocument, Record
from dbdyno.errors import BuildReplaced, RunFailed, UserError
from dbdyno.experiment.groups import Group
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.rate import Rate
from dbdyno.experiment.system_spec import bare_name
from dbdyno.experiment.think_time import ThinkTime
from dbdyno.experiment.trials import Trial
from dbdyno.results.facts import SystemFacts, TrialFacts
from dbdyno.results.json_types import (
    BuildStated,
    GroupStated,
    HostStated,
    PaceStated,
    RateStated,
    ServerStated,
)
from dbdyno.results.read import read_trial
from dbdyno.results.write import write_object, write_trial
from dbdyno.stats.stability import Stability, stability
from dbdyno.stats.stalls import Stalls
from dbdyno.systems.base import System
from dbdyno.systems.running.volume import Volume
from dbdyno.verdict.judge import judge_folder


@dataclass(frozen=True)
class Prepared:
    """A system that is started and loaded. facts: stated in each of its trials.

    volume: the file system of its data, where its power is to be cut.
    """

    system: System
    name: str
    folder: Path
    facts: SystemFacts
    volume: Volume | None = None

    def describe(self, context: Context, trial: Trial) -> TrialFacts:
        """Return `trial.json` as it is when one of its trials begins."""
        return describe_trial(context, trial, self.name).on(self.facts)


def run_trial(context: Context, prepared: Prepared, trial: Trial) -> Outcome:
    """Run one trial and write its folder; a server or a load client that dies makes it failed, not the run.

    Raises OSError if the folder cannot be written.
    """
    with profile_of_stall(context, prepared.system) as stall:
        return _run_trial(context, prepared, trial, stall)


def _run_trial(context: Context, prepared: Prepared, trial: Trial, stall: StallProfile | None) -> Outcome:
    context.listener.trial_begins(trial)
    secrets: list[str] = []
    store = store_of(prepared.system, trial.workload, secrets)
    plan = make_trial_plan(context.experiment, context.folder.name, store, trial)
    ceiling = _ceiling(context, trial, plan)
    folder = context.folder.trial(trial.name)
    facts = _under(ceiling, replace(prepared.describe(context, trial), server_pids=prepared.system.server_pids()))
    logs = _log_sizes(prepared.folder)
    before, cpu_before_s = _counters(prepared.system), time.process_time()
    write_trial(folder, replace(facts, server_counters={name: {"before": before[name]} for name in before}))
    observer = observer_of(context, prepared.system, folder)
    events = Events(context, prepared.system, folder)
    lag = ReplicaLag(context, prepared.system, folder, events.death)
    replaced = False
    try:
        facts = replace(facts, client_build=_build_of(context, trial))
        with events, lag:
            summary, hosts = _execute(context, plan, secrets, folder, (events, lag), observer, stall)
        servers = take_library(prepared.system, summary, prepared.folder)
        build = with_version(facts.client_build, summary.hello)
        facts = replace(facts, client_build=build, hosts=hosts, servers=facts.servers if servers is None else servers)
        context.earlier.refuse_other_servers(trial.system.label, facts.servers)
        state, reason = judge(summary, folder, prepared.system.death(), context.interrupts.requested)
        reason = with_setting(reason, facts)
        if state == "complete" and (failure := events.failure()):
            state, reason = "failed", failure
    except RunFailed as failed:
        summary, state, reason, replaced = Summary(), "failed", str(failed), isinstance(failed, BuildReplaced)
    after = {} if prepared.system.death() or events.took_away else _counters(prepared.system)
    facts = replace(
        facts,
        ended_unix_s=time.time(),
        state=state,
        reason=reason,
        exit_status=summary.exit_status,
        events=events.documents() if events.happenings else None,
        replicas=lag.documents(),
        server_counters={name: {"before": before[name], "after": after[name]} for name in before if name in after},
        python_cpu_s=round(time.process_time() - cpu_before_s, 3),
        data_bytes=prepared.system.data_bytes(),
        profiled=stall.marks() if stall else None,
    )
    facts = end_observing(context, observer, folder, facts)
    _copy_logs(prepared.folder, logs, folder)
    facts = _conclude(context, trial, plan, folder, summary, facts)
    if stall:
        stall.write(folder / "profile")
    elif context.experiment.profile and state == "complete":
        profile(context, plan, secrets, prepared.system, folder / "profile")
    replaced = replaced or prepared.system.replaced() is not None
    outcome = _outcome(trial, summary, folder, facts, replaced)
    context.listener.trial_ended(outcome)
    if context.experiment.confirm_limit and state == "complete" and trial.step is None:
        confirm_limit(context, prepared.system, plan, secrets, folder)
    return outcome


def _execute(
    context: Context,
    plan: Plan,
    secrets: list[str],
    folder: Path,
    beside: tuple[Events, ReplicaLag],
    observer: AnyObserver | None,
    stall: StallProfile | None,
) -> tuple[Summary, list[HostStated] | None]:
    """Run a trial's load on this host, or on those of the experiment; returns what `trial.json` says of these too."""
    events, lag = beside

    def record_came(record: Record) -> None:
        events.record_came(record)
        lag.record_came(record)
        context.listener.record_came(record)
        if stall:
            stall.record_came(record)

    if context.crew:
        load = Load(plan, secrets, folder, events.system, events.death, record_came)
        return execute_on_hosts(context, load, observer)
    return execute(plan, secrets, folder, context.supervision(events.death), record_came, observer), None


def take_library(system: System, summary: Summary, folder: Path) -> list[ServerStated] | None:
    """Have an embedded system take what its library said of itself, and keep it in the folder of its preparation.

    Returns its servers, which replace those known before the library was loaded; None if none was loaded.
    """
    if summary.library is None or not system.embedded:
        return None
    system.opened(summary.library)
    write_object(folder / "settings.json", system.all_settings())
    return [{**server, "started_with": None} for server in system.servers()]


def _build_of(context: Context, trial: Trial) -> BuildStated | None:
    """Return the build of the file that a trial's client names; raises as `client_build`, and if a run had another."""
    build = client_build(trial.client)
    context.earlier.refuse_other_client(trial.system.label, build)
    return build


def _conclude(
    context: Context, trial: Trial, plan: Plan, folder: Path, summary: Summary, facts: TrialFacts
) -> TrialFacts:
    """Write down and judge a trial that has ended, with the ceiling at the rate that it reached."""
    if summary.seconds:
        facts = _under(_ceiling(context, trial, plan, summary.transactions / summary.seconds), facts)
    write_trial(folder, facts)
    judge_trial(folder)
    return facts


def _outcome(trial: Trial, summary: Summary, folder: Path, facts: TrialFacts, replaced: bool) -> Outcome:
    """Return the outcome of a trial as its folder and the load client's summary have it."""
    completed, seconds, even = _measured(summary, folder, facts)
    state, errors = str(facts.state), summary.errors
    return Outcome(trial, state, facts.reason, completed, seconds, errors, even, _stalls(folder), replaced)


def _measured(summary: Summary, folder: Path, facts: TrialFacts) -> tuple[int, float, Stability]:
    """Return the transactions and seconds that the figures count, and how even these were.

    Only the records tell an automatic warm-up, and seconds that are left out.
    """
    if not facts.automatic_warmup and not facts.profiled_seconds:
        return summary.transactions, summary.seconds, stability(np.array(summary.rates_per_s))
    recorded = read_trial(folder).recorded
    return recorded.completed, recorded.seconds, recorded.stability


def _stalls(folder: Path) -> Stalls | None:
    """Return the stalls that were recorded; recordings that cannot be understood are said to be that when shown."""
    with suppress(UserError):
        return read_trial(folder).recorded.stalls
    return None


def judge_trial(folder: Path) -> None:
    """Keep the verdict in the trial's folder; recordings that cannot be understood are said to be that when shown."""
    with suppress(UserError):
        judge_folder(folder)


def _ceiling(context: Context, trial: Trial, plan: Plan, reached_per_s: float = 0.0) -> Ceiling | None:
    """Return the ceiling of the load client alone."""
    return measure_ceiling(context, trial.workload, plan, reached_per_s)


def _under(ceiling: Ceiling | None, facts: TrialFacts) -> TrialFacts:
    """Return the facts of a trial with its ceiling, if there is one."""
    if ceiling is None:
        return facts
    return replace(facts, client_ceiling_per_s=ceiling.per_s, client_ceiling_note=ceiling.note)


def fail_trial(context: Context, trial: Trial, preparation: str, reason: str) -> Outcome:
    """Write down that a trial could not be begun, and why."""
    folder = context.folder.trial(trial.name)
    facts = describe_trial(context, trial, preparation)
    write_trial(folder, replace(facts, ended_unix_s=time.time(), state="failed", reason=reason))
    outcome = Outcome(trial, "failed", reason, 0, 0.0, {})
    context.listener.trial_ended(outcome)
    return outcome


def describe_trial(context: Context, trial: Trial, preparation: str) -> TrialFacts:
    """Return `trial.json` as it is when a trial begins, if nothing is known of its system."""
    experiment, system = context.experiment, trial.system
    return TrialFacts(
        trial=trial.name,
        preparation=preparation,
        system=bare_name(system),
        label=system.label,
        client=trial.client,
        settings=given_settings(trial),
        embedded=False,
        attached=system.attached,
        durability={"class": "unknown", "reason": "the system was not started"},
        restart=experiment.restart,
        workload=str(trial.workload),
        options=experiment.options,
        rows=experiment.rows,
        clients=trial.clients,
        pipeline=trial.pipeline,
        network_delay_us=trial.network_delay_us,
        rate=_describe_rate(experiment.arrivals, trial.rate) if trial.rate else None,
        repeat=trial.repeat,
        seconds=experiment.seconds,
        warmup_seconds=experiment.warmup_seconds,
        warmup=experiment.warmup,
        client_cpus=experiment.cpus.client,
        load_threads=experiment.load_threads,
        data_dir=experiment.data_dir,
        variant=system.variant.words,
        started_unix_s=time.time(),
        state="running",
        server_counters={},
        pace=_describe_pace(experiment),
        client_groups=_describe_groups(experiment, trial),
    )


def _describe_pace(experiment: Experiment) -> PaceStated | None:
    """Return what all clients share of pauses and connections, if there is any."""
    if not (experiment.think_time or experiment.transactions_per_connection):
        return None
    return {
        "think_time": experiment.think_time.words if experiment.think_time else None,
        "transactions_per_connection": experiment.transactions_per_connection or 0,
    }


def _describe_groups(experiment: Experiment, trial: Trial) -> list[GroupStated] | None:
    """Return the groups of clients, if there are any."""
    if not experiment.groups:
        return None
    pairs = zip(experiment.groups, plan_groups(experiment, trial), strict=True)
    return [_describe_group(group, planned, trial) for group, planned in pairs]


def _describe_group(group: Group, planned: GroupDocument, trial: Trial) -> GroupStated:
    rate, think_time = group.rate_of(trial.workload.options), planned["think_time"]
    return {
        "name": group.name,
        "clients": planned["count"],
        "start_s": group.start_seconds,
        "rate": _describe_rate(group.arrivals, rate) if rate else None,
        "transactions": planned["options"].get("transactions"),
        "access": planned["options"].get("access"),
        "think_time": ThinkTime(kind=think_time["kind"], mean=think_time["mean_us"]).words if think_time else None,
        "transactions_per_connection": planned["transactions_per_connection"],
    }


def _describe_rate(arrivals: str | None, rate: Rate) -> RateStated:
    """Return a rate as `trial.json` has it, in the words of an experiment, and what a share is of."""
    by = arrivals or "constant"
    if rate.share:
        return {
            "arrivals": by,
            "per_s": rate.per_s[0] if rate.per_s else None,
            "share": rate.share,
            "capacity_per_s": rate.capacity_per_s,
            "capacity_of": rate.capacity_of,
            "words": rate.words,
        }
    if rate.shape == "ramp":
        return {"arrivals": by, "ramp": list(rate.per_s), "seconds": rate.seconds, "words": rate.words}
    if rate.shape == "steps":
        return {"arrivals": by, "steps": list(rate.per_s), "seconds": rate.seconds, "words": rate.words}
    return {"arrivals": by, "per_s": rate.per_s[0], "words": rate.words}


def given_settings(trial: Trial) -> dict[str, str]:
    """Return the settings the person gave; those of an arrangement's parts as `part.setting`."""
    own = dict(trial.system.settings)
    parts = {f"{part.name}.{key}": value for part in trial.system.parts for key, value in part.settings.items()}
    return own | parts


def judge(summary: Summary, folder: Path, death: str | None, interrupted: bool) -> tuple[str, str | None]:
    """Return a trial's state and why, from what the load client recorded and what became of the server."""
    if death:
        return "failed", f"{death} during the trial"
    # A store that has stopped answering fails its verification too, which says less of what happened.
    if not interrupted and (reason := why_unanswered(summary)):
        return "failed", reason
    if reason := why_it_failed(summary, folder):
        return ("interrupted" if interrupted else "failed"), reason
    if reason := _why_wrong(summary):
        return "failed", reason
    if summary.end and summary.end["status"] == "interrupted":
        return ("interrupted", "by the user") if interrupted else ("failed", f"{summary.program} was asked to end")
    return "complete", None


def _why_wrong(summary: Summary) -> str | None:
    """Return which answers or which checks were wrong, or None."""
    if summary.mismatches:
        return f"{summary.mismatches} rows read were not what was written"
    if summary.wrong_checks:
        check = summary.wrong_checks[0]
        note = f": {check['note']}" if check.get("note") else ""
        return f"check {check['name']}: expected {check['expected']}, found {check['found']}{note}"
    return None


def why_unanswered(summary: Summary) -> str | None:
    """Return what was observed of a store that answered nothing, or not to the end; None if it answered."""
    ended = summary.ended
    unanswered, in_flight = (ended.get("unanswered", 0), ended["unfinished"]) if ended else (0, 0)
    errors = ", ".join(f"{count:,} {kind}" for kind, count in summary.errors.items())
    seen = f"{in_flight:,} were in flight or waiting at the end" + (f"; errors: {errors}" if errors else "")
    if not summary.transactions and ended:
        begun = ended["scheduled"]
        if not begun:
            return f"no transaction was due in {summary.seconds:g} s: give more seconds or a higher rate"
        return f"nothing was answered: of {begun:,} transactions none was completed in {summary.seconds:g} s; {seen}"
    if unanswered:
        return f"the store stopped answering: {unanswered:,} operations had no answer after the end; {seen}"
    return None


def _counters(system: System) -> dict[str, dict[str, int]]:
    with suppress(RunFailed):
        return system.counters()
    return {}


def _log_sizes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in folder.glob("server-*.log")}


def _copy_logs(source: Path, sizes_before: dict[str, int], folder: Path) -> None:
    """Copy what each server logged since its log had the size it had before."""
    for path in source.glob("server-*.log"):
        with path.open("rb") as log:
            log.seek(sizes_before.get(path.name, 0))
            (folder / path.name).write_bytes(log.read())
