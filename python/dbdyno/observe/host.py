"""The band `host`: processors and memory of the whole machine, or of what of it a virtual machine sees."""

from dbdyno.observe.procfs import TICK_S, read

_CPU_FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


class HostSampler:
    """Reads `/proc/stat` and `/proc/meminfo` (proc_stat(5), proc_meminfo(5))."""

    def sample(self) -> dict[str, float]:
        """Return processor seconds of all processors by kind, context switches, threads that run or want to, and the
        memory that is available."""
        stat, memory = read("/proc/stat"), read("/proc/meminfo")
        ticks = dict(zip(_CPU_FIELDS, map(int, stat[: stat.index(b"\n")].split()[1:]), strict=False))
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
        return seen
