"""The band `cgroup`: for how long the control groups a process is in held it back, and their memory.

A page that was evicted and is read again is a refault: the group has too little memory for what it works on.

A group is held back if it, or any above it, has used up its processor quota; both versions are read.
Source: the kernel's Documentation/admin-guide/cgroup-v2.rst and Documentation/scheduler/sched-bwc.rst.
"""

from pathlib import Path

from dbdyno.observe.procfs import read

ROOT = Path("/sys/fs/cgroup")

_MEMORY = {
    "memory_bytes": ("memory.current", "memory.usage_in_bytes"),
    "memory_limit_bytes": ("memory.max", "memory.limit_in_bytes"),
    "refaulted_pages_total": ("memory.stat",),
}
_NO_LIMIT_BYTES = 1 << 60
"""Version 1 has no word for none, and gives the largest number of pages it can count."""
_REFAULTS = (b"workingset_refault_anon", b"workingset_refault_file")


class CgroupSampler:
    """Reads `cpu.stat` of a process's group and of those above it, and the group's own memory."""

    def __init__(self, name: str, pid: int, root: Path = ROOT) -> None:
        """Find the groups of a process; if there are none, nothing is observed and nothing held back."""
        self._band = f"cgroup.{name}"
        groups = groups_of(pid, root)
        self._cpu_stats = [str(group / "cpu.stat") for group in groups.get("cpu", []) if _throttles(group)]
        memory = groups.get("memory", [])[:1]
        files = {what: [group / name for group in memory for name in names] for what, names in _MEMORY.items()}
        there = {what: [path for path in paths if path.is_file()] for what, paths in files.items()}
        self._memory = {what: str(paths[0]) for what, paths in there.items() if paths}

    def sample(self) -> dict[str, float]:
        """Return processor seconds lost to quotas (summed over processors), how often, bytes in the group, the most it
        may have, and its refaults."""
        seen = {}
        try:
            stats = [_parsed(read(path)) for path in self._cpu_stats]
            if stats:
                seen[f"{self._band}.throttled_s_total"] = sum(map(_throttled_s, stats))
                seen[f"{self._band}.throttled_periods_total"] = sum(stat[b"nr_throttled"] for stat in stats)
            for what, path in self._memory.items():
                seen |= {f"{self._band}.{name}": value for name, value in _of_memory(what, read(path)).items()}
        except OSError:
            return {}  # The group was removed with its process.
        return seen


def groups_of(pid: int, root: Path = ROOT) -> dict[str, list[Path]]:
    """Return the groups a process is in, the innermost first, by controller (`cpu`, `memory`)."""
    groups_by_controller: dict[str, list[Path]] = {}
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
            if controller in controllers.split(",") or (not controllers and controller not in groups_by_controller):
                groups_by_controller[controller] = groups
    return groups_by_controller


def _of_memory(what: str, content: bytes) -> dict[str, int]:
    """Return one column of a group's memory from its file; nothing if there is no limit, or no count."""
    if what == "refaulted_pages_total":
        stat = _parsed(content)
        return {what: sum(stat[name] for name in _REFAULTS)} if stat.keys() >= set(_REFAULTS) else {}
    value = content.strip()
    if not value.isdigit() or (what == "memory_limit_bytes" and int(value) >= _NO_LIMIT_BYTES):
        return {}
    return {what: int(value)}


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
