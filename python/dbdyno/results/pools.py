"""InnoDB's buffer pools that hold much less than their size says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dbdyno.contract import JsonObject
    from dbdyno.results.facts import TrialFacts

MUCH_FREE_SHARE = 0.25
"""Share of a pool from which its free pages are said. With the defaults of MariaDB (128 MiB) it is 0.19."""
DEFAULT_PAGE_BYTES = 16384


def warnings_of_pools(facts: TrialFacts) -> Iterator[str]:
    """Yield a sentence for each server whose buffer pool is kept much emptier than it is large.

    InnoDB's page cleaner evicts pages until `innodb_lru_scan_depth` of each pool instance are free
    (buf_flush_LRU_list_batch in storage/innobase/buf/buf0flu.cc), however small the pool is.
    """
    for server in facts.known_servers:
        settings = server.effective_settings or {}
        pool, free = _number(settings, "innodb_buffer_pool_size"), _number(settings, "innodb_lru_scan_depth")
        page = _number(settings, "innodb_page_size") or DEFAULT_PAGE_BYTES
        if pool and free and free * page > MUCH_FREE_SHARE * pool:
            yield (
                f"{server.name} keeps {free:,} pages ({free * page / 2**20:,.0f} MiB) of its buffer pool of "
                f"{pool / 2**20:,.0f} MiB free: set innodb_lru_scan_depth=100 to fill it"
            )


def _number(settings: JsonObject, name: str) -> int:
    text = str(settings.get(name, ""))
    return int(text) if text.isdecimal() else 0
