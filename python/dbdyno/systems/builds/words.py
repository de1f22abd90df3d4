"""The version that a program prints, and the shared libraries it lacks."""

import os
import subprocess
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from threading import Timer

from dbdyno.systems.builds.identity import Stamp, stamp
from dbdyno.systems.running.process import server_user

ANSWER_TIMEOUT_S = 20.0
MOST_BYTES = 1 << 16


def words_of(argv: list[str], program: Path, libraries: Iterable[Path] = ()) -> str:
    """Return what a command writes, run as servers are; the same for a program whose file is the same.

    libraries: folders of shared libraries that go before the host's. Raises OSError if it cannot be run.
    """
    return _words(tuple(argv), stamp(program), ":".join(map(str, libraries)))


@lru_cache(maxsize=64)
def _words(argv: tuple[str, ...], of: Stamp, libraries: str) -> str:
    del of
    user = server_user()
    process = subprocess.Popen(
        argv,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "LC_ALL": "C"} | ({"LD_LIBRARY_PATH": libraries} if libraries else {}),
        process_group=0,
        user=user.pw_uid if user else None,
        group=user.pw_gid if user else None,
        extra_groups=[] if user else None,
    )
    # A program that takes the question for a start would not end.
    timer = Timer(ANSWER_TIMEOUT_S, process.kill)
    timer.start()
    assert process.stdout is not None, "it is a pipe"
    with process:
        said = process.stdout.read(MOST_BYTES)
        process.kill()
    timer.cancel()
    return said.decode(errors="replace").strip()


def needed_libraries(program: Path, libraries: Iterable[Path] = ()) -> dict[str, str | None]:
    """Return the shared libraries of a program and of these: name to path, or None if it is nowhere.

    libraries: folders of shared libraries that go before the host's.
    """
    needed: dict[str, str | None] = {}
    for line in words_of(["ldd", str(program)], program, libraries).splitlines():
        name, arrow, path = line.strip().partition(" => ")
        if arrow:
            needed[Path(name).name] = None if path == "not found" else path.partition(" (")[0]
    return needed
