"""Tkrzw, inside the load client."""

from typing import ClassVar

from dbdyno.systems.base import Durability
from dbdyno.systems.embedded.installed_library import InstalledLibrary


class Tkrzw(InstalledLibrary):
    """A file for each table, a hash or a B+ tree. Defaults are the library's own, but for `sync` and the buckets.

    sync: `full` synchronises with the device after every write, `none` leaves it to the kernel. file: mapped into
    memory, or read and written. buckets: of a hash, twice the rows if left out. cached_pages: of a tree.
    """

    name = "tkrzw"
    what = "Tkrzw, embedded (type=hash|tree, sync=full|none, file=mmap|positional, compression, buckets, cached_pages)"
    library = "tkrzw"
    choices: ClassVar[dict[str, tuple[str, ...]]] = {
        "type": ("hash", "tree"),
        "sync": ("full", "none"),
        "file": ("mmap", "positional"),
        "compression": ("none", "zlib", "zstd", "lz4", "lzma"),
    }
    numbers: ClassVar[dict[str, int]] = {"buckets": 0, "cached_pages": 10_000}
    only_with: ClassVar[dict[str, tuple[str, str]]] = {"buckets": ("type", "hash"), "cached_pages": ("type", "tree")}
    levels: ClassVar[dict[str, str]] = {"full": "D2", "none": "D0"}

    def durability(self) -> Durability:
        level = super().durability().level
        settings = self.settings()
        if (settings["sync"], settings["file"]) == ("full", "positional"):
            # Its sync is sync_file_range, which writes pages but does not have the device flush (sync_file_range(2)).
            level = "D1"
        return Durability(level, "sync={sync} file={file}".format_map(settings))
