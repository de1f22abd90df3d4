"""The C library that a client loads from a path: checked by loading it once, and told apart from others."""

import os
import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

from dbdyno.errors import UserError, system_words
from dbdyno.experiment.clients import C_LIBRARY, library_of
from dbdyno.results.json_types import BuildStated
from dbdyno.systems.builds.elf import machine
from dbdyno.systems.builds.identity import identify

LOAD_TIMEOUT_S = 30.0
_VERSION = re.compile(r"C library (?P<version>[^)\s]+)")


def preloaded(path: Path | str | None) -> dict[str, str]:
    """Return the environment in which a program takes this C library for the one of its name."""
    return {"LD_PRELOAD": str(path)} if path else {}


@lru_cache(maxsize=64)
def c_library_build(client: str, path: Path) -> BuildStated:
    """Return the build of a C library, once the client has loaded it; raises UserError."""
    if any(character in str(path) for character in " :"):
        raise UserError(f"client: {path}: its path has a space or a colon; copy it elsewhere")
    try:
        of, identity = machine(path), identify(path)
    except OSError as error:
        raise UserError(f"client: {path}: {system_words(error)}") from None
    if of is None:
        raise UserError(f"client: {path} is not a shared library")
    if of != (ours := machine(Path("/proc/self/exe"))):
        raise UserError(f"client: {path} is a library for {of}, and this host is {ours}")
    says = _ask(client, path)
    version = _VERSION.search(says)
    return {
        "setting": C_LIBRARY,
        "path": str(path),
        "version": version["version"] if version else None,
        "says": says,
        "sha256": identity.sha256,
        "build_id": identity.build_id,
    }


def _ask(client: str, path: Path) -> str:
    """Return what the client library says of itself with this C library; raises UserError if it cannot load it."""
    command = [sys.executable, "-P", "-m", "dbdyno.load_python", "library", library_of(client).name, str(path)]
    environment = {**os.environ, **preloaded(path)}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=LOAD_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise UserError(f"client: {path} was not loaded within {LOAD_TIMEOUT_S:.0f} s") from None
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or [f"it ended with status {done.returncode}"])[-1]
        raise UserError(f"client: {reason}")
    return done.stdout.strip()
