"""The conductor's connection to the keeper of a server host, on its own thread: calls are answered one by one."""

import asyncio
import ssl
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any

from dbdyno.errors import RunFailed, UserError
from dbdyno.hosts.channel import BEAT_S, Channel, Lost, Message, connect
from dbdyno.hosts.crew import Member
from dbdyno.hosts.tasks import together, until_one_ends

POLL_S = 0.2
CLOSE_S = 10.0
"""How long a host may take to end its keeper."""


class Line:
    """Calls go to the keeper; what it says unasked goes to `on_said`, on another thread.

    lost: why the host is gone, None while it is there. waits: whether a call has no answer yet.
    """

    def __init__(self, member: Member, context: ssl.SSLContext, on_said: Callable[[Message], None]) -> None:
        """Connect; raises RunFailed if the host is not reached."""
        self.member = member
        self.lost: str | None = None
        self._on_said = on_said
        # Queues of this kind may be waited for while a signal comes.
        self._answers: SimpleQueue[Message] = SimpleQueue()
        self.waits = False
        self._turn = Lock()
        self._loop = asyncio.new_event_loop()
        self._calls: asyncio.Queue[Message] = asyncio.Queue()
        self._thread = Thread(target=self._run, args=(context,), name=f"line-{member.name}", daemon=True)
        self._thread.start()
        self._answer()

    def call(self, verb: str, **arguments: Any) -> Any:
        """Return the keeper's answer; raises UserError or RunFailed as it did, RunFailed if the host is gone.

        Threads take turns: answers come in the order of the calls.
        """
        with self._turn:
            self.waits = True
            self._say({"call": verb, "arguments": arguments})
            return self._answer()

    def close(self) -> None:
        """Have the keeper end, and wait for that; if a call was interrupted, the agent ends it without waiting."""
        if not self.lost:
            self._say({"say": "leave"} if not self.waits else {})
        self._thread.join(CLOSE_S)

    def _answer(self) -> Any:
        while True:
            try:
                message = self._answers.get(timeout=POLL_S)
            except Empty:
                if self._thread.is_alive():
                    continue
                raise RunFailed(f"host {self.member.name}: {self.lost}") from None
            self.waits = False
            if "refused" in message:
                raise UserError(message["refused"])
            if "failed" in message:
                raise RunFailed(message["failed"])
            return message["answer"]

    def _say(self, message: Message) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._calls.put_nowait, message)

    def _run(self, context: ssl.SSLContext) -> None:
        try:
            self._loop.run_until_complete(self._serve(context))
        except Lost as lost:
            self.lost = f"lost: {lost}"
        except OSError as error:
            self.lost = f"its messages cannot be recorded: {error.strerror or error}"
        finally:
            self.lost = self.lost or "left"

    async def _serve(self, context: ssl.SSLContext) -> None:
        member = self.member
        channel = await connect(member.host, member.port, context, member.name)
        try:
            async with together(self._listen(channel), self._speak(channel), _beat(channel)) as tasks:
                await channel.send({"say": "keep"})
                self._answers.put({"answer": None})
                await until_one_ends(tasks)
        finally:
            await channel.close()

    async def _listen(self, channel: Channel) -> None:
        while True:
            message = await channel.receive()
            if "ended" in message:
                self.lost = f"the keeper of its servers {message['ended']}"
                return
            if {"answer", "refused", "failed"} & message.keys():
                self._answers.put(message)
            elif "alive" not in message:
                self._on_said(message)

    async def _speak(self, channel: Channel) -> None:
        """Say what is to be said; nothing at all is the end."""
        while message := await self._calls.get():
            await channel.send(message)


async def _beat(channel: Channel) -> None:
    while True:
        await channel.send({"say": "alive"})
        await asyncio.sleep(BEAT_S)
