"""`dbdyno worker`: a dask worker that says who is there, and beside it the agent that runs load clients.

It serves one run after the other: when a conductor is gone it waits for the next.
"""

import asyncio
import logging
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbdyno.errors import RunFailed
from dbdyno.experiment.hosts import host_and_port
from dbdyno.hosts.certificates import Certificates
from dbdyno.hosts.channel import Message
from dbdyno.hosts.limits import own_limits
from dbdyno.hosts.programs import programs
from dbdyno.hosts.settings import SETTINGS, security_of
from dbdyno.leftovers.journal import state_folder
from dbdyno.leftovers.processes import is_stopped
from dbdyno.systems.running.process import ending_with_us

if TYPE_CHECKING:
    from distributed import Worker

AGAIN_S = 1.0
"""From one attempt to join a run to the next."""
JOIN_S = 10
"""How long one attempt takes at most."""
LOOK_S = 0.5
STOPPED_S = 5.0
"""How long the agent may stand stopped by a signal."""
INFORMATION = "dbdyno"
"""The key of what a worker says of itself when it joins."""


@dataclass(frozen=True)
class Post:
    """A host at its post.

    role: what it does in a run. folder: where records lie until they are collected. source_addresses: from which the
    load client's connections begin, in turn; none: the kernel chooses.
    """

    address: str
    name: str
    role: str
    certificates: Certificates
    program: Path
    folder: Path
    source_addresses: tuple[str, ...] = ()


def make_folder(name: str) -> Path:
    """Return the folder of the worker `name`, which is made if it is not there; raises OSError if it cannot be."""
    folder = state_folder() / "worker" / name
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def serve(post: Post) -> None:
    """Serve run after run, until a signal ends it."""
    import dask  # noqa: PLC0415

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with dask.config.set(SETTINGS):
        asyncio.run(_serve(post))


async def _serve(post: Post) -> None:
    loop, ending = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, ending.set)
    while not ending.is_set():
        host = await loop.run_in_executor(None, own_address, post.address)
        if host:
            with _AgentProcess(post, host) as agent:
                await _join(post, host, agent, ending)
        with suppress(TimeoutError):
            await asyncio.wait_for(ending.wait(), AGAIN_S)


def own_address(address: str) -> str | None:
    """Return the address by which the conductor's host sees this one; None if its host is not known or reached now."""
    host, port = host_and_port(address)
    with suppress(OSError):
        family, kind, _, _, destination = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind) as probe:
            probe.connect(destination)
            return str(probe.getsockname()[0])
    return None


def about(post: Post, host: str, port: int) -> Message:
    """Return what a host says of itself when it joins. host, port: where its agent listens."""
    limits = own_limits()
    # Each address has its own ports for a server.
    ports = limits.ports * max(1, len(post.source_addresses))
    return {
        "role": post.role,
        "hostname": socket.gethostname(),
        "host": host,
        "port": port,
        "programs": programs(post.program),
        "processors": len(os.sched_getaffinity(0)),
        "machine": _machine(),
        **asdict(replace(limits, ports=ports)),
    }


def make_worker(post: Post, said: Message) -> "Worker":
    """Return the dask worker of a host that says this of itself, not started yet; raises OSError or ValueError."""
    from distributed import Worker  # noqa: PLC0415

    async def tell(worker: Worker) -> Message:
        del worker
        return said

    return Worker(
        post.address,
        name=post.name,
        nthreads=1,
        host=said["host"],
        protocol="tls",
        dashboard=False,
        security=security_of(post.certificates),
        startup_information={INFORMATION: tell},
        death_timeout=JOIN_S,
        local_directory=str(post.folder),
    )


async def _join(post: Post, host: str, agent: "_AgentProcess", ending: asyncio.Event) -> None:
    """Join runs as long as the agent is well, one after the other."""
    said_of_itself, said = about(post, host, agent.port), False
    while not ending.is_set() and agent.is_well():
        try:
            worker = make_worker(post, said_of_itself)
            await _start(worker, ending)
            async with worker:
                print(f"{post.name}: joined {post.address}", flush=True)
                said = False
                await _until_over(worker, agent, ending)
        except (OSError, ValueError, RuntimeError, TimeoutError, asyncio.CancelledError) as error:
            if not said and not ending.is_set():
                print(f"{post.name}: waiting for a run at {post.address} ({_cause(error)})", flush=True)
                said = True
            with suppress(TimeoutError):
                await asyncio.wait_for(ending.wait(), AGAIN_S)


def _machine() -> str:
    """Return what the kernel drew when it was booted (random(4))."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


async def _start(worker: Any, ending: asyncio.Event) -> None:
    """Start a worker; raises CancelledError if a signal came before it had joined."""
    starting, ended = asyncio.ensure_future(worker.start()), asyncio.ensure_future(ending.wait())
    await asyncio.wait([starting, ended], return_when=asyncio.FIRST_COMPLETED)
    (ended if starting.done() else starting).cancel()
    await starting


def _cause(error: BaseException) -> str:
    """Return the innermost reason, in one line: dask wraps it several times."""
    while error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, asyncio.CancelledError):
        return "the last one is over"
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


async def _until_over(worker: Any, agent: "_AgentProcess", ending: asyncio.Event) -> None:
    """Wait until the run is over, the agent is not well, or a signal came."""
    over = asyncio.ensure_future(worker.finished())
    try:
        while not over.done() and not ending.is_set() and agent.is_well():
            await asyncio.wait([over], timeout=LOOK_S)
    finally:
        over.cancel()


class _AgentProcess:
    """The agent beside this worker; each of the two ends if the other is gone or stands still."""

    def __init__(self, post: Post, host: str) -> None:
        """Start it; raises RunFailed if it does not listen."""
        self._looks_stopped = 0
        command = [sys.executable, "-P", "-m", "dbdyno.hosts.agent", "--host", host, "--worker", str(os.getpid())]
        command += ["--certificates", str(post.certificates.folder), "--program", str(post.program)]
        command += ["--folder", str(post.folder / "records"), "--source-addresses", *post.source_addresses]
        self._process = subprocess.Popen(
            [*ending_with_us(signal.SIGKILL), *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None, "it is a pipe"
        said = self._process.stdout.readline().strip()
        if not said.isdecimal():
            self._process.kill()
            raise RunFailed(f"the agent of this host did not listen at {host}")
        self.port = int(said)

    def __enter__(self) -> "_AgentProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def is_well(self) -> bool:
        """Return whether it lives, and was not stopped by a signal for long; to be asked every LOOK_S."""
        self._looks_stopped = self._looks_stopped + 1 if is_stopped(self._process.pid) else 0
        return self._process.poll() is None and self._looks_stopped * LOOK_S <= STOPPED_S
