"""The band `disk`: the block device the data lies on.

Source: the kernel's Documentation/admin-guide/iostats.rst; times are milliseconds, sectors 512 bytes. Flushes are
counted for whole devices only, so a partition stands for the device it is on.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from dbdyno.observe.procfs import NotSeen, read

SECTOR_BYTES = 512
_FIELDS = {
    0: ("reads", 1),
    2: ("read_bytes", SECTOR_BYTES),
    3: ("read_s", 1e-3),
    4: ("writes", 1),
    6: ("write_bytes", SECTOR_BYTES),
    7: ("write_s", 1e-3),
    9: ("busy_s", 1e-3),
    15: ("flushes", 1),
    16: ("flush_s", 1e-3),
}


class DiskSampler:
    """Reads `/sys/block/DEVICE/stat` of the devices some directories are on."""

    def __init__(self, directories: Iterable[Path], not_seen: NotSeen) -> None:
        """Find the device of each directory; one in memory, or on another machine, has none."""
        self._files: dict[str, str] = {}
        for directory in directories:
            if device := device_of(directory):
                self._files[device.name] = f"{device}/stat"
            else:
                not_seen["disk"] = f"{directory} is not on a disk of this host (in memory, or a network file system)"

    def sample(self) -> dict[str, float]:
        """Return each device's counters."""
        seen = {}
        for name, path in self._files.items():
            values = read(path).split()
            for field, (what, unit) in _FIELDS.items():
                if field < len(values):
                    seen[f"disk.{name}.{what}_total"] = int(values[field]) * unit
        return seen


def device_of(directory: Path, sys_dev: Path = Path("/sys/dev/block")) -> Path | None:
    """Return the folder in /sys of the whole device a directory is on, or None if it is on none."""
    number = directory.stat().st_dev
    for candidate in (number, _source_of(number)):
        if candidate is None:
            continue
        device = sys_dev / f"{os.major(candidate)}:{os.minor(candidate)}"
        if device.exists():
            device = device.resolve()
            return device.parent if (device / "partition").exists() else device
    return None


def _source_of(number: int) -> int | None:
    """Return the device behind a file system that numbers its own (btrfs, overlays), from what was mounted."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        if before.split()[2] == f"{os.major(number)}:{os.minor(number)}":
            source = Path(after.split()[1])
            return source.stat().st_rdev if source.is_block_device() else None
    return None
