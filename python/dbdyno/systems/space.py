"""How much room rows take in a store: an estimate, made before anything is loaded."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Space:
    """Bytes on the disk, and bytes of memory."""

    disk_bytes: float = 0
    memory_bytes: float = 0

    def __add__(self, other: Space) -> Space:
        return Space(self.disk_bytes + other.disk_bytes, self.memory_bytes + other.memory_bytes)


@dataclass(frozen=True)
class Storage:
    """The size of rows in a store, fitted to loads of `point-get`, `insert-indexes` and `game` (docs/sizes.md).

    per_data_byte: bytes for each byte of the rows' values. per_record_bytes: beside these, for each row and for each
    entry of a secondary index. empty_bytes: of a server that holds nothing yet. most_log_bytes: how large a log becomes
    that has everything once more. in_memory: all that is in memory.
    """

    per_data_byte: float = 1.1
    per_record_bytes: int = 24
    empty_bytes: int = 0
    most_log_bytes: int = 0
    in_memory: bool = False

    def space(self, records: float, data_bytes: float) -> Space:
        """Return what so many records take, whose values are so many bytes together."""
        rows_bytes = self.per_record_bytes * records + self.per_data_byte * data_bytes
        size_bytes = self.empty_bytes + rows_bytes + min(rows_bytes, self.most_log_bytes)
        return Space(memory_bytes=size_bytes) if self.in_memory else Space(disk_bytes=size_bytes)
