"""Messages over TLS."""

import asyncio
import ssl

import pytest

from dbdyno.hosts import channel
from dbdyno.hosts.certificates import Certificates
from dbdyno.hosts.channel import Channel, Lost, connect


@pytest.fixture
def talk(certificates):
    """Return a function that connects as the conductor to the host c1, and has both ends say something."""

    def start(there, here, name="c1"):
        async def both():
            async def serve(reader, writer):
                other = Channel(reader, writer)
                try:
                    await there(other)
                finally:
                    await other.close()

            context = Certificates.of(certificates, "c1").context(ssl.Purpose.CLIENT_AUTH)
            server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context, limit=channel.LONGEST_LINE)
            conductor = Certificates.of(certificates, "conductor").context(ssl.Purpose.SERVER_AUTH)
            async with server:
                port = server.sockets[0].getsockname()[1]
                opened = await connect("127.0.0.1", port, conductor, name)
                try:
                    return await here(opened)
                finally:
                    await opened.close()

        return asyncio.run(both())

    return start


async def nothing(other):
    await asyncio.sleep(0)


def test_messages_go_in_both_directions(talk):
    async def there(other):
        message = await other.receive()
        await other.send({"peer": other.peer, "heard": message})

    async def here(opened):
        await opened.send({"say": "clock", "text": "é\n" * 100_000})
        return await opened.receive()

    assert talk(there, here) == {"peer": "conductor", "heard": {"say": "clock", "text": "é\n" * 100_000}}


@pytest.mark.parametrize("size", [0, 1, 3_000_000])
def test_a_file_comes_whole(talk, tmp_path, size):
    (tmp_path / "sent").write_bytes(bytes(range(256)) * (size // 256) + b"x" * (size % 256))

    async def there(other):
        await other.send_file(tmp_path / "sent")

    async def here(opened):
        await opened.receive_file(tmp_path / "got")

    talk(there, here)
    assert (tmp_path / "got").read_bytes() == (tmp_path / "sent").read_bytes()


def test_a_file_that_is_not_there_is_empty(talk, tmp_path):
    async def here(opened):
        await opened.receive_file(tmp_path / "got")

    talk(lambda other: other.send_file(tmp_path / "none"), here)
    assert (tmp_path / "got").read_bytes() == b""


def test_a_file_that_is_cut_short_is_lost(talk, tmp_path):
    async def here(opened):
        with pytest.raises(Lost, match="while records were collected"):
            await opened.receive_file(tmp_path / "got")

    talk(lambda other: other.send({"size_bytes": 10}), here)


@pytest.mark.parametrize(
    ("sent", "why"), [(b"", "ended"), (b"{", "ended"), (b"[1]\n", "not a message"), (b"\xff\n", "not a message")]
)
def test_whatever_is_no_message_ends_the_connection(talk, sent, why):
    async def there(other):
        other._writer.write(sent)

    async def here(opened):
        with pytest.raises(Lost, match=why):
            await opened.receive()

    talk(there, here)


def test_silence_is_the_end(talk, monkeypatch):
    monkeypatch.setattr(channel, "SILENCE_S", 0.2)
    heard_nothing = asyncio.Event()

    async def here(opened):
        with pytest.raises(Lost, match="silent"):
            await opened.receive()
        heard_nothing.set()

    async def there(other):
        # It does not listen: it could be the first to call the other silent, and would hang up.
        await heard_nothing.wait()

    talk(there, here)


def test_another_host_is_not_talked_to(talk):
    with pytest.raises(Lost, match="is the host c1, by its certificate"):
        talk(nothing, nothing, name="c2")


def test_where_nobody_listens_nobody_is_reached(certificates):
    context = Certificates.of(certificates, "conductor").context(ssl.Purpose.SERVER_AUTH)
    with pytest.raises(Lost, match="cannot be reached at"):
        asyncio.run(connect("127.0.0.1", 1, context, "c1"))
