"""Serves the pages on this host while something else goes on."""

from __future__ import annotations

import ipaddress
import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from dbdyno.errors import UserError
from dbdyno.serve.access import TOKEN
from dbdyno.serve.pages import application

END_S = 2
"""A page that is being made when serving ends is waited for no longer."""


@contextmanager
def serving(folder: Path, host: str, port: int, path: str = "/") -> Iterator[str]:
    """Serve the runs in `folder` meanwhile; yields the address of `path`, with the token.

    Args:
        host: an address of this host.
        port: 0 is any free one.

    Raises:
        UserError: the address is none of this host's, or the port is taken.
    """
    listening = _listen(host, port)
    port = listening.getsockname()[1]
    token = secrets.token_urlsafe(24)
    app = application(folder, _names(host), token, f"dbdyno-{port}")
    config = uvicorn.Config(
        app, log_config=None, access_log=False, server_header=False, lifespan="off", timeout_graceful_shutdown=END_S
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],), name="serve", daemon=True)
    thread.start()
    try:
        yield f"http://{_in_address(host)}:{port}{path}?{TOKEN}={token}"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


def _listen(host: str, port: int) -> socket.socket:
    try:
        address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        raise UserError(f"--host {host}: give an address of this host, such as 127.0.0.1") from None
    if address.is_unspecified:
        raise UserError(f"--host {host}: give one address of this host; requests to any other are refused")
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    try:
        return socket.create_server((str(address), port), family=family)
    except OSError as error:
        raise UserError(f"--port {port}: {host}: {error.strerror or error}; give another --host or --port") from None


def _names(host: str) -> list[str]:
    """Return what a browser may call this host."""
    loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    return [_in_address(host), *(["localhost", "127.0.0.1"] if loopback else [])]


def _in_address(host: str) -> str:
    return f"[{host}]" if ":" in host else host
