"""The guide docs/several-hosts.md, followed in network namespaces: a conductor, client hosts and server hosts.

Each host has an address, a hostname, and a directory for its state and its data.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

import psutil

from helpers import wait_until
from hosts.namespaces import CONDUCTOR, Hosts

DBDYNO = (sys.executable, "-P", "-m", "dbdyno")
LONG_S = 120.0
"""A run with several hosts may take so long to begin on a crowded machine."""


class Stage:
    """Hosts whose workers have been started, as a context manager. wait_seconds: for a host that was lost."""

    def __init__(self, folder: Path, clients: list[str], servers: list[str], wait_seconds: int = 120) -> None:
        self.folder, self._clients, self._servers, self._wait_s = folder, clients, servers, wait_seconds
        self.hosts = Hosts([*clients, *servers])
        # Servers run as `nobody`, who gets into no folder of pytest's.
        self._data = Path(tempfile.mkdtemp(prefix="dbdyno-stage-"))
        self._data.chmod(0o755)
        self.workers: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Stage:
        self.hosts.__enter__()
        try:
            self._set_up()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.hosts.__exit__(kind, error, trace)
        shutil.rmtree(self._data)

    @property
    def address(self) -> str:
        """The address at which the conductor listens."""
        return f"tls://{self.hosts.addresses[CONDUCTOR]}:8786"

    def _set_up(self) -> None:
        names = [*self._clients, *self._servers]
        subprocess.run(
            [*DBDYNO, "hosts", "init", *names, "--directory", self.folder / "certificates"],
            check=True,
            capture_output=True,
        )
        table = {"address": self.address, "client": self._clients, "certificates": str(self.folder / "certificates")}
        lines = [f"{key} = {json.dumps(value)}" for key, value in table.items()]
        lines += [f"server = {json.dumps(self._servers)}"] if self._servers else []
        (self.folder / "hosts.toml").write_text("\n".join([*lines, f"wait_seconds = {self._wait_s}", ""]))
        for name in self._clients:
            self.start_worker(name, "client")
        for name in self._servers:
            self.start_worker(name, "server")

    def start_worker(self, name: str, role: str) -> None:
        """Start the worker of a host."""
        command = [*DBDYNO, "worker", self.address, "--name", name, "--role", role]
        command += ["--certificates", str(self.folder / "certificates")]
        with (self.folder / f"{name}.log").open("w") as log:
            self.workers[name] = self.hosts.start(name, *command, stdout=log, stderr=log, env=self.environment(name))

    def environment(self, name: str) -> dict[str, str]:
        """Return the environment of a host, whose directories are made."""
        state, data = self.folder / name, self._data / name
        for folder in (state, data):
            folder.mkdir(exist_ok=True)
        return {**os.environ, "DBDYNO_STATE_DIR": str(state), "DBDYNO_DATA_DIR": str(data)}

    def start(self, workload: str, *options: str) -> subprocess.Popen[bytes]:
        """Start `dbdyno run` on the conductor."""
        where = ["--hosts", str(self.folder / "hosts.toml"), "--out", str(self.folder / "runs")]
        return self.start_on_conductor("run", workload, *where, "--set", "host=false", *options)

    def start_on_conductor(self, *command: str) -> subprocess.Popen[bytes]:
        """Start a command of dbdyno on the conductor."""
        keys = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "env": self.environment(CONDUCTOR)}
        return self.hosts.start(CONDUCTOR, *DBDYNO, *command, **keys)

    def run(self, workload: str, *options: str, status: int = 0) -> str:
        """Run a workload to its end, and return what was said."""
        running = self.start(workload, *options)
        said = running.communicate()[0].decode()
        assert running.returncode == status, said
        return said

    def trials(self) -> list[Path]:
        """Return the folders of all trials so far."""
        return sorted(self.folder.glob("runs/*/trials/*"))

    def wait_for(self, condition: Any) -> Any:
        """Wait until a condition holds, as long as a run may take to come there."""
        return wait_until(condition, LONG_S)

    def worker(self, name: str) -> psutil.Process:
        """Return the process `dbdyno worker` of a host, without its agent."""
        first = psutil.Process(self.workers[name].pid)
        # A frozen worker does not reap its children that have ended: these have no command any more.
        every = [first, *first.children(recursive=True)]
        return [process for process in every if {"worker", "--role"} <= set(_command(process.pid))][-1]

    def servers_on(self, name: str) -> list[psutil.Process]:
        """Return the servers of MariaDB that run on a host."""
        return [psutil.Process(pid) for pid in self._pids_on(name) if "mariadbd" in "".join(_command(pid)[:1])]

    def _pids_on(self, name: str) -> list[int]:
        listed = subprocess.run(
            ["ip", "netns", "pids", self.hosts.space(name)], check=True, capture_output=True, text=True
        )
        return [int(pid) for pid in listed.stdout.split()]

    def commands_on(self, name: str) -> list[str]:
        """Return the command of each process on a host."""
        return list(filter(None, (" ".join(_command(pid)) for pid in self._pids_on(name))))

    def running_on(self, name: str) -> list[str]:
        """Return what runs on a host beside its worker and agent: load clients, keepers, guards and servers."""
        of_worker = ("dbdyno worker", "dbdyno.hosts.agent", "multiprocessing")
        return [command for command in self.commands_on(name) if not any(word in command for word in of_worker)]

    def left_on(self, name: str) -> list[str]:
        """Return what a host still has of runs: data directories, and journals of guards."""
        left = (*(self._data / name).iterdir(), *(self.folder / name).glob("*.journal"))
        return [str(path) for path in left]

    def is_clean(self) -> bool:
        """Return whether no host has anything left of a run."""
        return not any(self.running_on(name) or self.left_on(name) for name in (*self._clients, *self._servers))


def _command(pid: int) -> list[str]:
    try:
        return psutil.Process(pid).cmdline()
    except psutil.NoSuchProcess:
        return []
