"""Reads and writes of PostgreSQL's pages by kind of process: its view `pg_stat_io`, there since version 16."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from dbdyno.systems.answers import Answer
from dbdyno.systems.probe import named

if TYPE_CHECKING:
    import psycopg

VIEW = "pg_stat_io"
WRITERS = ("client backend", "background writer", "checkpointer", "autovacuum worker")
"""The named kinds of processes; all others, a dozen kinds, are `other`."""
COUNTED = (
    *("page_reads_total", "page_writes_total", "page_extends_total", "file_flushes_total"),
    *("page_read_s_total", "page_write_s_total"),
)
"""Counters of each kind: pages read, written and added to files, flushes of files, times of reading and writing."""


def question(connection: psycopg.Connection[Answer]) -> str:
    """Return the statement that asks this version of a server. Raises psycopg.Error.

    Before version 18 the view counts pages; from then on operations of several, and their bytes.
    """
    rows = connection.execute("SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass", [VIEW]).fetchall()
    in_bytes = "read_bytes" in {row["attname"] for row in rows}
    pages = "sum({0}_bytes) FILTER ({1}) / current_setting('block_size')::int" if in_bytes else "sum({0}s) FILTER ({1})"
    # Without track_io_timing every time is 0, which is not how long it took.
    time_s = "CASE WHEN current_setting('track_io_timing')::bool THEN sum({0}_time) FILTER ({1}) / 1000 END"
    data = "WHERE object = 'relation'"
    figures = (
        *(pages.format(kind, data) for kind in ("read", "write", "extend")),
        f"sum(fsyncs) FILTER ({data})",
        *(time_s.format(kind, data) for kind in ("read", "write")),
    )
    kinds = ", ".join(f"'{kind}'" for kind in WRITERS)
    return (
        f"SELECT CASE WHEN backend_type IN ({kinds}) THEN replace(backend_type, ' ', '_') ELSE 'other' END AS who, "
        + ", ".join(f"{figure} AS {name}" for figure, name in zip(figures, COUNTED, strict=True))
        + f", sum(fsyncs) FILTER (WHERE object = 'wal') AS log_flushes FROM {VIEW} GROUP BY 1"
    )


def counters_of(rows: Iterable[Answer]) -> dict[str, float]:
    """Return what the answers to `question` count, as `<who>_<what>`; what a kind of process never does is left out.

    `wal_flushes_total`, which version 18 counts here and no longer in its view of the log, is of all together.
    """
    counters: dict[str, float] = {}
    for row in rows:
        counters |= named(row, {name: f"{row['who']}_{name}" for name in COUNTED})
        if row["log_flushes"] is not None:
            counters["wal_flushes_total"] = counters.get("wal_flushes_total", 0.0) + float(row["log_flushes"])
    return counters
