"""One system started and loaded, its trials, and its end."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from dbdyno.conduct.context import Context
from dbdyno.conduct.kinds import kind_of
from dbdyno.conduct.listener import Outcome
from dbdyno.conduct.loading import train
from dbdyno.conduct.states import Kept
from dbdyno.conduct.trial import Prepared, fail_trial
from dbdyno.conduct.until_flat import UntilFlat
from dbdyno.errors import BuildReplaced, DbdynoError, RunFailed
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.system_spec import bare_name
from dbdyno.experiment.trials import Preparation, Trial
from dbdyno.results.facts import PreparationFacts, SystemFacts
from dbdyno.results.json_types import OriginStated, ServerStated
from dbdyno.results.write import write_object, write_preparation
from dbdyno.systems.base import Launch, System
from dbdyno.systems.running.guard import Guard
from dbdyno.systems.running.volume import Volume

CONNECTIONS_PER_CLIENT_SPARE = 8
"""Connections beyond the clients': those of the loading and of dbdyno's own questions."""


def run_preparation(context: Context, preparation: Preparation) -> Iterator[Outcome]:
    """Run all trials of one preparation, or the rate searches that begin with them, yielding the outcome of each.

    After a server died it is started and loaded anew for the trials that are left; if that fails, they fail.
    Trials that an earlier session completed are not run again. If all are complete, nothing is started.
    Raises RunFailed if what was made on an attached store could not be removed.
    """
    context = replace(context, experiment=context.experiment.of(preparation.system))
    trials, until_flat = list(preparation.trials), UntilFlat(context)
    yield from _pass_complete(context, trials, until_flat)
    while trials and not context.interrupts.requested:
        name = context.folder.free_preparation(preparation.name)
        try:
            with prepared_system(context, preparation, name) as prepared:
                while trials and not context.interrupts.requested:
                    trial = trials.pop(0)
                    yield from kind_of(trial.workload).run(context, prepared, trial)
                    trials[:] = until_flat.after(trial, trials)
                    yield from _pass_complete(context, trials, until_flat)
                    if prepared.system.death():
                        break
        except DbdynoError as error:
            lacking = [trial for trial in trials if trial.name not in context.earlier.outcomes]
            if not lacking:
                raise
            for trial in trials:
                if trial in lacking:
                    failed = fail_trial(context, trial, name, str(error))
                    yield replace(failed, build_replaced=isinstance(error, BuildReplaced))
                else:
                    yield from context.earlier.outcomes_of(trial)
            return


def _pass_complete(context: Context, trials: list[Trial], until_flat: UntilFlat) -> Iterator[Outcome]:
    """Take the trials that an earlier session completed off the front of `trials`, and yield their outcomes."""
    while trials and context.earlier.is_complete(trials[0]):
        trial = trials.pop(0)
        yield from context.earlier.outcomes_of(trial)
        trials[:] = until_flat.after(trial, trials)


@contextmanager
def prepared_system(context: Context, preparation: Preparation, name: str) -> Iterator[Prepared]:
    """Start a system with its rows in it; afterwards clean up what is somebody else's, and stop what is dbdyno's.

    Raises UserError or RunFailed if it cannot be started or loaded.
    """
    context.listener.preparation_begins(preparation)
    volume = kind_of(preparation.workload).make_volume(context, preparation.workload)
    system = context.lineup.find(preparation.system, preparation.workload)
    making = _Making(context, preparation, system, context.folder.preparation(name), name, volume)
    failure: DbdynoError | None = None
    try:
        facts = making.restore() if _to_restore(context, preparation, making.system) else making.load()
        making.end("complete")
        yield Prepared(making.system, name, making.folder, facts, volume)
    except DbdynoError as error:
        failure = error
        making.end("failed", str(error))
        raise
    finally:
        try:
            if making.has_begun_to_load and preparation.system.attached and not context.experiment.keep:
                kind_of(preparation.workload).remove(context, preparation, making.system, making.folder)
        except RunFailed as left:
            if failure:
                # The first is the cause of the second, most likely.
                raise RunFailed(f"{failure}; {left}") from None
            raise
        finally:
            making.system.stop()
            if volume:
                volume.remove()


def _to_restore(context: Context, preparation: Preparation, system: System) -> bool:
    """Return whether to start from data that is kept, or to find out if that is faster."""
    if context.experiment.restart:
        return True
    if kind_of(preparation.workload).measures_load:
        return False
    return context.experiment.repeat > 1 and system.restorable and context.states.restored(preparation) is not False


class _Making:
    """A system being brought to the state that trials begin in."""

    def __init__(
        self,
        context: Context,
        preparation: Preparation,
        system: System,
        folder: Path,
        name: str,
        volume: Volume | None = None,
    ) -> None:
        self._context, self._preparation, self.system = context, preparation, system
        self.folder, self._name = folder, name
        # The copy for later repetitions outlives the volume, so it is loaded elsewhere and copied there.
        self._launch_to_keep = make_launch(context, folder)
        self._launch = replace(self._launch_to_keep, parent=volume.path if volume else None)
        self._known = PreparationFacts(
            preparation=name,
            system=bare_name(preparation.system),
            label=preparation.system.label,
            workload=str(preparation.workload),
            repeat=preparation.repeat,
            started_unix_s=time.time(),
        )
        self.has_begun_to_load = False

    def _write(self, known: PreparationFacts) -> None:
        self._known = known
        write_preparation(self.folder, known)

    def end(self, state: str, reason: str | None = None) -> None:
        """Write down how it ended."""
        self._write(replace(self._known, state=state, reason=reason))

    def load(self) -> SystemFacts:
        """Start it empty and load it; returns what its trials state of it."""
        return self._load(self._launch)

    def _load(self, launch: Launch) -> SystemFacts:
        began = time.time()
        self.system.start(launch)
        facts = self._facts(restored=False)
        self._write(replace(self._known.on(facts), start_seconds=round(time.time() - began, 3)))
        self._warn()
        folder = self.folder / "again" if self.has_begun_to_load else self.folder
        folder.mkdir(exist_ok=True)
        began, self.has_begun_to_load = time.time(), True
        loaded = kind_of(self._preparation.workload).load(self._context, self._preparation, self.system, folder)
        self._write(replace(self._known, load_seconds=round(time.time() - began, 3)))
        return loaded.stated_with(facts)

    def _warn(self) -> None:
        """Tell the owner of an attached server, once, what loading may cost."""
        if self._preparation.repeat == 1 and not self.has_begun_to_load:
            for sentence in self.system.cautions():
                self._context.listener.owner_is_warned(self._preparation.system.label, sentence)

    def restore(self) -> SystemFacts:
        """Start it on a copy of what was loaded once, now or earlier; returns what its trials state of it.

        If there is no room for copies, or the first one took longer than loading did, it is loaded after all, unless
        a restart was requested.
        """
        restart = self._context.experiment.restart
        states, preparation = self._context.states, self._preparation
        if (kept := states.find(preparation)) is None:
            kept = self._load_and_keep()
            if not kept.data.has_room():
                if restart:
                    raise RunFailed("restart: there is no room for a copy of the loaded data; set DBDYNO_DATA_DIR")
                return self._give_up("there is no room for a copy of the data")
        began = time.time()
        self.system.start(replace(self._launch, data=kept.data.path, cold=restart == "cold"))
        took_s = time.time() - began
        fresh_s = (self._known.start_seconds or 0.0) + (self._known.load_seconds or 0.0)
        if not restart and states.restored(preparation) is None and took_s > fresh_s:
            self.system.stop()
            return self._give_up(f"copy and start took {took_s:.1f} s, start and load {fresh_s:.1f} s")
        states.decide(preparation, True)
        facts = self._facts(restored=True)
        self._write(replace(self._known.on(facts), restore_seconds=round(took_s, 3), loaded_in=kept.loaded_in))
        return facts

    def _load_and_keep(self) -> Kept:
        self._load(self._launch_to_keep)
        if self._context.experiment.train_seconds:
            train(self._context, self._preparation, self.system, self.folder / "train")
        kept = Kept(self.system.keep(), self._name)
        self._context.states.keep(self._preparation, kept)
        return kept

    def _give_up(self, why: str) -> SystemFacts:
        self._write(replace(self._known, not_restored=why))
        self._context.states.decide(self._preparation, False)
        self._context.states.drop(self._preparation)
        return self.load()

    def _facts(self, restored: bool) -> SystemFacts:
        answered_unix_s = time.time()
        write_object(self.folder / "settings.json", self.system.all_settings())
        return describe_system(self.system, self._context.experiment, answered_unix_s, restored)


def make_launch(context: Context, log_folder: Path) -> Launch:
    """Return what a system is started with, for the most clients any trial has."""
    return make_launch_of(context.experiment, context.guard, log_folder)


def make_launch_of(experiment: Experiment, guard: Guard, log_folder: Path) -> Launch:
    """Return what a system is started with by an experiment."""
    return Launch(
        guard,
        log_folder,
        connections_of(experiment) + CONNECTIONS_PER_CLIENT_SPARE,
        experiment.rows,
        tuple(experiment.cpus.server) if experiment.cpus.server else None,
        experiment.memory_limit_bytes,
        answer_timeout_s=experiment.operation_timeout_seconds,
        data_dir=experiment.data_directory,
    )


def connections_of(experiment: Experiment) -> int:
    """Return how many connections a server has at once; one that was closed may be there while the next is opened."""
    of_groups = any(group.transactions_per_connection for group in experiment.groups)
    is_short_lived = bool(experiment.transactions_per_connection) or of_groups
    return max(experiment.clients) * (2 if is_short_lived else 1)


def describe_system(
    system: System, experiment: Experiment, answered_unix_s: float, restored: bool = False
) -> SystemFacts:
    """Return what is in force and what it promises, as `trial.json` has it; only what dbdyno started is pinned."""
    durability = system.durability()
    started, is_cold = bool(system.server_pids()), restored and experiment.restart == "cold"
    return SystemFacts(
        {
            "servers": _describe_servers(system),
            "embedded": system.embedded,
            "server_cpus": experiment.cpus.server if started else None,
            "memory_limit_bytes": experiment.memory_limit_bytes if started else None,
            "durability": {"class": durability.level, "reason": durability.reason},
            "levers": dict(system.levers),
            "background_threads": dict(system.background_threads),
            "data": "restored" if restored else "loaded",
            "cache_state": "cold" if is_cold else system.cache_state(restored),
            "answered_unix_s": answered_unix_s,
        }
    )


def _describe_servers(system: System) -> list[ServerStated]:
    """Return each server with the options, the build and the configuration file that dbdyno started it with."""
    command_lines, origins = system.started_with(), system.origins()
    of_no_path: OriginStated = {"build": None, "config": None}
    return [
        {
            **server,
            "started_with": command_lines.get(server["name"]),
            **of_no_path,
            **origins.get(server["name"], OriginStated()),
        }
        for server in system.servers()
    ]
