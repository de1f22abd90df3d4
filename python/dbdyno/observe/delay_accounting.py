"""The kernel's accounting of how long tasks wait for disks: off by default since Linux 5.14.

A task has it only if it began while it was on, so it is turned on before any server starts.
Source: the kernel's Documentation/accounting/delay-accounting.rst.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

SETTING = Path("/proc/sys/kernel/task_delayacct")


def missing(setting: Path = SETTING) -> str | None:
    """Return why delays are not accounted, or None if they are."""
    try:
        if setting.read_text().strip() != "0":
            return None
    except OSError:
        return "this kernel does not account how long tasks wait for disks"
    return "how long tasks wait for disks is not accounted: sysctl kernel.task_delayacct=1, as root"


def account_delays(switch_on: Callable[[Path], None], setting: Path = SETTING) -> None:
    """Have it switched on until no run needs it, if dbdyno may do that.

    It is switched on if it is on, too: another run may have switched it on, and may end first.
    """
    # If it is not permitted the column is not seen, which its sampler says.
    with suppress(OSError):
        switch_on(setting)
