"""The agent's part between a conductor and the keeper of this host's servers: the keeper ends with either of them."""

import asyncio
import json
import os
import signal
import sys
from contextlib import suppress
from dataclasses import asdict
from typing import Protocol

from dbdyno.hosts.channel import BEAT_S, LONGEST_LINE, Channel, Lost
from dbdyno.hosts.clocks import own_clocks
from dbdyno.hosts.tasks import raised, together
from dbdyno.leftovers.processes import is_stopped
from dbdyno.systems.running.process import describe_exit, ending_with_us

LEAVE_S = 5.0
"""A keeper whose conductor is gone is killed after that; its guards do the rest."""
STOPPED_S = 5.0
"""How long a keeper may stand stopped by a signal."""


class Worker(Protocol):
    """The process `dbdyno worker`."""

    def is_there(self) -> bool:
        """Return whether it lives, and was not stopped by a signal for long."""


class Relay:
    """One keeper for one conductor. host: the address at which its servers listen."""

    def __init__(self, host: str, worker: Worker) -> None:
        self._host, self._worker = host, worker
        self._beats_stopped = 0

    async def run(self, channel: Channel) -> None:
        """Hand on calls and answers until one side ends; raises Lost if the conductor is gone."""
        process = await asyncio.create_subprocess_exec(
            *ending_with_us(signal.SIGKILL),
            *(sys.executable, "-P", "-m", "dbdyno.hosts.keeper", "--address", self._host),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=LONGEST_LINE,
            process_group=0,
        )
        work = (self._hear(channel, process), self._tell(channel, process), self._beat(channel, process))
        try:
            async with together(*work) as tasks:
                hearing, telling, _ = tasks
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                if hearing.done() and not hearing.exception():
                    await asyncio.wait([telling], timeout=LEAVE_S)
                await raised(tasks)
        finally:
            status = await _end(process)
        await channel.send({"ended": describe_exit(status)})

    async def _hear(self, channel: Channel, process: asyncio.subprocess.Process) -> None:
        """Hand on what the conductor says until it leaves; raises Lost if it is silent or gone."""
        assert process.stdin is not None, "it is a pipe"
        while True:
            message = await channel.receive()
            if message.get("say") == "leave":
                process.stdin.close()
                return
            if "call" in message:
                with suppress(BrokenPipeError, ConnectionResetError):
                    process.stdin.write(json.dumps(message).encode() + b"\n")
                    await process.stdin.drain()

    async def _tell(self, channel: Channel, process: asyncio.subprocess.Process) -> None:
        """Hand on what the keeper says until it ends."""
        assert process.stdout is not None, "it is a pipe"
        async for line in process.stdout:
            await channel.send(json.loads(line))

    async def _beat(self, channel: Channel, process: asyncio.subprocess.Process) -> None:
        """Say once a second that this host is there; raises Lost if the worker or the keeper stands still."""
        while self._worker.is_there():
            self._beats_stopped = self._beats_stopped + 1 if is_stopped(process.pid) else 0
            if self._beats_stopped * BEAT_S > STOPPED_S:
                raise Lost("the keeper of its servers hangs")
            await channel.send({"alive": asdict(own_clocks())})
            await asyncio.sleep(BEAT_S)
        raise Lost("the worker on this host is gone")


async def _end(process: asyncio.subprocess.Process) -> int:
    """End a keeper in good order if it can, else kill it, and return its status."""
    assert process.stdin is not None, "it is a pipe"
    process.stdin.close()
    with suppress(TimeoutError):
        return await asyncio.wait_for(process.wait(), LEAVE_S)
    with suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGKILL)
    return await process.wait()
