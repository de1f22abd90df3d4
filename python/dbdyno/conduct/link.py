"""The link between client and server: why dbdyno does not narrow it, and the command that would."""

import json
import subprocess
from pathlib import Path
from typing import Any

from dbdyno.systems.base import System

TAKEN = 0.2
INTERFACES = Path("/sys/class/net")
LOOPBACK = "lo"
_BITS_PER_MBIT = 1_000_000
_FOR_TBF = "burst 128k latency 50ms"
"""A bucket that gigabits need at the kernel's timer rates, and the longest wait before packets are dropped."""


def why_not_narrowed(system: System) -> str:
    """Return why a link is not narrowed, and how a person could do it: a fifth less of its bandwidth.

    dbdyno shapes no link: others may use it. The bandwidth is that of its token bucket (tc-tbf(8)), else its
    interface's. A fifth of what was sent would be no test: with that, every link would prove to be the limit.
    """
    interface = _interface(next(iter(system.addresses().values()), ("127.0.0.1", 0))[0])
    mine = f"dbdyno does not change the link {interface}"
    shaped, mbit_per_s = _shaped_mbit_per_s(interface), _speed_mbit_per_s(interface)
    able = shaped or mbit_per_s
    if not able:
        return f"{mine}, and its bandwidth is unknown. See whether it is shaped: tc qdisc show dev {interface}"
    verb = "change" if shaped else "add"
    less = f"tc qdisc {verb} dev {interface} root tbf rate {(1 - TAKEN) * able:g}mbit {_FOR_TBF}"
    return f"{mine}. Take a fifth of its {able:g} Mbit/s as root, and run again: {less}"


def _interface(host: str) -> str:
    """Return the interface that packets to a host leave by."""
    routes = _answered("ip", "-j", "route", "get", host)
    return str(routes[0].get("dev", LOOPBACK)) if routes else LOOPBACK


def _shaped_mbit_per_s(interface: str) -> float | None:
    """Return the rate of the token bucket that shapes an interface, if one does."""
    for discipline in _answered("tc", "-j", "qdisc", "show", "dev", interface):
        if discipline.get("kind") == "tbf" and discipline.get("root"):
            return float(discipline["options"]["rate"]) * 8 / _BITS_PER_MBIT
    return None


def _speed_mbit_per_s(interface: str) -> float | None:
    """Return the speed that an interface's driver states; virtual ones state none."""
    try:
        speed = int((INTERFACES / interface / "speed").read_text())
    except (OSError, ValueError):
        return None
    return float(speed) if speed > 0 else None


def _answered(*command: str) -> list[dict[str, Any]]:
    """Return what a tool of iproute2 answered, nothing if it is missing or refuses."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        answer = json.loads(done.stdout or "[]")
    except (OSError, subprocess.CalledProcessError, json.JSONDecodeError):
        return []
    return [row for row in answer if isinstance(row, dict)]
