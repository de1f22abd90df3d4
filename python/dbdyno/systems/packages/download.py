"""Getting a package's file through the ordinary package clients, as these are set up on the host."""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from dbdyno.errors import RunFailed, UserError
from dbdyno.systems.packages.package import Package
from dbdyno.systems.running.process import ending_with_us

POLL_S = 0.1
_COMPLAINTS = ("npm error", "npm ERR!", "[ERROR]", "ERROR:", "WARNING: Retrying")
"""How npm (of two ages), mvn and pip begin a line about what went wrong."""
_CLIENT_PACKAGES = {"mvn": "maven", "npm": "npm"}


def missing_client(package: Package) -> str | None:
    """Return which package client is not there and how to get it, or None if it is."""
    if package.client == "pip" or shutil.which(package.client):
        return None
    return (
        f"{package.name} is downloaded by {package.client}, which is not installed: "
        f"apt install {_CLIENT_PACKAGES[package.client]}"
    )


def download(package: Package, folder: Path, progress: Callable[[int], None]) -> Path:
    """Return the package's file in `folder`, got by its client unless it is there already, its sum checked.

    progress: called with the bytes there so far. The client resumes an interrupted download if it can.
    Raises UserError if the client is missing, RunFailed if it fails or the file is another than was pinned.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / package.file
    if not (file.is_file() and sum_of(file) == package.sha256):
        if reason := missing_client(package):
            raise UserError(reason)
        run_client(package, folder, _command(package, folder), progress)
        if not file.is_file():
            raise RunFailed(f"{package.name}: {package.client} left no {package.file} in {folder}")
    if (actual := sum_of(file)) != package.sha256:
        file.unlink()
        raise RunFailed(
            f"{package.name}: {package.file} has the SHA-256 sum {actual}, not {package.sha256}: it is not the tested "
            "file, and was removed"
        )
    progress(package.size_bytes)
    return file


def run_client(package: Package, folder: Path, command: list[str], progress: Callable[[int], None]) -> None:
    """Run a package client to its end; raises RunFailed, in its words, if it fails."""
    log_path = folder / f"{package.client}.log"
    with (
        log_path.open("wb") as log,
        subprocess.Popen(
            # It would go on alone, while another install begins.
            [*ending_with_us(signal.SIGKILL), *command],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, "TMPDIR": str(folder)},
        ) as process,
    ):
        try:
            while process.poll() is None:
                progress(min(_bytes_in(folder), package.size_bytes))
                time.sleep(POLL_S)
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        raise RunFailed(
            f"{package.name}: {package.client} could not get {package.coordinates}: "
            f"{_why(log_path.read_text(errors='replace'))}. Can it reach its registry from here?"
        )


def _why(log: str) -> str:
    """Return what a client says of why it failed: its first words are of the cause, its last ones of its help."""
    said = [line.strip() for line in log.splitlines() if line.strip()]
    telling = [line for line in said if line.startswith(_COMPLAINTS)]
    return " | ".join(telling[:3] or said[-1:]) or "it said nothing"


def _command(package: Package, folder: Path) -> list[str]:
    """Return the client's command; each keeps what it needs for itself below `folder`, which is removed afterwards."""
    match package.client:
        case "mvn":
            copy = ["dependency:copy", f"-Dartifact={package.coordinates}", f"-DoutputDirectory={folder}"]
            return [*maven(folder), *copy, "-Dmdep.useBaseVersion=true"]
        case "npm":
            own = ["--cache", str(folder / "npm"), "--pack-destination", str(folder)]
            return ["npm", "pack", package.coordinates, "--loglevel=error", *own]
        case _:
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
            return [*pip, "--no-cache-dir", "--dest", str(folder), *package.client_options, package.coordinates]


def maven(folder: Path) -> list[str]:
    """Return the beginning of a command of mvn that keeps what it needs below `folder`."""
    return ["mvn", "--batch-mode", "--quiet", f"-Dmaven.repo.local={folder / 'repository'}"]


def _bytes_in(folder: Path) -> int:
    """Return how much is in a folder; files may come and go meanwhile."""
    total = 0
    for directory, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(directory, name)).st_size
            except FileNotFoundError:
                continue
    return total


def sum_of(file: Path) -> str:
    """Return a file's SHA-256 sum in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
