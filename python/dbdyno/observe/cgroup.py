"""The band `cgroup`: for how long the control groups a process is in held it back, and their memory.

A group is held back if it, or any above it, has used up its processor quota; both versions are read.
Source: the kernel's Documentation/admin-guide/cgroup-v2.rst and Documentation/scheduler/sched-bwc.rst.
"""

from pathlib import Path

from dbdyno.observe.procfs import read

ROOT = Path("/sys/fs/cgroup")


class CgroupSampler:
    """Reads `cpu.stat` of a process's group and of those above it, and the group's own memory."""

    def __init__(self, name: str, pid: int, root: Path = ROOT) -> None:
        """Find the groups of a process; where there are none, nothing is seen and nothing held back."""
        self._band = f"cgroup.{name}"
        groups = groups_of(pid, root)
        self._cpu_stats = [str(group / "cpu.stat") for group in groups.get("cpu", []) if _throttles(group)]
        self._memory = next(
            (
                str(group[0] / name)
                for group in (groups.get("memory", []),)
                for name in ("memory.current", "memory.usage_in_bytes")
                if group and (group[0] / name).is_file()
            ),
            None,
        )

    def sample(self) -> dict[str, float]:
        """Return processor seconds lost to quotas (summed over processors), how often, and bytes in the group."""
        seen = {}
        try:
            stats = [_parsed(read(path)) for path in self._cpu_stats]
            if stats:
                seen[f"{self._band}.throttled_s_total"] = sum(map(_throttled_s, stats))
                seen[f"{self._band}.throttled_periods_total"] = sum(stat[b"nr_throttled"] for stat in stats)
            if self._memory:
                seen[f"{self._band}.memory_bytes"] = int(read(self._memory))
        except OSError:
            return {}  # The group was removed with its process.
        return seen


def groups_of(pid: int, root: Path = ROOT) -> dict[str, list[Path]]:
    """Return the groups a process is in, the innermost first, by controller (`cpu`, `memory`)."""
    found: dict[str, list[Path]] = {}
    try:
        lines = read(f"/proc/{pid}/cgroup").decode().splitlines()
    except OSError:
        return {}
    for line in lines:
        _, controllers, path = line.split(":", maxsplit=2)
        folder = root / controllers if controllers else root
        if not controllers and not (folder / "cgroup.controllers").exists():
            folder = root / "unified"
        own = folder / path.lstrip("/")
        groups = [group for group in (own, *own.parents) if group.is_relative_to(folder)]
        for controller in ("cpu", "memory"):
            # Version 1 names its controllers; a group of version 2 has all that it was given.
            if controller in controllers.split(",") or (not controllers and controller not in found):
                found[controller] = groups
    return found


def _throttles(group: Path) -> bool:
    try:
        return b"nr_throttled" in read(str(group / "cpu.stat"))
    except OSError:
        return False


def _parsed(stat: bytes) -> dict[bytes, int]:
    words = stat.split()
    return dict(zip(words[::2], map(int, words[1::2]), strict=True))


def _throttled_s(stat: dict[bytes, int]) -> float:
    """Version 2 counts microseconds, version 1 nanoseconds."""
    return stat[b"throttled_usec"] * 1e-6 if b"throttled_usec" in stat else stat[b"throttled_time"] * 1e-9
