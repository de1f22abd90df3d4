"""A loaded data directory that outlives the system that loaded it: later ones start on copies of it."""

import shutil
from dataclasses import dataclass
from pathlib import Path

SPARE_ROOM = 1.2
"""Room for a copy, in sizes of what is copied: trials add to it."""


@dataclass(frozen=True)
class KeptData:
    """Loaded data of a system that has stopped. path: its directory, on the host of the server."""

    path: Path

    def is_there(self) -> bool:
        """Return whether a system can still start on it."""
        return self.path.is_dir()

    def has_room(self) -> bool:
        """Return whether a copy of it fits beside it."""
        size_bytes = sum(file.stat().st_blocks * 512 for file in self.path.rglob("*") if file.is_file())
        return shutil.disk_usage(self.path).free >= SPARE_ROOM * size_bytes

    def remove(self) -> None:
        """Remove it."""
        shutil.rmtree(self.path, ignore_errors=True)
