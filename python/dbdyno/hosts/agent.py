"""The agent of a host: `python -m dbdyno.hosts.agent`, started and watched by `dbdyno worker`.

It runs one load client for a conductor, or the keeper of a server. A dead man's switch ends either: the conductor is
silent or gone, the worker is stopped or gone, or the agent itself is gone (the kernel ends both then).
"""

import argparse
import asyncio
import json
import os
import shutil
import signal
import ssl
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from dbdyno.experiment.hosts import CONDUCTOR
from dbdyno.hosts.certificates import Certificates
from dbdyno.hosts.channel import BEAT_S, LONGEST_LINE, Channel, Lost, Message
from dbdyno.hosts.clocks import own_clocks
from dbdyno.hosts.links import fill_link, serve_link
from dbdyno.hosts.network import round_trip_s, round_trip_to
from dbdyno.hosts.relay import Relay
from dbdyno.hosts.tasks import raised, together
from dbdyno.leftovers.processes import is_stopped
from dbdyno.observe.host import HostSampler
from dbdyno.observe.network import NetworkSampler
from dbdyno.results.samples import AT
from dbdyno.results.write import Lines
from dbdyno.systems.running.process import ending_with_us

STOPPED_S = 5.0
"""How long the worker may stand stopped by a signal."""
RECORDS, LOG = "records.jsonl", "load.log"
_LIVE = ("record", "second", "warmup", "seconds", "connected", "transactions", "errors", "client_cpu_s")
"""The keys of an interval that go to the conductor while the trial runs; the rest is collected afterwards."""
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")


class Agent:
    """Serves one conductor at a time. folder: where records lie until they are collected.

    source_addresses: from which the load client's connections begin.
    """

    def __init__(self, program: Path, folder: Path, worker_pid: int, source_addresses: Sequence[str] = ()) -> None:
        self._program, self._folder, self._source_addresses = program, folder, list(source_addresses)
        self._worker = _Worker(worker_pid)
        self._server: asyncio.Server | None = None
        self._host = ""

    async def listen(self, host: str, context: ssl.SSLContext) -> int:
        """Listen at a free port of `host`, and return the port."""
        self._host = host
        self._server = await asyncio.start_server(self._talk, host, 0, ssl=context, limit=LONGEST_LINE)
        return int(self._server.sockets[0].getsockname()[1])

    async def serve(self) -> None:
        """Serve until the worker is gone."""
        while self._worker.is_there():
            await asyncio.sleep(BEAT_S / 2)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        channel = Channel(reader, writer)
        try:
            if channel.peer == CONDUCTOR:
                await self._answer(channel)
        except (Lost, OSError) as error:
            print(f"dbdyno worker: the conductor: {error}", file=sys.stderr, flush=True)
        finally:
            await channel.close()

    async def _answer(self, channel: Channel) -> None:
        """Answer until the connection ends."""
        folder = self._folder
        while True:
            message = await channel.receive()
            match message.get("say"):
                case "clock":
                    await channel.send({"unix_ns": time.time_ns()})
                case "run":
                    folder = self._folder / _file_name(message["trial"])
                    if self._source_addresses:
                        message["plan"]["source_addresses"] = self._source_addresses
                    await Part(self._program, folder, message, self._worker).run(channel)
                case "keep":
                    await Relay(self._host, self._worker).run(channel)
                    return
                case "serve link":
                    await serve_link(channel, self._host, message)
                case "fill link":
                    await fill_link(channel, message)
                case "collect":
                    await channel.send_file(folder / RECORDS)
                    await channel.send_file(folder / LOG)
                case "drop" if folder != self._folder:
                    shutil.rmtree(folder, ignore_errors=True)
                    return


class _Worker:
    """The process `dbdyno worker`, without which nothing goes on here."""

    def __init__(self, pid: int) -> None:
        self._pid, self._stopped_since = pid, 0.0

    def is_there(self) -> bool:
        """Return whether it lives, and was not stopped by a signal for long."""
        now = time.monotonic()
        self._stopped_since = (self._stopped_since or now) if is_stopped(self._pid) else 0.0
        return os.getppid() == self._pid and not (self._stopped_since and now - self._stopped_since > STOPPED_S)


class Part:
    """One host's part of a trial: a load client, its records, and what ends it."""

    def __init__(self, program: Path, folder: Path, message: Message, worker: _Worker) -> None:
        self._program, self._folder, self._worker = program, folder, worker
        self._observe, self._peers = bool(message.get("observe")), dict(message.get("peers") or {})
        self._unsent: Message = {}
        # They go to the load client's standard input and nowhere else.
        self._input = f"{json.dumps(message['plan'])}\n{json.dumps({'secrets': message['secrets']})}\n".encode()

    async def run(self, channel: Channel) -> None:
        """Run the load client to its end, or until something ends it; raises Lost if the conductor is gone."""
        shutil.rmtree(self._folder, ignore_errors=True)
        try:
            self._folder.mkdir(parents=True, mode=0o700)
            process = await self._start()
        except OSError as error:
            await channel.send({"failed": f"{error.filename or self._program}: {error.strerror or error}"})
            return
        work = (self._follow(channel, process), self._listen(channel, process), self._beat(channel))
        try:
            async with together(*work) as tasks:
                following, *watching = tasks
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                await raised(watching)
                await following
        except OSError as error:
            _kill(process)
            await channel.send({"failed": f"its records cannot be kept: {error.strerror or error}"})
            return
        finally:
            _kill(process)
        await channel.send({"ended": await process.wait()} | self._unsent)

    async def _start(self) -> asyncio.subprocess.Process:
        with (self._folder / LOG).open("wb") as log:
            process = await asyncio.create_subprocess_exec(
                *ending_with_us(signal.SIGKILL),
                self._program,
                "run",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                limit=LONGEST_LINE,
                process_group=0,
            )
        assert process.stdin is not None, "it is a pipe"
        with suppress(BrokenPipeError, ConnectionResetError):
            process.stdin.write(self._input)
            await process.stdin.drain()
            process.stdin.close()
        self._input = b""
        return process

    async def _follow(self, channel: Channel, process: asyncio.subprocess.Process) -> None:
        """Keep the records as they come, and tell the conductor of those it waits for."""
        assert process.stdout is not None, "it is a pipe"
        records = Lines(self._folder / RECORDS)
        try:
            async for line in process.stdout:
                records.append(line.removesuffix(b"\n"))
                if live := _live(line):
                    await channel.send({"live": live})
        finally:
            records.close()

    async def _listen(self, channel: Channel, process: asyncio.subprocess.Process) -> None:
        """Take what the conductor says meanwhile; raises Lost if it is silent or gone."""
        while True:
            match (await channel.receive()).get("say"):
                case "interrupt":
                    with suppress(ProcessLookupError):
                        process.send_signal(signal.SIGINT)
                case "stop":
                    _kill(process)

    async def _beat(self, channel: Channel) -> None:
        """Say once a second that this host is there, how its clocks stand against each other, and what it does."""
        samplers = HostSampler(), NetworkSampler()
        while self._worker.is_there():
            # A message less for the conductor: what was observed a second ago goes along.
            await channel.send({"alive": asdict(own_clocks())} | self._unsent)
            self._unsent = {}
            if self._observe:
                row = {AT: time.time()}
                for sampler in samplers:
                    row |= sampler.sample()
                for name, took_s in zip(self._peers, await self._round_trips(), strict=True):
                    row |= {} if took_s is None else {round_trip_to(name): took_s}
                self._unsent = {"observed": row}
            await asyncio.sleep(BEAT_S)
        raise Lost("the worker on this host is gone")

    async def _round_trips(self) -> list[float | None]:
        return await asyncio.gather(*(round_trip_s(*address) for address in self._peers.values()))


def _live(line: bytes) -> Message | None:
    """Return the part of a record that the conductor needs at once; None if it can wait."""
    record = json.loads(line)
    match record["record"]:
        case "interval":
            return {key: record[key] for key in _LIVE}
        case "hello" | "phase" | "end":
            return dict(record)
        case "total":
            return {"record": "total", "begun_late_s": record.get("begun_late_s", 0.0)}
    return None


def _kill(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _file_name(name: str) -> str:
    """Return a name of a run and a trial as that of a folder, whatever is in it."""
    return "".join(letter if letter in _SAFE else "_" for letter in name).lstrip(".") or "_"


def main(arguments: list[str]) -> None:
    """Serve until the worker is gone."""
    parser = argparse.ArgumentParser()
    for option in ("host", "certificates", "program", "folder"):
        parser.add_argument(f"--{option}", required=True)
    parser.add_argument("--worker", type=int, required=True)
    parser.add_argument("--source-addresses", nargs="*", default=[])
    given = parser.parse_args(arguments)
    # A terminal's Ctrl-C ends the worker, and the worker's end ends this.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    context = Certificates(Path(given.certificates)).context(ssl.Purpose.CLIENT_AUTH)
    agent = Agent(Path(given.program), Path(given.folder), given.worker, given.source_addresses)
    asyncio.run(_serve(agent, given.host, context))


async def _serve(agent: Agent, host: str, context: ssl.SSLContext) -> None:
    """Say the port to the worker, then serve."""
    print(await agent.listen(host, context), flush=True)
    await agent.serve()


if __name__ == "__main__":
    main(sys.argv[1:])
