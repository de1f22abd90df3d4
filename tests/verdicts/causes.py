"""What is done to client, server, disk or network of a trial, each for the time of a `with`."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import pytest

from dbdyno.conduct.listener import Listener
from dbdyno.errors import UserError
from dbdyno.observe.disk import device_of
from dbdyno.systems.base import Launch
from dbdyno.systems.running.cgroup import ControlGroup, Limit, disk_limit, limited
from dbdyno.systems.running.guard import Guard
from helpers import system

SERVERS = ("mariadbd", "redis-server", "postgres")
RELAY = Path(__file__).with_name("relay.py")


def servers() -> list[int]:
    """Return the servers that this process has started."""
    return [child.pid for child in psutil.Process().children() if child.name() in SERVERS]


class AtTheTrial(Listener):
    """Does something to the servers from the trial's begin on, so that loading goes undisturbed."""

    def __init__(self, begin):
        self._begin = begin

    def trial_begins(self, trial):
        self._begin(servers())


@contextmanager
def nothing() -> Iterator[tuple[None, Listener]]:
    """Leave everything as it is."""
    yield None, Listener()


@contextmanager
def permitted(limit: Limit) -> Iterator[tuple[None, Listener]]:
    """Leave everything as it is where that could be limited; skip the test elsewhere."""
    with Guard() as guard:
        need_group(limit, guard)
        yield None, Listener()


@contextmanager
def server_limited(limit: Limit) -> Iterator[tuple[None, Listener]]:
    """Limit the servers."""
    with Guard() as guard, ExitStack() as stack:
        need_group(limit, guard)

        def begin(pids):
            stack.enter_context(limited(pids, limit, guard))

        yield None, AtTheTrial(begin)


@contextmanager
def client_limited(limit: Limit) -> Iterator[tuple[None, Listener]]:
    """Limit this process, and so the load client that it starts; what it does itself meanwhile is next to nothing."""
    with Guard() as guard, ExitStack() as stack:
        need_group(limit, guard)

        def begin(pids):
            del pids
            stack.enter_context(limited([os.getpid()], limit, guard))

        yield None, AtTheTrial(begin)


def need_group(limit: Limit, guard: Guard) -> None:
    """Skip the test where that cannot be limited."""
    try:
        ControlGroup(limit, guard).remove()
    except UserError as error:
        pytest.skip(str(error))


def slow_disk(**per_s: float) -> Limit:
    """Return the limit of the disk on which servers have their data."""
    device = device_of(Path(os.environ.get("DBDYNO_DATA_DIR") or tempfile.gettempdir()))
    if device is None:
        pytest.skip("the data does not lie on a disk")
    return disk_limit((device / "dev").read_text().strip(), per_s)


@contextmanager
def far_away(name: str, delay_ms: float) -> Iterator[tuple[str, Listener]]:
    """Start a server as somebody else's, and put a way of `delay_ms` before it; yields the URL of its far end."""
    with Guard() as guard, guard.scratch() as logs, ExitStack() as stack:
        server = system(name)
        stack.callback(server.stop)
        server.start(Launch(guard, logs, clients=64, rows=1000))
        place = server.endpoint
        argv = [sys.executable, "-I", str(RELAY), str(place.port), str(delay_ms)]
        relay = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        stack.callback(relay.wait)
        stack.callback(relay.kill)
        guard.tell("pid", relay.pid)
        port = relay.stdout.readline().strip()
        scheme = {"mariadb": "mysql"}.get(name, name)
        yield f"{scheme}://{place.user or ''}:{place.password}@127.0.0.1:{port}/{place.database}", Listener()


@contextmanager
def stalling(stopped_s: float, period_s: float) -> Iterator[tuple[None, Listener]]:
    """Stop the servers for `stopped_s` of every `period_s`."""
    over = threading.Event()

    def stall(pids):
        while not over.wait(period_s - stopped_s):
            send(pids, signal.SIGSTOP)
            over.wait(stopped_s)
            send(pids, signal.SIGCONT)

    threads = []

    def begin(pids):
        threads.append(threading.Thread(target=stall, args=(pids,)))
        threads[-1].start()

    try:
        yield None, AtTheTrial(begin)
    finally:
        over.set()
        for thread in threads:
            thread.join()


def send(pids: list[int], number: int) -> None:
    """Send a signal to those still there."""
    for pid in pids:
        if psutil.pid_exists(pid):
            os.kill(pid, number)
