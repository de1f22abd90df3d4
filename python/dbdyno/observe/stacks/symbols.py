"""The packages with the names of functions that stacks lack: distributions strip servers and keep names apart."""

import shutil
import subprocess
from collections.abc import Iterable
from contextlib import suppress

from dbdyno.observe.procfs import read

_NAMED_OTHERWISE = {"libc6": "libc6-dbg"}
"""Debian's packages whose symbols are not in `PACKAGE-dbgsym`, each with the package that has them."""


def mapped_files(pids: Iterable[int]) -> dict[str, str]:
    """Return the programs and libraries that processes have in their memory: the name of each file to its path."""
    files = {}
    for pid in pids:
        # A process may have ended, or be somebody else's.
        with suppress(OSError):
            for line in read(f"/proc/{pid}/maps").decode(errors="replace").splitlines():
                _, rights, *_, path = line.split(None, 5)
                if "x" in rights and path.startswith("/"):
                    files[path.rpartition("/")[2]] = path
    return files


def package_with_names(path: str) -> str | None:
    """Return the Debian package that has the names of a file's functions; None of a file that is in no package, or
    where packages are not Debian's."""
    if not shutil.which("dpkg-query"):
        return None
    # Packages may know a file by the place it had before /lib became a link to /usr/lib.
    for known in (path, path.removeprefix("/usr")):
        answer = subprocess.run(["dpkg-query", "--search", known], capture_output=True, text=True, check=False)
        if answer.returncode == 0:
            package = answer.stdout.partition(": ")[0].partition(",")[0].partition(":")[0]
            return _NAMED_OTHERWISE.get(package, f"{package}-dbgsym")
    return None
