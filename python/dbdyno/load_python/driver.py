"""The libraries that drive a plan's store: one, or one for a cache and one for the store behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import cast

from dbdyno.contract import StoreDocument
from dbdyno.load_python.cache_aside import CacheAside
from dbdyno.load_python.failure import Ended
from dbdyno.load_python.plan import Plan
from dbdyno.load_python.session import Cache, Session, find_endpoint, find_library
from dbdyno.load_python.workloads import Workload

CACHE_ASIDE = "cache-aside"


@dataclass(frozen=True)
class Driver:
    """The way to open the session of a client.

    open: raises Failure. version: of the libraries. layout: how Redis holds a row. is_encoded: rows are bytes to the
    store, or to its cache.
    """

    open: Callable[[], Session]
    version: str
    layout: str | None
    is_encoded: bool


def find_driver(plan: Plan, workload: Workload) -> Driver:
    """Return what drives the plan's store; raises Ended if its libraries do not speak to it."""
    if plan.store["kind"] != CACHE_ASIDE:
        return _driver(plan, workload, plan.library, plan.store, plan.c_library)
    if plan.cache_library is None:
        raise Ended("refused", f"{CACHE_ASIDE} takes two libraries: cache_library is missing")
    # Whole rows, whatever the workload changes: a cache only ever forgets them.
    in_front = {**plan.store["cache"]} | ({"layout": "string"} if "layout" in plan.store["cache"] else {})
    cache = _driver(plan, workload, plan.cache_library, in_front, None)
    store = _driver(plan, workload, plan.library, plan.store["store"], plan.c_library)
    return Driver(partial(_open_both, cache, store), f"{cache.version} + {store.version}", cache.layout, True)


def _driver(plan: Plan, workload: Workload, library: str, store: StoreDocument, c_library: str | None) -> Driver:
    session = find_library(library, store["kind"], c_library)
    endpoint = find_endpoint(store, workload, plan.operation_timeout_s)
    is_encoded = store["kind"] == "memcached" or endpoint.layout == "string"
    return Driver(partial(session, endpoint, workload.steps), session.version(), endpoint.layout, is_encoded)


def _open_both(cache: Driver, store: Driver) -> Session:
    in_front = cache.open()
    try:
        return CacheAside(cast(Cache, in_front), store.open())
    except BaseException:
        in_front.close()
        raise
