"""The systems of a run, each built once for each workload."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dbdyno.experiment.model import Experiment
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.workload_spec import WorkloadSpec
from dbdyno.hosts.crew import Crew
from dbdyno.hosts.elsewhere import assign
from dbdyno.systems import build, sized
from dbdyno.systems.base import System


@dataclass(frozen=True)
class Lineup:
    """The systems of a run, by configuration and workload: a share of the data is another size for each workload.

    A system is started and stopped for each preparation, one after the other.
    """

    _systems: Mapping[tuple[str, WorkloadSpec], System]

    def find(self, spec: SystemSpec, workload: WorkloadSpec) -> System:
        """Return the system of a configuration for a workload."""
        return self._systems[spec.label, workload]

    def assign(self, crew: Crew, hosts: Sequence[str]) -> None:
        """Put the servers of each system on the run's server hosts."""
        for system in self._systems.values():
            assign(system, crew, hosts)


def build_lineup(experiment: Experiment, specs: Iterable[SystemSpec]) -> Lineup:
    """Build every system for every workload; raises UserError if there is none or it cannot be so."""
    return Lineup(
        {
            (spec.label, workload): build(sized(spec, workload.data_bytes(own.rows)))
            for spec in specs
            for own in (experiment.of(spec),)
            for workload in own.workload
        }
    )
