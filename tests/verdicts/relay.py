"""A relay between a client and a server that hands everything on after a while, as a long way would.

`python relay.py PORT MS` prints the port it listens on, and relays to PORT of this host until its stdin closes.
"""

import asyncio
import sys


async def hand_on(reader, writer, delay_s):
    """Hand on what comes, each piece after `delay_s`, as much of it under way at once as there is."""
    loop, last = asyncio.get_running_loop(), None
    while piece := await reader.read(1 << 16):
        last = loop.call_later(delay_s, writer.write, piece)
    await asyncio.sleep(delay_s if last else 0)
    writer.close()


async def main(port, delay_s):
    async def relay(reader, writer):
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(hand_on(reader, there_writer, delay_s), hand_on(there_reader, writer, delay_s))

    server = await asyncio.start_server(relay, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    # Bytes still under way at the end are lost, and nobody asks for them any more.
    asyncio.run(main(int(sys.argv[1]), float(sys.argv[2]) / 1000))
