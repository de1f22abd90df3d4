"""The limit that vacuuming is: it takes processors or the disk from clients (docs/statistics.md, section 5.4)."""

from __future__ import annotations

from collections.abc import Iterator

from dbdyno.verdict.evidence import Measured, disk, processors_filled

WORKERS = "autovacuum worker"
"""The name of the processes that vacuum and analyse tables, as they call themselves."""
VACUUM_CPU = 0.2
"""Share of a server's processor time that vacuuming takes, if the server uses all it may."""
VACUUM_PAGES = 0.5
"""Share of the pages that a server reads and writes, of a disk that is waited for."""
LEAST_PAGES_PER_S = 10
_KINDS = ("client_backend", "background_writer", "checkpointer", "autovacuum_worker", "other")


def vacuum(measured: Measured) -> Iterator[str]:
    """Yield what says that vacuuming took the processors or the disk from the clients."""
    for server in measured.trial.server_names:
        yield from _on_processors(measured, server)
        yield from _on_disks(measured, server)


def _on_processors(measured: Measured, server: str) -> Iterator[str]:
    used, cores = processors_filled(measured, server), measured.of_threads(server, f"{WORKERS}.cores")
    if used and cores >= VACUUM_CPU * used:
        yield f"vacuuming and analysing took {cores / used:.0%} of the {used:.2f} processors that {server} could use"


def _on_disks(measured: Measured, server: str) -> Iterator[str]:
    pages = {
        kind: sum(measured.rate(f"store.{server}.{kind}_page_{what}_total") or 0.0 for what in ("reads", "writes"))
        for kind in _KINDS
    }
    vacuumed, total = pages["autovacuum_worker"], sum(pages.values())
    if vacuumed >= max(LEAST_PAGES_PER_S, VACUUM_PAGES * total) and (waited := next(disk(measured), None)):
        yield f"{waited}, and {server} read and wrote {total:,.0f} pages/s, {vacuumed / total:.0%} of them to vacuum"
