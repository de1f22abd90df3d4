"""What analytic workloads are shown as: a row for each query, columns for each store."""

from __future__ import annotations

from statistics import median

from rich.console import Console
from rich.table import Table
from rich.text import Text

from dbdyno.report.loads import Document


def analysed(shown: Document) -> list[Document]:
    """Return the trials of a run that are of an analytic workload and got as far as a query."""
    return [trial for trial in shown["trials"] if (trial.get("analysis") or {}).get("queries")]


def print_analyses(trials: list[Document], console: Console) -> None:
    """Print how the table was loaded, how long each query took, cold and hot, and where answers differ."""
    table = Table(box=None, padding=(0, 1), header_style="bold")
    table.add_column("s", no_wrap=True)
    for trial in trials:
        for heading in (f"{trial['label']}\ncold", "best", "median"):
            table.add_column(Text(heading, overflow="fold"), justify="right", vertical="bottom")
    for name in _queries(trials):
        table.add_row(name, *(cell for trial in trials for cell in _cells(trial, name)))
    console.print(table)
    for trial in trials:
        console.print(Text(loading(trial)), soft_wrap=True)
    console.print(Text(f"Cold: {trials[0]['analysis']['cold']}; then three times hot.", style="dim"), soft_wrap=True)
    console.print(Text(answers(trials)), soft_wrap=True)


def loading(trial: Document) -> str:
    """Say how the table came into a store, how fast, and how large it is there."""
    loaded = trial["loaded"]
    rows, size = loaded["rows"], loaded["size_bytes"]
    return (
        f"{trial['label']}: {rows:,} rows loaded in {loaded['seconds']:,.1f} s ({loaded['rows_per_s']:,.0f} rows/s) by "
        f"{loaded['by']}; {size / 1e6:,.1f} MB on disk, {size / max(rows, 1):.0f} bytes a row"
    )


def answers(trials: list[Document]) -> str:
    """Say whether all stores gave the same answers, and where not."""
    found = [
        f"{trial['label']}, {query['name']}: {query['differs']}"
        for trial in trials
        for query in trial["analysis"]["queries"]
        if query["differs"]
    ]
    if found:
        return "Answers DIFFER: " + "; ".join(found)
    return "All stores gave the same answers." if len(trials) > 1 else "Every answer was the same each time."


def _queries(trials: list[Document]) -> list[str]:
    return list(dict.fromkeys(one["name"] for trial in trials for one in trial["analysis"]["queries"]))


def _cells(trial: Document, name: str) -> list[str]:
    for query in trial["analysis"]["queries"]:
        if query["name"] == name:
            return [f"{seconds:.3f}" for seconds in (query["cold_s"], min(query["hot_s"]), median(query["hot_s"]))]
    return ["–"] * 3
