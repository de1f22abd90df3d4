"""`dbdyno serve`: the runs of a folder, and the running one second by second, as pages on this host."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from html import escape
from pathlib import Path

import click

from dbdyno.errors import UserError

LOOPBACK = "127.0.0.1"
_LIBRARIES = ("starlette", "uvicorn", "anyio", "h11")


def command(directory: Path, host: str, port: int) -> int:
    """Serve the pages until Ctrl-C."""
    if not directory.is_dir():
        raise UserError(f"{directory}: is not a folder; give the one that holds the runs")
    with live_page(directory, host, port, "/") as address:
        click.echo(f"Runs in {directory}: {address}\nCtrl-C ends it.")
        with suppress(KeyboardInterrupt):
            threading.Event().wait()
    return 0


@contextmanager
def live_page(directory: Path, host: str = LOOPBACK, port: int = 0, path: str = "/live") -> Iterator[str]:
    """Serve the pages meanwhile, and open a browser if a person is at the terminal; yields the address.

    Raises UserError if a library is missing, or the address cannot be listened on.
    """
    try:
        from dbdyno.serve.server import serving  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _LIBRARIES:
            raise
        raise UserError(f"{error.name} is not installed: pip install 'dbdyno[serve]'") from None
    with serving(directory, host, port, path) as address, _opened(address):
        yield address


@contextmanager
def _opened(address: str) -> Iterator[None]:
    """Open a browser where a person is, if there is a desktop: a browser in the terminal would take it over.

    Everybody on this host can read a browser's command line, so the address with its token stands in a file that only
    this user can read.
    """
    desktop = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if not (sys.stdout and sys.stdout.isatty() and desktop):
        yield
        return
    with tempfile.TemporaryDirectory(prefix="dbdyno-") as folder:
        page = Path(folder) / "open.html"
        page.write_text(f'<meta http-equiv="refresh" content="0;url={escape(address)}">', encoding="utf-8")
        webbrowser.open(page.as_uri())
        yield
