"""A server of the memcached protocol that thinks, works, queues or stalls as its options say.

`python scripted.py '{"think_ms": 2, "workers": 4}'` prints the port it listens on, and serves until its stdin closes.

think_ms: each request sleeps so long. workers: so many may do so at once, the others queue; 0: any number.
busy_us: each request works so long. stall_ms, every_ms: it answers nobody for `stall_ms` of every `every_ms`.
"""

import asyncio
import json
import sys
import time


class Store:
    """Keys with their values, and how often they were changed."""

    def __init__(self):
        self.values, self.changes = {}, 0

    def get(self, words, with_unique):
        """Answer `get` and `gets`."""
        entries = [(key, *self.values[key]) for key in words[1:] if key in self.values]
        lines = [
            b"VALUE %b 0 %d%b\r\n%b\r\n" % (key, len(value), b" %d" % unique if with_unique else b"", value)
            for key, unique, value in entries
        ]
        return b"".join(lines) + b"END\r\n"

    def store(self, words, value):
        """Answer `set`, `add` and `cas`; a time that has passed removes the key."""
        verb, key, expiry = words[0], words[1], int(words[3])
        there = key in self.values
        if verb == b"add" and there:
            return b"NOT_STORED\r\n"
        if verb == b"cas" and not there:
            return b"NOT_FOUND\r\n"
        if verb == b"cas" and self.values[key][0] != int(words[5]):
            return b"EXISTS\r\n"
        self.changes += 1
        self.values[key] = (self.changes, value)
        if expiry < 0:
            del self.values[key]
        return b"STORED\r\n"

    def answer(self, words, value):
        """Answer one request."""
        if words[0] in (b"get", b"gets"):
            return self.get(words, words[0] == b"gets")
        if words[0] in (b"set", b"add", b"cas"):
            return self.store(words, value)
        if words[0] == b"delete":
            return b"DELETED\r\n" if self.values.pop(words[1], None) else b"NOT_FOUND\r\n"
        if words[0] == b"stats":
            return b"STAT version 1\r\nSTAT curr_items %d\r\nEND\r\n" % len(self.values)
        return b"VERSION 1\r\n" if words[0] == b"version" else b"ERROR\r\n"


class Behaviour:
    """The delays of a `get` before its answer; loading and cleaning up go undisturbed."""

    def __init__(self, think_ms=0, workers=0, busy_us=0, stall_ms=0, every_ms=0):
        self.think_s, self.busy_s = think_ms / 1e3, busy_us / 1e6
        self.free = asyncio.Semaphore(workers) if workers else None
        self.stall_s, self.every_s = stall_ms / 1e3, every_ms / 1e3

    async def delay(self):
        """Think, in a queue if there are few workers."""
        if not self.think_s:
            return
        if self.free is None:
            await asyncio.sleep(self.think_s)
            return
        async with self.free:
            await asyncio.sleep(self.think_s)

    def work(self):
        """Work without letting anybody else."""
        ends = time.perf_counter() + self.busy_s
        while time.perf_counter() < ends:
            pass

    async def stall(self):
        """Sleep with the whole event loop, again and again."""
        while self.stall_s:
            await asyncio.sleep(self.every_s - self.stall_s)
            time.sleep(self.stall_s)


async def serve(store, behaviour, reader, writer):
    """Answer one client."""
    while line := await reader.readline():
        words = line.split()
        value = b""
        if words[0] in (b"set", b"add", b"cas"):
            value = (await reader.readexactly(int(words[4]) + 2))[:-2]
        if words[0] == b"get":
            await behaviour.delay()
            behaviour.work()
        writer.write(store.answer(words, value))
    writer.close()


async def main(options):
    store, behaviour = Store(), Behaviour(**options)

    async def client(reader, writer):
        await serve(store, behaviour, reader, writer)

    server = await asyncio.start_server(client, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    stalls = asyncio.create_task(behaviour.stall())
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    stalls.cancel()


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
