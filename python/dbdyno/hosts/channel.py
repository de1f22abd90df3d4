"""Messages between the conductor and a host's agent: JSON objects, one a line, over TLS in both directions.

Nothing that comes is ever unpickled, and nothing is read before both sides have shown their certificates.
"""

import asyncio
import json
import ssl
from contextlib import suppress
from pathlib import Path
from typing import Any

from dbdyno.hosts.certificates import peer_name

Message = dict[str, Any]

LONGEST_LINE = 1 << 26
CONNECT_TIMEOUT_S = 10.0
SILENCE_S = 10.0
"""Both sides send something every second: one that is silent for so long is lost."""
BEAT_S = 1.0
_CHUNK = 1 << 20


class Lost(Exception):
    """The other side is gone, silent, or another than it should be; in words for a person."""


class Channel:
    """One side of a connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @property
    def peer(self) -> str | None:
        """The name in the certificate of the other side."""
        return peer_name(self._writer.get_extra_info("ssl_object"))

    async def send(self, message: Message) -> None:
        """Send a message; raises Lost if nobody takes it."""
        try:
            self._writer.write(json.dumps(message).encode() + b"\n")
            async with asyncio.timeout(SILENCE_S):
                await self._writer.drain()
        except TimeoutError:
            raise Lost(f"accepted nothing for {SILENCE_S:.0f} s") from None
        except (OSError, ssl.SSLError) as error:
            raise Lost(f"the connection was lost: {error}") from None

    async def receive(self) -> Message:
        """Return the next message; raises Lost if the connection ends or is silent for SILENCE_S."""
        try:
            # Unlike wait_for this makes no task: with 200 hosts there are hundreds of messages a second.
            async with asyncio.timeout(SILENCE_S):
                line = await self._reader.readline()
            if not line.endswith(b"\n"):
                raise Lost("the connection ended")
            message = json.loads(line)
        except TimeoutError:
            raise Lost(f"silent for {SILENCE_S:.0f} s") from None
        except (OSError, ssl.SSLError) as error:
            raise Lost(f"the connection was lost: {error}") from None
        except ValueError:
            raise Lost("sent something that is not a message") from None
        if not isinstance(message, dict):
            raise Lost("sent something that is not a message")
        return message

    async def send_file(self, path: Path) -> None:
        """Send a file: its size as a message, then its bytes; one that is not there is empty."""
        size = path.stat().st_size if path.exists() else 0
        await self.send({"size_bytes": size})
        if size:
            with path.open("rb") as file:
                while size and (chunk := file.read(min(_CHUNK, size))):
                    size -= len(chunk)
                    self._writer.write(chunk)
                    await self._writer.drain()

    async def receive_file(self, path: Path) -> None:
        """Write the file that comes to `path`; raises Lost if it does not come whole, OSError if it cannot be kept."""
        left = int((await self.receive())["size_bytes"])
        with path.open("wb") as file:
            while left:
                try:
                    chunk = await asyncio.wait_for(self._reader.read(min(_CHUNK, left)), SILENCE_S)
                except (TimeoutError, ConnectionError, ssl.SSLError):
                    chunk = b""
                if not chunk:
                    raise Lost("the connection was lost while records were collected")
                file.write(chunk)
                left -= len(chunk)

    async def close(self) -> None:
        """End the connection."""
        self._writer.close()
        with suppress(OSError, ssl.SSLError, TimeoutError):
            await asyncio.wait_for(self._writer.wait_closed(), 1.0)


async def connect(host: str, port: int, context: ssl.SSLContext, name: str) -> Channel:
    """Return a channel to the agent of the host `name`; raises Lost if nobody, or another host, answers there."""
    try:
        opened = asyncio.open_connection(host, port, ssl=context, limit=LONGEST_LINE)
        channel = Channel(*await asyncio.wait_for(opened, CONNECT_TIMEOUT_S))
    except TimeoutError:
        raise Lost(f"did not answer at {host}:{port} within {CONNECT_TIMEOUT_S:.0f} s") from None
    except (OSError, ssl.SSLError) as error:
        raise Lost(f"cannot be reached at {host}:{port}: {error}") from None
    if channel.peer != name:
        await channel.close()
        raise Lost(f"{host}:{port} is the host {channel.peer}, by its certificate")
    return channel
