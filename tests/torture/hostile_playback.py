"""Plays conversations back to dbdyno-load, and judges how it took them."""

from __future__ import annotations

import asyncio
import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from random import Random
from typing import NamedTuple

from dbdyno.conduct.load_client import find_load_client
from torture.hostile_mutations import Played, mutate
from torture.hostile_recording import OPERATION_TIMEOUT_S, Conversation, Exchange, to_port

DURATION_S, GRACE_S, START_S = 1, 5, 3
MOST_BYTES = 80 << 20
"""The memory limit of dbdyno-load: dbdyno itself and its two children take 220 of 300 MiB."""
SMALL_PIECES = 50
SILENCE_S, PARTIAL_S = 0.8, 0.01
KINDS = ("crash", "hang", "memory", "wrong data")


class Verdict(NamedTuple):
    """Return the one of KINDS that a conversation ended in, or None, and the observation."""

    kind: str | None
    seen: str = ""


class Playback(asyncio.Protocol):
    """One connection: answers each request as the mutated conversation does. right: rows given out as recorded."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self._recorded, self._played = part.next_connection()
        self._at, self._came = 0, b""
        self._wake: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._answer()

    def data_received(self, data: bytes) -> None:
        self._came += data
        self._answer()

    def connection_lost(self, error: Exception | None) -> None:
        if self._wake:
            self._wake.cancel()

    def _answer(self, however: bool = False) -> None:
        if self._wake:
            self._wake.cancel()
        if self._at < len(self._recorded):
            recorded, played = self._recorded[self._at], self._played[self._at]
            if len(self._came) >= len(recorded.request) or (however and self._came):
                self._at += 1
                self._part.right += self._part.is_right(self._came, played.answer)
                # A client waits for the answer. A request longer than recorded must not leave its end here.
                self._came = b""
                self._send(played)
                return
        self._wake = asyncio.get_running_loop().call_later(PARTIAL_S if self._came else SILENCE_S, self._give_up)

    def _give_up(self) -> None:
        if self._came and self._at < len(self._recorded):
            self._answer(however=True)
        else:
            self._transport.close()

    def _send(self, played: Played) -> None:
        pieces = [played.answer]
        if played.piece_bytes:
            ends = range(played.piece_bytes, SMALL_PIECES * played.piece_bytes, played.piece_bytes)
            pieces = [played.answer[begin:end] for begin, end in pairwise((0, *ends, len(played.answer)))]
        loop = asyncio.get_running_loop()
        for number, piece in enumerate(pieces):
            loop.call_later(played.delay_s + number * 0.002, self._write, piece)
        loop.call_later(played.delay_s + len(pieces) * 0.002, self._sent, played.ends)

    def _write(self, piece: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(piece)

    def _sent(self, ends: bool) -> None:
        if self._transport.is_closing():
            return
        if ends:
            self._transport.close()
        else:
            self._answer()


class Part:
    """One conversation being played. right: rows that were given out as recorded, to who asked for them."""

    def __init__(self, conversation: Conversation, others: list[bytes], random: Random) -> None:
        self.right = 0
        connections = [connection for connection in conversation.connections if connection]
        self._connections = [
            (connection, mutate([exchange.answer for exchange in connection], others, random))
            for connection in connections
        ]
        self._next = 0
        for_rows = [exchange for connection in connections for exchange in connection if exchange.row()]
        self._tail_bytes = tail_bytes([exchange.request for exchange in for_rows])
        self._rows = {_key(exchange.request, self._tail_bytes): exchange.row() for exchange in for_rows}
        self._rows_by_number = {int(row[0].rstrip(b"x")): row for row in self._rows.values()}

    def is_right(self, request: bytes, answer: bytes) -> bool:
        """Return whether the row that a request asks for is in an answer, as it was recorded.

        What a server numbered itself, such as a statement, may be another in the request. The key may be sent in
        another way than recorded: in the type that a server says it has, or with its type before it.
        """
        row = self._rows.get(_key(request, self._tail_bytes)) or self._row_of_another_type(request)
        return row is not None and all(column in answer for column in row)

    def _row_of_another_type(self, request: bytes) -> list[bytes] | None:
        rows = (row for number, row in self._rows_by_number.items() if asks_for(request, number))
        return next(rows, None)

    def next_connection(self) -> tuple[list[Exchange], list[Played]]:
        """Return what the next connection is to be; behind the last one it is that again."""
        self._next += 1
        return self._connections[min(self._next, len(self._connections)) - 1]


def _key(request: bytes, tail_bytes: int) -> tuple[int, bytes]:
    return len(request), request[-tail_bytes:]


def asks_for(request: bytes, number: int) -> bool:
    """Return whether a request has the key `number`: as a text of CQL, an integer of PostgreSQL, or MySQL's last."""
    digits = str(number).encode()
    as_integers = (
        size.to_bytes(4, "big") + number.to_bytes(size, "big") for size in (2, 4, 8) if number < 1 << (8 * size - 1)
    )
    at_the_end = len(digits).to_bytes(4, "big") + digits, number.to_bytes(8, "little")
    return request.endswith(at_the_end) or any(key in request for key in as_integers)


def tail_bytes(requests: list[bytes]) -> int:
    """Return how many bytes before their ends requests of one length begin to differ; all if none are of one length."""
    pairs = ((request, other) for request in requests for other in requests if len(request) == len(other))
    differ = [len(request) - at for request, other in pairs for at in range(len(request)) if request[at] != other[at]]
    return max(differ, default=max(map(len, requests), default=0))


@contextmanager
def event_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """Yield an event loop that runs on its own thread."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    yield loop
    loop.call_soon_threadsafe(loop.stop)
    thread.join()


def play(loop: asyncio.AbstractEventLoop, conversation: Conversation, others: list[bytes], seed: str) -> Verdict:
    """Play a conversation, mutated as the seed says, to a dbdyno-load, and judge what it did."""
    part = Part(conversation, others, Random(seed))
    server = asyncio.run_coroutine_threadsafe(loop.create_server(lambda: Playback(part), "127.0.0.1", 0), loop).result()
    try:
        plan = to_port(conversation.plan, server.sockets[0].getsockname()[1])
        return _judge(conversation, part, *_execute(plan, conversation.secrets))
    finally:
        loop.call_soon_threadsafe(server.close)


def _execute(plan: dict, secrets: list[str]) -> tuple[int, str, bool]:
    """Return the exit status, what was said, and whether it had to be killed."""
    process = subprocess.Popen(
        ["prlimit", f"--data={MOST_BYTES}", find_load_client(), "run"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    late = threading.Event()

    def kill() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(DURATION_S + OPERATION_TIMEOUT_S + GRACE_S + START_S, kill)
    timer.start()
    with process.stdin, process.stdout:
        process.stdin.write(f"{json.dumps(plan)}\n{json.dumps({'secrets': secrets})}\n".encode())
        process.stdin.close()
        said = process.stdout.read().decode(errors="replace")
    process.wait()
    timer.cancel()
    return process.returncode, said, late.is_set()


def _judge(conversation: Conversation, part: Part, status: int, said: str, late: bool) -> Verdict:
    if late:
        return Verdict("hang", f"{conversation.plan['phases']}: {said[-300:]}")
    # Records end in a newline and nothing else: what servers say may have Unicode's other ends of a line.
    records = [json.loads(line) for line in said.split("\n") if line.startswith('{"')]
    ended = next((record for record in records if record["record"] == "end"), None)
    if "memory allocation of" in said:
        return Verdict("memory", f"{conversation.plan['phases']}: {said[-300:]}")
    if status not in (0, 1, 2) or ended is None:
        return Verdict("crash", f"{conversation.plan['phases']}: exit status {status}: {said[-300:]}")
    verified = sum(record["reads_verified"] for record in records if record["record"] == "total")
    if verified > part.right:
        return Verdict("wrong data", f"{verified} rows were taken for right, {part.right} were: {said[-300:]}")
    return Verdict(None, f"{verified}")
