"""The kinds of workloads, each in its own module, and the list of them."""

from dbdyno.conduct.kinds.analysis import AnalysisKind
from dbdyno.conduct.kinds.base import WorkloadKind
from dbdyno.conduct.kinds.copy import CopyKind
from dbdyno.conduct.kinds.crash import CrashKind
from dbdyno.conduct.kinds.load import LoadKind
from dbdyno.conduct.kinds.program import ProgramKind
from dbdyno.experiment.workload_spec import WorkloadSpec
from dbdyno.experiment.workloads import Kind

KINDS: dict[Kind, WorkloadKind] = {
    Kind.LOAD: LoadKind(),
    Kind.PROGRAM: ProgramKind(),
    Kind.CRASH: CrashKind(),
    Kind.ANALYSIS: AnalysisKind(),
    Kind.COPY: CopyKind(),
}


def kind_of(workload: WorkloadSpec) -> WorkloadKind:
    """Return how a workload is conducted."""
    return KINDS[workload.kind]
