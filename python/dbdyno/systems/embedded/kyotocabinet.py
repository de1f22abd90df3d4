"""Kyoto Cabinet, inside the load client."""

from typing import ClassVar

from dbdyno.systems.embedded.installed_library import InstalledLibrary


class KyotoCabinet(InstalledLibrary):
    """A file for each table, a hash or a B+ tree. Defaults are the library's own, but for `sync` and the buckets.

    sync: `full` synchronises with the device after every write, `transaction` makes each write a transaction that does,
    `none` leaves it to the kernel. buckets: of a hash, twice the rows if left out. mmap_mib: of the file, beyond which
    it is read and written. cache_mib: of a tree's pages.
    """

    name = "kyotocabinet"
    what = (
        "Kyoto Cabinet, embedded (type=hash|tree, sync=full|transaction|none, compression, buckets, mmap_mib, "
        "cache_mib)"
    )
    library = "kyotocabinet"
    choices: ClassVar[dict[str, tuple[str, ...]]] = {
        "type": ("hash", "tree"),
        "sync": ("full", "transaction", "none"),
        "compression": ("none", "zlib", "lzo", "lzma"),
    }
    numbers: ClassVar[dict[str, int]] = {"buckets": 0, "mmap_mib": 64, "cache_mib": 64}
    only_with: ClassVar[dict[str, tuple[str, str]]] = {"buckets": ("type", "hash"), "cache_mib": ("type", "tree")}
    levels: ClassVar[dict[str, str]] = {"full": "D2", "transaction": "D2", "none": "D0"}
