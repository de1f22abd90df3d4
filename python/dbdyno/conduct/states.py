"""The start of repetitions: the data loaded once and kept, if copying it is faster than loading it again."""

from dataclasses import dataclass, field

from dbdyno.experiment.system_spec import bare_name
from dbdyno.experiment.trials import Preparation
from dbdyno.experiment.workload_spec import WorkloadSpec
from dbdyno.systems.running.kept_data import KeptData

Key = tuple[str, WorkloadSpec]


@dataclass(frozen=True)
class Kept:
    """Loaded data of a system that has stopped; loaded_in: the preparation that loaded it."""

    data: KeptData
    loaded_in: str


@dataclass
class States:
    """The data directories that a run keeps, and the systems that are restored from them.

    That is decided once for all configurations of a system, by the first of them: sides of a comparison must not begin
    the one hot and the other restarted.
    """

    _kept: dict[Key, Kept] = field(default_factory=dict)
    _restored: dict[Key, bool] = field(default_factory=dict)
    _dropped: set[Key] = field(default_factory=set)

    def restored(self, preparation: Preparation) -> bool | None:
        """Return whether such systems are restored; None if that is yet to be found out."""
        if (preparation.system.label, preparation.workload) in self._dropped:
            return False
        return self._restored.get((bare_name(preparation.system), preparation.workload))

    def decide(self, preparation: Preparation, restored: bool) -> None:
        """Decide it for all of their configurations, unless that was done before."""
        self._restored.setdefault((bare_name(preparation.system), preparation.workload), restored)

    def find(self, preparation: Preparation) -> Kept | None:
        """Return what was kept of this configuration for this workload; None if it went with its host."""
        kept = self._kept.get((preparation.system.label, preparation.workload))
        return kept if kept and kept.data.is_there() else None

    def keep(self, preparation: Preparation, kept: Kept) -> None:
        """Keep it until the run ends, in place of what was kept before."""
        key = preparation.system.label, preparation.workload
        if lost := self._kept.get(key):
            lost.data.remove()
        self._kept[key] = kept

    def drop(self, preparation: Preparation) -> None:
        """Remove what was kept of this configuration, which is loaded from now on."""
        key = preparation.system.label, preparation.workload
        self._dropped.add(key)
        self._kept.pop(key).data.remove()

    def close(self) -> None:
        """Remove all that is kept."""
        while self._kept:
            self._kept.popitem()[1].data.remove()
