"""The table of limits in docs/what-limited-it.md: every limit that a verdict can name, and what to try."""

from scripts.reference.markdown import table

from dbdyno.verdict import limits
from dbdyno.verdict.limits import LIMITS

TRY = {
    limits.CLIENT: "The figure is a lower bound. Give the client more processors, or move the server to another host.",
    limits.NETWORK: "A shorter way, or several requests at once (`--pipeline`).",
    limits.SERVER_QUEUE: "More threads or connections in the server's pool.",
    limits.SERVER_CPU: "More cores or cheaper statements. `--profile` shows where the time goes.",
    limits.SERVER_THREAD: "More of the server's own threads, such as `io-threads` or `threads`, or several servers.",
    limits.HOST_CPU: "Pin client and server apart, or move one of them to another host.",
    limits.OTHERS: "Stop the other programs, or use a quieter host. `dbdyno doctor` names the busiest.",
    limits.MEMORY: "More memory for the server, or smaller caches of its own.",
    limits.CHECKPOINT: "A larger redo log, or more I/O capacity for flushing pages.",
    limits.COMPACTION: "Larger write buffers, more background threads, or a slower stream of writes.",
    limits.DISK: "A larger cache or a faster device.",
    limits.LOCK: "Fewer clients on the same rows, or shorter transactions. The report names the lock.",
    limits.COMMIT: "A faster device, group commit, or a weaker [durability class](durability-classes.md).",
    limits.RATE: "The store can do more: a higher `--rate`, or `--find-rate`.",
    limits.STALLS: "Look at throughput over time in the report, and at what the server did in those seconds.",
    limits.UNEXPLAINED: "Read *not seen* in the report. As root dbdyno sees more.",
}


def limits_table() -> str:
    """Return the table; raises ValueError if a limit has no advice."""
    if wrong := LIMITS.keys() ^ TRY.keys():
        raise ValueError(f"TRY in scripts/reference/limits.py: add or remove {', '.join(sorted(wrong))}")
    rows = ((limit.label, _where(limit), TRY[name]) for name, limit in LIMITS.items())
    return table(("Limit", "The operations were", "Try"), rows)


def _where(limit: limits.Limit) -> str:
    return limit.held or "done at the requested rate"
