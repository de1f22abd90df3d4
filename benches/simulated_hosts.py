"""Many client hosts in one process: `python -m benches.simulated_hosts ADDRESS FOLDER NAME…`.

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


async def join(post: Post, address: str) -> None:
    """Have a host join the run at its post, with its agent at an address."""
    post.folder.mkdir(parents=True)
    agent = Agent(post.program, post.folder / "records", os.getppid())
    port = await agent.listen(address, post.certificates.context(ssl.Purpose.CLIENT_AUTH))
    await make_worker(post, about(post, address, port))


async def serve(address: str, folder: Path, names: list[str]) -> None:
    """Have all hosts join a conductor at the same address, and serve until this process is killed.

    folder: of the run, with its certificates.
    """
    program, conductor = find_load_client(), f"tls://{address}:8786"
    for name in names:
        certificates = Certificates.of(folder / "certificates", name)
        await join(Post(conductor, name, "client", certificates, program, folder / "hosts" / name), address)
    await asyncio.Event().wait()


if __name__ == "__main__":
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with dask.config.set(SETTINGS):
        asyncio.run(serve(sys.argv[1], Path(sys.argv[2]), sys.argv[3:]))
