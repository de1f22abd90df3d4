"""`dbdyno run --resume`: runs the trials that an interrupted run lacks, in its folder.

The experiment, its seed and the order of the trials are those of the folder. Complete trials are kept as they are. The
records of others go to `earlier/01`, `earlier/02` … before they are run again (docs/run-folder.md, "A resumed run").
"""

import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import cast

from dbdyno.conduct.beginning import Beginning, Opened, describe_conditions, describe_session, recording
from dbdyno.conduct.confirm import CUT_SHORT
from dbdyno.conduct.context import Context, data_of
from dbdyno.conduct.earlier import Earlier
from dbdyno.conduct.journal import Journal
from dbdyno.conduct.kinds import kind_of
from dbdyno.conduct.listener import Listener, Outcome
from dbdyno.conduct.pairs import Rule, passes_of
from dbdyno.conduct.preparation import make_launch_of
from dbdyno.conduct.resolve import Resolved
from dbdyno.conduct.run import RunEnd, conduct_from
from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.read import NamedExperiment, read_experiment
from dbdyno.experiment.system_spec import bare_name
from dbdyno.experiment.trials import Preparation, Trial, expand, is_step_of
from dbdyno.results.environment import Environment, read_environment
from dbdyno.results.facts import PreparationFacts, RunFacts, TrialFacts
from dbdyno.results.foreign_content import understood
from dbdyno.results.json_types import BuildStated, OriginStated, ServerStated, SessionStated
from dbdyno.results.jsonfiles import read_object
from dbdyno.results.lock import locked
from dbdyno.results.model import Trial as Recorded
from dbdyno.results.profile import is_profiled
from dbdyno.results.read import read_run_json, read_trial
from dbdyno.results.write import RunFolder
from dbdyno.systems.running.guard import Guard
from dbdyno.verdict.limits import RATE

_MUST_BE_SAME = {
    "host": "the host",
    "kernel": "the kernel",
    "system": "the system",
    "cpu_model": "the processor",
    "cpus": "the number of processors",
    "cpus_usable": "the usable processors",
    "cpu_governor": "the CPU governor",
    "sched_autogroup": "sched_autogroup",
    "transparent_hugepage": "transparent_hugepage",
    "virtualization": "the virtualization",
    "dbdyno": "dbdyno",
    "dbdyno_load_sha256": "the SHA-256 of dbdyno-load",
}
"""Facts of `environment.json` without which figures of two sessions cannot be compared."""
_SHOWN = 40
"""Characters of a fact in a message: a hash or a version needs no more."""
_WRITTEN = ("preparations", "ceilings", "trials", "confirmations")
_MAY_DIFFER = {"python": "Python", "memory_bytes": "the memory in bytes"}
"""Facts that no figure depends on as long as everything fits: a difference is a warning in the run."""


def resume(
    path: Path, command: str, listener: Listener, rule: Rule | None = None, named: NamedExperiment | None = None
) -> RunEnd:
    """Run what a run's folder lacks, then what the rule wants beside, and return how the whole run ended.

    command: what a person typed. rule: which comparisons need more pairs. named: its experiment with all passwords, if
    the caller has it; the folder's has none.
    Raises UserError if the run still goes on, or cannot go on on this host as it began.
    """
    with locked(path):
        with understood(path):
            run = ResumedRun(path, command)
        return conduct_from(run, named or run.named, listener, rule)


class ResumedRun(Beginning):
    """A run whose folder has some of its trials; its lock must be held."""

    def __init__(self, path: Path, command: str) -> None:
        self._path, self._command = path, command
        document = read_run_json(path)
        self._facts, self._keys = RunFacts.read(document), tuple(document)
        if not (path / "experiment.toml").is_file():
            again = self._facts.command
            raise UserError(f"{path}: ended before anything was recorded; run it again: {again}")
        read = read_experiment(str(path / "experiment.toml"))
        self.named = NamedExperiment(str(document["experiment"]), read.experiment)
        self._environment = read_environment(path)
        self._warnings = list(_warnings(path, self._environment, describe_conditions()))
        self._earlier = Earlier()
        self._names: list[str] = []

    def choose(self, resolved: Resolved) -> Resolved:
        """Return the systems that the run began with; one that was left out then stays so."""
        with understood(self._path):
            labels = self._facts.systems
            left_out = {system["system"]: system["reason"] for system in self._facts.skipped}
        there = {spec.label: spec for spec in resolved.systems}
        missing = {spec.label: reason for spec, reason in resolved.skipped}
        if lacking := [label for label in labels if label not in there]:
            why = missing.get(lacking[0], "is not in experiment.toml")
            raise UserError(f"{self._path}: {lacking[0]}: {why}")
        specs = [*resolved.systems, *(spec for spec, _ in resolved.skipped)]
        skipped = [(spec, left_out[spec.label]) for spec in specs if spec.label in left_out]
        return replace(resolved, systems=[there[label] for label in labels], skipped=skipped)

    def plan(self, experiment: Experiment, resolved: Resolved) -> list[Preparation]:
        with understood(self._path):
            names = self._facts.trials
            planned = expand(experiment, resolved.systems)
            planned += passes_of(experiment, resolved.systems, planned, names, self._facts.passes or ())
            firsts = {trial.name: trial for preparation in planned for trial in preparation.trials}
            searches = firsts if experiment.find_rate else {}
            unknown = [name for name in names if name not in firsts and not _search_of(name, searches)]
            left_out = [name for name in firsts if name not in names]
            if unknown or (left_out and experiment.until_flat is None):
                name = [*unknown, *left_out][0]
                raise UserError(f"{self._path}: experiment.toml and run.json differ in the trial {name}")
            self._earlier, self._names = self._completed(experiment, firsts)
        return [
            replace(preparation, trials=tuple(trial for trial in preparation.trials if trial.name in names))
            for preparation in planned
        ]

    def _completed(self, experiment: Experiment, firsts: Mapping[str, Trial]) -> tuple[Earlier, list[str]]:
        """Return what is complete, and the names of all trials that are still planned.

        A search whose closed loop is not complete begins anew, at other rates, so its steps are no longer planned.
        """
        outcomes: dict[str, Outcome] = {}
        servers: dict[str, Sequence[ServerStated]] = {}
        client_builds: dict[str, BuildStated] = {}
        names: list[str] = []
        for name in self._facts.trials:
            first = firsts.get(name) or firsts[_search_of(name, firsts)]
            if name != first.name and first.name not in outcomes:
                continue
            names.append(name)
            if (recorded := _read_complete(self._path, name, experiment)) is not None:
                outcomes[name] = _outcome_of(replace(first, name=name), recorded)
                servers.setdefault(recorded.label, recorded.facts.servers or ())
                if recorded.facts.client_build:
                    client_builds.setdefault(recorded.label, recorded.facts.client_build)
        concluded = (search for search in self._facts.find_rate or () if search["open_above"] is not None)
        searched = frozenset(search["first"] for search in concluded if search["first"] in outcomes)
        return Earlier(outcomes, searched, servers, client_builds), names

    def try_out(
        self, experiment: Experiment, resolved: Resolved, preparations: list[Preparation], guard: Guard
    ) -> None:
        """Start and stop every system that is still needed; raises UserError if it is another than it was."""
        tried: set[str] = set()
        for preparation in preparations:
            label = preparation.system.label
            if label in tried or all(map(self._earlier.is_complete, preparation.trials)):
                continue
            tried.add(label)
            system = resolved.lineup.find(preparation.system, preparation.workload)
            with guard.scratch() as logs:
                try:
                    system.start(make_launch_of(experiment.of(preparation.system), guard, logs))
                    origins, started = system.origins(), system.servers()
                    servers: list[ServerStated] = [
                        {**server, **origins.get(server["name"], OriginStated())} for server in started
                    ]
                    self._earlier.refuse_other_servers(label, servers)
                except RunFailed as failure:
                    raise UserError(f"{self._path}: {failure}") from None
                finally:
                    system.stop()

    @contextmanager
    def opened(self, named: NamedExperiment, resolved: Resolved, preparations: list[Preparation]) -> Iterator[Opened]:
        folder = RunFolder(self._path)
        with understood(self._path), recording(self._path):
            sessions = self._sessions()
            kept = folder.earlier()
            for file in ("run.json", "environment.json"):
                if (self._path / file).exists():
                    shutil.copy2(self._path / file, kept / file)
            sessions[-1]["records"] = str(kept.relative_to(self._path))
            _move_incomplete(self._path, kept, self._earlier.outcomes)
            sessions.append({"started_unix_s": time.time(), "command": self._command, "warnings": self._warnings})
            journal = Journal(folder, self._resumed(sessions), (*self._keys, "sessions"))
        yield folder, journal

    def _resumed(self, sessions: list[SessionStated]) -> RunFacts:
        """Return `run.json` as the run goes on; a search without an answer is not in it yet."""
        searches = self._facts.find_rate
        if searches is not None:
            searches = [search for search in searches if search["first"] in self._earlier.searched]
        return replace(
            self._facts,
            state="running",
            reason=None,
            ended_unix_s=None,
            trials=self._names,
            find_rate=searches,
            sessions=sessions,
        )

    def _sessions(self) -> list[SessionStated]:
        """Return all sessions so far; of one that was killed, the last thing it wrote is its end."""
        facts = self._facts
        first: SessionStated = {"started_unix_s": facts.started_unix_s, "command": facts.command}
        sessions = [session.copy() for session in facts.sessions or [first]]
        written = [self._path / "run.json", *(file for kind in _WRITTEN for file in self._path.glob(f"{kind}/*/*"))]
        ended = facts.ended_unix_s or max(file.stat().st_mtime for file in written)
        sessions[-1] |= {"ended_unix_s": ended, "state": facts.state, "reason": facts.reason}
        return sessions

    def recall(self, context: Context, preparations: list[Preparation]) -> Context:
        """Return the context with what is complete, how systems were prepared, and what queries were answered."""
        with understood(self._path):
            self._recall(context, preparations)
        return replace(context, earlier=self._earlier)

    def _recall(self, context: Context, preparations: list[Preparation]) -> None:
        files = sorted(self._path.glob("preparations/*/preparation.json"))
        prepared = [PreparationFacts.read(read_object(file)) for file in files]
        for preparation in preparations:
            like = bare_name(preparation.system), str(preparation.workload)
            alike = [facts for facts in prepared if (facts.system, facts.workload) == like]
            restored = any(facts.data == "restored" for facts in alike)
            if restored or any(facts.not_restored is not None for facts in alike):
                context.states.decide(preparation, restored)
        for outcome in self._earlier.outcomes.values():
            facts = TrialFacts.read(read_object(self._path / "trials" / outcome.trial.name / "trial.json"))
            for query in facts.analysis["queries"] if facts.analysis else ():
                asked = data_of(context.experiment.of(outcome.trial.system), outcome.trial.workload), query["name"]
                context.answers.setdefault(asked, (outcome.trial.system.label, query["answer"]))

    def describe(self, context: Context) -> Environment:
        """Add what the host is now to what it was when the run began, and return both."""
        session = describe_session(context)
        environment = cast(Environment, dict(self._environment or session))
        environment.pop("measured_after", None)
        if self._environment:
            environment["resumed"] = [*environment.get("resumed", ()), session]
        context.folder.write_environment(environment)
        return environment


def _search_of(name: str, firsts: Iterable[str]) -> str:
    """Return the first trial of the search that a step belongs to, or an empty text if it is no step."""
    return next((first for first in firsts if is_step_of(name, first)), "")


def _warnings(path: Path, before: Mapping[str, object], now: Mapping[str, object]) -> Iterator[str]:
    """Yield what differs and may; raises UserError for what must not differ between sessions."""
    for key, what in (_MUST_BE_SAME | _MAY_DIFFER).items() if before else ():
        if before.get(key) == now.get(key):
            continue
        differs = f"{what} was {_brief(before.get(key))} and is {_brief(now.get(key))}"
        if key in _MUST_BE_SAME:
            raise UserError(f"{path}: cannot be resumed: {differs}; run the experiment anew")
        yield differs


def _brief(fact: object) -> str:
    text = "unknown" if fact is None else str(fact)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _read_complete(path: Path, name: str, experiment: Experiment) -> Recorded | None:
    """Return a trial that ran to its end with all that the experiment wants of it; None for any other."""
    folder = path / "trials" / name
    # A trial that cannot be read is run again.
    with suppress(UserError):
        trial = read_trial(folder)
        if trial.state != "complete" or (experiment.profile and not is_profiled(folder / "profile")):
            return None
        verdict = trial.judged.verdict if trial.judged else None
        # Steps of a search are not confirmed.
        to_confirm = experiment.confirm_limit and not experiment.find_rate and verdict and verdict.limit != RATE
        confirmed = trial.confirmation is not None and trial.confirmation.why_not != CUT_SHORT
        return trial if confirmed or not to_confirm else None
    return None


def _outcome_of(trial: Trial, recorded: Recorded) -> Outcome:
    """Return the outcome of a complete trial, as it was when it ended."""
    errors: dict[str, int] = {}
    if kind_of(trial.workload).errors_count:
        for interval in recorded.recorded.intervals:
            for kind, count in interval.errors.items():
                errors[kind] = errors.get(kind, 0) + count
    return Outcome(trial, "complete", None, recorded.recorded.completed, recorded.recorded.seconds, errors)


def _move_incomplete(path: Path, to: Path, complete: Mapping[str, Outcome]) -> None:
    """Move the records of trials that are not complete, and of their confirmations, to an earlier session's folder."""
    for kind in ("trials", "confirmations"):
        for folder in sorted(path.glob(f"{kind}/*")):
            if folder.name.removesuffix("-counted") not in complete:
                (to / kind).mkdir(exist_ok=True)
                folder.rename(to / kind / folder.name)
