"""The parts of a process's stacks that this host lets us record, and advice about the rest."""

import shutil
import subprocess

from dbdyno.observe.environment import read_first

ON_CPU, OFF_CPU = "on-cpu", "off-cpu"
PARANOID = "/proc/sys/kernel/perf_event_paranoid"
_CAPABILITIES = 1 << 38 | 1 << 21
"""CAP_PERFMON, and CAP_SYS_ADMIN, which does for it (capabilities(7))."""


def not_seen() -> dict[str, str]:
    """Return what cannot be recorded of a process of ours, on-CPU or off-CPU stacks, and why.

    The levels of `kernel.perf_event_paranoid` are those of the kernel's Documentation/admin-guide/sysctl/kernel.rst; 3
    and more are Debian's and Ubuntu's. A context switch happens in the kernel, so without its part no wait is visible.
    """
    if reason := _missing():
        return dict.fromkeys((ON_CPU, OFF_CPU), reason)
    level = read_first(PARANOID)
    if level is None:
        return dict.fromkeys((ON_CPU, OFF_CPU), "this kernel records no performance events")
    if int(level) <= 1 or _is_privileged():
        return {}
    advice = "as root, sysctl kernel.perf_event_paranoid=1"
    if int(level) == 2:
        return {OFF_CPU: f"kernel.perf_event_paranoid is 2, which hides what the kernel does: {advice}"}
    return dict.fromkeys((ON_CPU, OFF_CPU), f"kernel.perf_event_paranoid is {level}: {advice}")


def in_words(reasons: dict[str, str]) -> dict[str, str]:
    """Return the reasons each once: what all of it is that cannot be seen for it, to the reason."""
    return {f"{' and '.join(k for k in reasons if reasons[k] == reason)} stacks": reason for reason in reasons.values()}


def _missing() -> str | None:
    # Ubuntu's perf is a script that looks for the one of the running kernel, so it can be there and not run.
    if shutil.which("perf") and subprocess.run(["perf", "--version"], capture_output=True, check=False).returncode == 0:
        return None
    return "perf is not installed: apt install linux-perf (Ubuntu: linux-tools-generic; Fedora, Arch: perf)"


def _is_privileged() -> bool:
    status = (read_first("/proc/self/status") or "").splitlines()
    effective = next((line.split()[1] for line in status if line.startswith("CapEff:")), "0")
    return bool(int(effective, 16) & _CAPABILITIES)
