"""The results of a resumed run's earlier sessions: trials that are kept as they are."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dbdyno.conduct.listener import Outcome
from dbdyno.errors import BuildReplaced, RunFailed
from dbdyno.experiment.trials import Trial, is_step_of
from dbdyno.results.json_types import BuildStated, ServerStated


@dataclass(frozen=True)
class Earlier:
    """The trials that need not be run again; none in a new run.

    outcomes: of the complete trials and steps of searches, by name. searched: first trials of the rate searches that
    came to an answer; a search that did not goes on behind its complete steps. servers: those of the complete trials,
    by the label of their system, as `trial.json` has them. client_builds: the same of the clients named by a path.
    """

    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    searched: frozenset[str] = frozenset()
    servers: Mapping[str, Sequence[ServerStated]] = field(default_factory=dict)
    client_builds: Mapping[str, BuildStated] = field(default_factory=dict)

    def is_complete(self, trial: Trial) -> bool:
        """Return whether a trial, or the search that begins with it, is complete."""
        return trial.name in self.outcomes and (trial.step is None or trial.name in self.searched)

    def outcomes_of(self, trial: Trial) -> Iterator[Outcome]:
        """Yield the outcome of a complete trial, or of each step of a complete search."""
        if trial.step is None:
            yield self.outcomes[trial.name]
            return
        for name, outcome in self.outcomes.items():
            if name == trial.name or is_step_of(name, trial.name):
                # An operation that failed at some rate is a result of the search.
                yield replace(outcome, errors={})

    def refuse_other_servers(self, label: str, servers: Sequence[ServerStated]) -> None:
        """Raise RunFailed if a system is now another than in its complete trials: version, build or configuration.

        Another build is BuildReplaced.
        """
        for before, now in zip(self.servers.get(label, ()), servers, strict=False):
            for what, old, new in zip(_IDENTITY, _identity(before), _identity(now), strict=True):
                # A library that is not loaded yet says no version.
                if old != new and (what != "version" or (old and new)):
                    failed = BuildReplaced if what == "build" else RunFailed
                    raise failed(f"{label}: {now['name']} has {what} {new}, and had {old} in the complete trials")

    def refuse_other_client(self, label: str, build: BuildStated | None) -> None:
        """Raise BuildReplaced if a client's file is another one than in the complete trials of a system."""
        before = self.client_builds.get(label)
        if before and build and before["sha256"] != build["sha256"]:
            raise BuildReplaced(f"{label}: {build['path']} is another build than in the complete trials")


_IDENTITY = ("version", "build", "configuration file")


def _identity(server: ServerStated) -> tuple[str | None, str | None, str | None]:
    build, config = server.get("build"), server.get("config")
    return server.get("version"), build["sha256"] if build else None, config["sha256"] if config else None
