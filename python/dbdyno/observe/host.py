"""The band `host`: processors and memory of the whole machine, or of what of it a virtual machine sees."""

from collections.abc import Mapping, Sequence

from dbdyno.observe.procfs import TICK_S, read

_CPU_FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


class HostSampler:
    """Reads `/proc/stat` and `/proc/meminfo` (proc_stat(5), proc_meminfo(5))."""

    def __init__(self, pinned: Mapping[str, Sequence[int]] | None = None) -> None:
        """Pinned: the processors that each side, `client` or `server`, is pinned to, counted for themselves."""
        self._pinned = pinned or {}

    def sample(self) -> dict[str, float]:
        """Return processor seconds of all processors by kind, context switches, threads that run or want to, and the
        memory that is available."""
        stat, memory = read("/proc/stat"), read("/proc/meminfo")
        ticks = _ticks(stat, b"cpu ")
        cpu_ticks = {
            "user": ticks["user"] + ticks["nice"],
            "system": ticks["system"] + ticks["irq"] + ticks["softirq"],
            "iowait": ticks["iowait"],
            "steal": ticks["steal"],
            "idle": ticks["idle"],
        }
        seen = {f"host.cpu_{kind}_s_total": count * TICK_S for kind, count in cpu_ticks.items()}
        seen["host.context_switches_total"] = int(stat[stat.index(b"\nctxt ") + 6 :].split(None, 1)[0])
        seen["host.runnable"] = int(stat[stat.index(b"\nprocs_running ") + 15 :].split(None, 1)[0])
        available = memory.find(b"MemAvailable:")
        if available >= 0:
            seen["host.memory_available_bytes"] = int(memory[available + 13 :].split(None, 1)[0]) << 10
        return seen | self._pinned_processors(stat)

    def _pinned_processors(self, stat: bytes) -> dict[str, float]:
        """Return the seconds that the processors of each side worked for processes, and were idle."""
        seen = {}
        for side, processors in self._pinned.items():
            ticks = [_ticks(stat, b"cpu%d " % processor) for processor in processors]
            for what, kinds in (("work", ("user", "nice", "system")), ("idle", ("idle", "iowait"))):
                seconds = sum(of_one[kind] for of_one in ticks for kind in kinds) * TICK_S
                seen[f"host.{side}_cpus_{what}_s_total"] = seconds
        return seen


def _ticks(stat: bytes, line: bytes) -> dict[str, int]:
    """Return the ticks by kind of one line of `/proc/stat`; all 0 for a processor that is offline."""
    begin = 0 if stat.startswith(line) else stat.find(b"\n" + line) + 1
    if not stat.startswith(line, begin):
        return dict.fromkeys(_CPU_FIELDS, 0)
    fields = stat[begin : stat.index(b"\n", begin)].split()[1:]
    return dict(zip(_CPU_FIELDS, map(int, fields), strict=False))
