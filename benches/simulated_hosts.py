"""Many client hosts in one process: `python -m benches.simulated_hosts ADDRESS CERTIFICATES FOLDER NAME…`.

Each has an agent of its own, with its own connection and certificate, and a dask worker of its own. What runs the load
is a real dbdyno-load for each. So for the conductor they are hosts; they only share a process and this machine.
"""

import asyncio
import logging
import os
import ssl
import sys
from pathlib import Path

import dask

from dbdyno.conduct.load_client import find_load_client
from dbdyno.hosts.agent import Agent
from dbdyno.hosts.certificates import Certificates
from dbdyno.hosts.settings import SETTINGS
from dbdyno.hosts.worker import Post, about, make_worker

HOST = "127.0.0.1"


async def join(post: Post) -> None:
    """Have a host join the run at its post."""
    post.folder.mkdir(parents=True)
    agent = Agent(post.program, post.folder / "records", os.getppid())
    port = await agent.listen(HOST, post.certificates.context(ssl.Purpose.CLIENT_AUTH))
    await make_worker(post, about(post, HOST, port))


async def serve(address: str, certificates: Path, folder: Path, names: list[str]) -> None:
    """Have all hosts join, and serve until this process is killed."""
    program = find_load_client()
    for name in names:
        await join(Post(address, name, "client", Certificates.of(certificates, name), program, folder / name))
    await asyncio.Event().wait()


if __name__ == "__main__":
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with dask.config.set(SETTINGS):
        asyncio.run(serve(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:]))
