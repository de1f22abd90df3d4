"""Cache-aside by way of two libraries, in the steps of the native client (crates/stores, cache_aside.rs)."""

from __future__ import annotations

from dbdyno.load_python.column import Value
from dbdyno.load_python.session import Cache, Session
from dbdyno.load_python.table import Row, Table


class CacheAside(Session):
    """Reads the cache, and on a miss the store, whose row fills the cache; writes the store, and removes the row."""

    def __init__(self, cache: Cache, store: Session) -> None:
        super().__init__(store.endpoint, store.steps)
        self._cache, self._store = cache, store

    @staticmethod
    def version() -> str:
        return "cache-aside"

    def get(self, step: int, key: int) -> Row | None:
        row = self._cache.get(step, key)
        return row if self._hit(row) else self._fill(step, key, self._store.get(step, key))

    def find(self, step: int, value: Value) -> Row | None:
        row = self._cache.find(step, value)
        return row if self._hit(row) else self._fill(step, value, self._store.find(step, value))

    def _hit(self, row: Row | None) -> bool:
        self.is_hit = row is not None
        return self.is_hit

    def _fill(self, step: int, value: Value, row: Row | None) -> Row | None:
        if row is not None:
            self._cache.fill(step, value, row)
        return row

    def update(self, step: int, key: int, version: int) -> bool:
        is_there = self._store.update(step, key, version)
        self._cache.forget(step, key)
        return is_there

    def add(self, step: int, key: int, delta: int) -> bool:
        is_there = self._store.add(step, key, delta)
        self._cache.forget(step, key)
        return is_there

    def count(self, table: Table, rows: int) -> int | None:
        return self._store.count(table, rows)

    def total(self, table: Table, column: str, rows: int) -> int | None:
        return self._store.total(table, column, rows)

    def close(self) -> None:
        self._cache.close()
        self._store.close()
