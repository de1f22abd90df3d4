"""Memory of a server for each connection: the same system with few and with many clients that only hold theirs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING

from rich.console import Console

from dbdyno.report.core import words
from dbdyno.report.core.terminal import Column, print_columns

if TYPE_CHECKING:
    from dbdyno.report.core.documents import ConnectionMemoryDocument
    from dbdyno.report.core.trial_documents import TrialDocument

CLIENT = "client"
"""The process of the load client, as it is observed."""
HEADINGS = ("", "clients", "a connection", "lowest", "highest")


def connection_memory(trials: Iterable[TrialDocument]) -> list[ConnectionMemoryDocument]:
    """Return, for each system that held idle connections, its memory for one more of them.

    A client is idle if it thinks after each transaction and completed at most one. `bytes` is the slope between the
    fewest and the most clients, of the servers' memory that no file and no other process shares; `lowest` and
    `highest` are those of single repetitions.
    """
    by_label: dict[str, dict[int, dict[int, int]]] = {}
    for trial in trials:
        if _is_idle(trial) and (private_bytes := _of_servers(trial)) is not None:
            of_clients = by_label.setdefault(trial["label"], {}).setdefault(trial["clients"] or 0, {})
            of_clients[trial["repeat"] or 1] = private_bytes
    return [_slope(label, seen) for label, seen in by_label.items() if len(seen) > 1]


def _is_idle(trial: TrialDocument) -> bool:
    pace = trial.get("pace")
    thinks = bool(pace and pace["think_time"])
    return thinks and trial["state"] == "complete" and (trial["transactions"] or 0) <= (trial["clients"] or 0)


def _of_servers(trial: TrialDocument) -> int | None:
    """Return the memory of all servers that were observed; `None` if it is not known of each."""
    known = [process["private_bytes"] for process in trial["processes"] if process["process"] != CLIENT]
    return sum(filter(None, known)) if known and None not in known else None


def _slope(label: str, seen: Mapping[int, Mapping[int, int]]) -> ConnectionMemoryDocument:
    fewest, most = min(seen), max(seen)
    both = sorted(seen[fewest].keys() & seen[most].keys())
    slopes = [(seen[most][repeat] - seen[fewest][repeat]) / (most - fewest) for repeat in both]
    whole = (median(seen[most].values()) - median(seen[fewest].values())) / (most - fewest)
    return {
        "label": label,
        "fewest_clients": fewest,
        "most_clients": most,
        "bytes": round(whole),
        "lowest": round(min(slopes, default=whole)),
        "highest": round(max(slopes, default=whole)),
        "repetitions": len(both),
    }


def per_connection(costs: Sequence[ConnectionMemoryDocument]) -> Iterator[str]:
    """Yield what each system takes for an idle connection, the least first."""
    for cost in sorted(costs, key=lambda cost: cost["bytes"]):
        more = cost["most_clients"] - cost["fewest_clients"]
        yield (
            f"{cost['label']} takes {words.short_bytes(cost['bytes'])}{_span(cost)} of memory for each of "
            f"{more:,} idle connections."
        )


def _span(cost: ConnectionMemoryDocument) -> str:
    lowest, highest = words.short_bytes(cost["lowest"]), words.short_bytes(cost["highest"])
    return f" ({lowest} to {highest})" if cost["repetitions"] > 1 else ""


def print_costs(costs: Sequence[ConnectionMemoryDocument], console: Console, indent: int = 0) -> bool:
    """Print a row for each system, the least memory first. Returns whether there is one."""
    rows = [_cells(cost) for cost in sorted(costs, key=lambda cost: cost["bytes"])]
    cells = zip(HEADINGS, zip(*rows, strict=True), strict=True) if rows else ()
    columns = [Column(heading, column, left=not heading, style="" if heading else "bold") for heading, column in cells]
    if columns:
        print_columns(columns, console, indent)
    return bool(columns)


def _cells(cost: ConnectionMemoryDocument) -> list[str]:
    sizes = [words.short_bytes(cost[key]) for key in ("bytes", "lowest", "highest")]
    return [cost["label"], f"{cost['fewest_clients']:,} and {cost['most_clients']:,}", *sizes]
