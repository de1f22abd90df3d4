"""The host a run was made on, as `environment.json` has it."""

import os
import platform
import tempfile
from pathlib import Path

import psutil

from dbdyno import __version__
from dbdyno.errors import UserError
from dbdyno.results.environment import DescribedHost


def read_first(path: str) -> str | None:
    """Return a small file's text without its end, or None if there is no such file."""
    try:
        return Path(path).read_text(errors="replace").strip()
    except OSError:
        return None


def data_directory() -> Path:
    """Return where private servers keep their data; raises UserError if DBDYNO_DATA_DIR names no directory."""
    directory = Path(os.environ.get("DBDYNO_DATA_DIR") or tempfile.gettempdir())
    if not directory.is_dir():
        raise UserError(f"DBDYNO_DATA_DIR={directory}: no such directory; make it, or name another")
    return directory


def cpu_model() -> str | None:
    """Return what the processor calls itself."""
    for line in (read_first("/proc/cpuinfo") or "").splitlines():
        if line.lower().startswith(("model name", "cpu part")):
            return line.partition(":")[2].strip()
    return None


def virtualization() -> list[str]:
    """Return what is between us and the hardware, as far as it can be seen: nothing, a virtual machine, a container."""
    layers = []
    if " hypervisor" in (read_first("/proc/cpuinfo") or ""):
        product = read_first("/sys/class/dmi/id/product_name")
        layers.append(f"virtual machine ({product})" if product else "virtual machine")
    if any(Path(mark).exists() for mark in ("/.dockerenv", "/run/.containerenv")):
        layers.append("container")
    return layers


def chosen(text: str | None) -> str | None:
    """Return the word in brackets of a kernel setting such as `always [madvise] never`."""
    return text.partition("[")[2].partition("]")[0] if text and "[" in text else text


def describe_host() -> DescribedHost:
    """Return the host's hardware, kernel and the settings of it that decide what a benchmark measures."""
    memory = psutil.virtual_memory()
    return {
        "dbdyno": __version__,
        "host": platform.node(),
        "python": platform.python_version(),
        "system": platform.platform(),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "cpu_model": cpu_model(),
        "cpus": os.cpu_count(),
        "cpus_usable": sorted(os.sched_getaffinity(0)),
        "cpu_governor": read_first("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "sched_autogroup": read_first("/proc/sys/kernel/sched_autogroup_enabled"),
        "memory_bytes": memory.total,
        "memory_available_bytes": memory.available,
        "swap_used_bytes": psutil.swap_memory().used,
        "load_average": list(os.getloadavg()),
        "transparent_hugepage": chosen(read_first("/sys/kernel/mm/transparent_hugepage/enabled")),
        "virtualization": virtualization(),
    }
