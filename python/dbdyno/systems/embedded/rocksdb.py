"""RocksDB, inside the load client."""

from collections.abc import Mapping
from typing import ClassVar

from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.systems.base import Durability
from dbdyno.systems.embedded.installed_library import InstalledLibrary
from dbdyno.systems.embedded.rocksdb_probe import RocksDBProbe
from dbdyno.systems.probe import Probe


class RocksDB(InstalledLibrary):
    """One database, a column family a table. Defaults are RocksDB's own, but for `sync` and the Bloom filter.

    sync: `full` flushes the log with every write, `none` leaves that to the kernel. wal: without the log a crash loses
    the write buffer. cache_mib: of blocks. bloom_bits: per key; 0 is no filter.
    """

    name = "rocksdb"
    what = "RocksDB, embedded (sync=full|none, wal=on|off, compression, cache_mib, bloom_bits, write_buffer_mib)"
    library = "rocksdb"
    choices: ClassVar[dict[str, tuple[str, ...]]] = {
        "sync": ("full", "none"),
        "wal": ("on", "off"),
        "compression": ("snappy", "none", "zlib", "lz4", "zstd"),
    }
    numbers: ClassVar[dict[str, int]] = {"cache_mib": 8, "bloom_bits": 10, "write_buffer_mib": 64}
    levers: Mapping[str, str] = {
        "compaction": "write_buffer_mib=256",
        "memory": "cache_mib=256",
        "commit": "sync=none",
    }
    background_threads: ClassVar[dict[str, str]] = {"rocksdb:low": "compaction", "rocksdb:high": "flush of buffers"}
    levels: ClassVar[dict[str, str]] = {"full": "D2", "none": "D0"}

    def __init__(self, spec: SystemSpec) -> None:
        super().__init__(spec)
        settings = self.settings()
        if (settings["sync"], settings["wal"]) == ("full", "off"):
            raise UserError(f"{spec.label}: wal=off leaves nothing that sync=full could flush; give sync=none with it")

    def durability(self) -> Durability:
        return Durability(super().durability().level, "sync={sync} wal={wal}".format_map(self.settings()))

    def probes(self) -> list[Probe]:
        return [RocksDBProbe(self.server_name, self.path)]
