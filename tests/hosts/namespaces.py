"""Hosts on one machine: network namespaces joined by a bridge, each with its own address and hostname.

Nothing of it is in the machine's own network: the bridge is in the conductor's namespace.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from types import TracebackType

import pytest

CONDUCTOR = "conductor"
SUBNET = "10.0.0"
"""That of docs/several-hosts.md, whose conductor is 10.0.0.1."""


def need_namespaces() -> None:
    """Skip the test where network namespaces cannot be made."""
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    made = subprocess.run(
        ["ip", "netns", "add", f"dbdyno-try-{os.getpid()}"], capture_output=True, text=True, check=False
    )
    if made.returncode:
        pytest.skip(f"network namespaces cannot be made here: {made.stderr.strip()}")
    subprocess.run(["ip", "netns", "del", f"dbdyno-try-{os.getpid()}"], check=True)


class Hosts:
    """Some hosts and the conductor, as a context manager; whatever was started there is ended with it."""

    def __init__(self, names: Sequence[str]) -> None:
        self.addresses = {name: f"{SUBNET}.{number}" for number, name in enumerate([CONDUCTOR, *names], 1)}
        self._started: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Hosts:
        try:
            self._make()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._remove()

    def start(self, name: str, *command: str, **keys: object) -> subprocess.Popen[bytes]:
        """Start a command on a host."""
        hostname = ["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', name]
        process = subprocess.Popen(["ip", "netns", "exec", self.space(name), *hostname, *command], **keys)
        self._started.append(process)
        return process

    def add_address(self, name: str) -> str:
        """Give a host another address, and return it."""
        address = f"{SUBNET}.{100 + list(self.addresses).index(name)}"
        self._ip("-n", self.space(name), "addr", "add", f"{address}/24", "dev", "eth0")
        return address

    def cut(self, name: str) -> None:
        """Cut a host's link."""
        self._ip("-n", self.space(CONDUCTOR), "link", "set", f"to-{name}", "down")

    def shape(self, name: str, *discipline: str) -> None:
        """Limit what the link of a host carries to it (tc(8))."""
        link = ["dev", f"to-{name}", "root", *discipline]
        subprocess.run(["tc", "-n", self.space(CONDUCTOR), "qdisc", "replace", *link], check=True)

    def space(self, name: str) -> str:
        """Return the name of a host's namespace."""
        return f"dbdyno-{os.getpid()}-{name}"

    def _ip(self, *arguments: str) -> None:
        subprocess.run(["ip", *arguments], check=True, capture_output=True)

    def _make(self) -> None:
        conductor = self.space(CONDUCTOR)
        for name in self.addresses:
            self._ip("netns", "add", self.space(name))
            self._ip("-n", self.space(name), "link", "set", "lo", "up")
        self._ip("-n", conductor, "link", "add", "bridge", "type", "bridge")
        self._ip("-n", conductor, "addr", "add", f"{self.addresses[CONDUCTOR]}/24", "dev", "bridge")
        self._ip("-n", conductor, "link", "set", "bridge", "up")
        for name, address in self.addresses.items():
            if name == CONDUCTOR:
                continue
            space, way = self.space(name), f"to-{name}"
            self._ip("-n", conductor, "link", "add", way, "type", "veth", "peer", "name", "eth0", "netns", space)
            self._ip("-n", conductor, "link", "set", way, "master", "bridge", "up")
            self._ip("-n", space, "addr", "add", f"{address}/24", "dev", "eth0")
            self._ip("-n", space, "link", "set", "eth0", "up")

    def _remove(self) -> None:
        for process in self._started:
            process.kill()
        for process in self._started:
            process.wait()
        for name in self.addresses:
            subprocess.run(["ip", "netns", "del", self.space(name)], check=False, capture_output=True)
