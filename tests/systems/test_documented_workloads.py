"""The table in docs/systems.md says which workloads each private server runs: it is what systems declare."""

import re
from pathlib import Path

import pytest

from dbdyno.experiment.system_spec import parse_system
from dbdyno.experiment.workload_spec import WorkloadSpec, missing_operations
from dbdyno.experiment.workloads import WORKLOADS, Kind
from dbdyno.systems import SYSTEMS, build

DOCUMENT = Path(__file__).parents[2] / "docs" / "systems.md"
ALL_BUT = "all but "
CODE = re.compile(r"`([^`]+)`")


def documented() -> list[tuple[str, set[str]]]:
    """Return every system that the table starts privately, with the workloads in its row."""
    _, text = DOCUMENT.read_text(encoding="utf-8").split("## Which workloads each system runs\n", 1)
    table, _ = text.split("\n\n## ", 1)
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("|")][2:]
    return [(system, _workloads(row[3].strip())) for row in rows for system in CODE.findall(row[1])]


def _workloads(cell: str) -> set[str]:
    named = set(CODE.findall(cell))
    assert named <= WORKLOADS.keys()
    return WORKLOADS.keys() - named if cell.startswith(ALL_BUT) else named


def declared(text: str) -> set[str]:
    """Return the workloads, with the first value of each option, that a system can run."""
    system = build(parse_system(text))
    return {
        name
        for name, workload in WORKLOADS.items()
        if not missing_operations(WorkloadSpec(workload, {}, {}), system.operations)
        and (system.can_crash or workload.kind is not Kind.CRASH)
    }


@pytest.mark.parametrize(("system", "workloads"), documented(), ids=[system for system, _ in documented()])
def test_a_system_runs_what_is_documented(system, workloads):
    assert workloads == declared(system)


def test_every_system_is_in_the_table():
    assert {parse_system(system).name for system, _ in documented()} == SYSTEMS.keys() - {"spread"}
