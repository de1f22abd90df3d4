"""The page of workloads: what each does, its options, and what it needs of a store."""

from pathlib import Path

from scripts.reference.markdown import code, page, prose, table

from dbdyno.experiment.workloads import WORDS, WORKLOADS, Kind, Workload

INTRODUCTION = """
A workload is the transaction that each client repeats. You can also [declare your own](../own-workload.md).
[Systems and what they run](systems.md) has the workloads of each system.
"""
KINDS = {
    Kind.LOAD: "clients of dbdyno-load run transactions",
    Kind.PROGRAM: "another program runs the load",
    Kind.CRASH: "the store is killed under load, and then read back",
    Kind.ANALYSIS: "dbdyno loads a table in bulk and asks one query at a time",
    Kind.COPY: "the store's own tools dump and restore its tables",
}
PAGES = {"replication-lag": "multi-master"}
"""The page of the experiment that a workload is in, if it is not named after the workload."""


def workloads_page(root: Path) -> str:
    """Return the page of workloads."""
    rows = [(f"[{name}](#{name})", workload.what) for name, workload in WORKLOADS.items()]
    sections = [part for workload in WORKLOADS.values() for part in _section(workload, root)]
    return page(
        "Workloads and their options", prose(INTRODUCTION), table(("Workload", "One transaction"), rows), *sections
    )


def _section(workload: Workload, root: Path) -> list[str]:
    """Return the parts of one workload's section."""
    name = PAGES.get(workload.name, workload.name)
    needs = "; ".join(WORDS[operation] for operation in workload.operations)
    rows = [
        ("Conducted", KINDS[workload.kind]),
        ("A store must", needs),
        ("Size of a row", f"{workload.row_bytes:,} bytes" if workload.row_bytes else "depends on its options"),
    ]
    if (root / f"docs/experiments/{name}.md").exists():
        rows.append(("Experiment", f"[{name}](../experiments/{name}.md)"))
    return [f"## {workload.name}", table(("", workload.what), rows), _options(workload)]


def _options(workload: Workload) -> str:
    """Return the table of options; the default is the first value, and of a text the load client's own."""
    rows = [(code(option), _values(workload, option), _default(workload, option)) for option in workload.options]
    return table(("Option", "Values", "Default"), rows) if rows else ""


def _values(workload: Workload, option: str) -> str:
    return workload.values(option).replace(" | ", ", ")


def _default(workload: Workload, option: str) -> str:
    values = workload.options[option]
    return code(values[0]) if isinstance(values, tuple) and values else ""
