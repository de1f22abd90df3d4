"""Tokyo Cabinet, inside the load client."""

from typing import ClassVar

from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.systems.embedded.installed_library import InstalledLibrary

LEAST_CACHED_LEAVES = 64


class TokyoCabinet(InstalledLibrary):
    """A file for each table, a hash or a B+ tree. Defaults are the library's own, but for `sync` and the buckets.

    sync: `full` synchronises with the device after every write, `transaction` makes each write a transaction that does,
    `none` leaves it to the kernel. buckets: of a hash, twice the rows if left out. mmap_mib: of the file, beyond which
    it is read and written. cached_leaves: of a tree.
    """

    name = "tokyocabinet"
    what = (
        "Tokyo Cabinet, embedded (type=hash|tree, sync=full|transaction|none, compression, buckets, mmap_mib, "
        "cached_leaves)"
    )
    library = "tokyocabinet"
    choices: ClassVar[dict[str, tuple[str, ...]]] = {
        "type": ("hash", "tree"),
        "sync": ("full", "transaction", "none"),
        "compression": ("none", "deflate", "bzip2", "tcbs"),
    }
    numbers: ClassVar[dict[str, int]] = {"buckets": 0, "mmap_mib": 64, "cached_leaves": 1024}
    only_with: ClassVar[dict[str, tuple[str, str]]] = {"buckets": ("type", "hash"), "cached_leaves": ("type", "tree")}
    levels: ClassVar[dict[str, str]] = {"full": "D2", "transaction": "D2", "none": "D0"}

    def __init__(self, spec: SystemSpec) -> None:
        super().__init__(spec)
        # The library would take the least there is, and shows nobody that it did (tcbdb.c, tcbdbsetcache).
        if "cached_leaves" in spec.settings and (leaves := self.settings()["cached_leaves"]) < LEAST_CACHED_LEAVES:
            raise UserError(
                f"{spec.label}: cached_leaves = {leaves}: Tokyo Cabinet keeps at least {LEAST_CACHED_LEAVES}: give that"
            )
