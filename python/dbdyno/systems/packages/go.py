"""A program in Go: built here, its own or from a small main of dbdyno's, of modules whose sums a go.sum pins."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from dbdyno.errors import RunFailed, UserError
from dbdyno.systems.packages.download import run_client, sum_of
from dbdyno.systems.packages.package import Package


def build(package: Package, folder: Path, progress: Callable[[int], None]) -> Path:
    """Return the program of a package, built in `folder` from the modules that go gets.

    progress: called with the bytes of modules and objects there so far. If it was cut short before, it keeps the
    modules and objects that it has. Raises UserError if go is missing or too old, RunFailed if it fails, or if the list
    of sums differs from the tested one. go itself refuses a module that is not the one in that list.
    """
    sums = Path(__file__).parent / package.file
    if sum_of(sums) != package.sha256:
        raise RunFailed(f"{package.name}: {package.file} is not the list of sums that was pinned")
    if reason := missing_go(package):
        raise UserError(reason)
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / package.system
    own = {
        "GOMODCACHE": folder / "modules",
        "GOCACHE": folder / "objects",
        # The host's own settings of Go, such as another version, would change what is built.
        "GOFLAGS": "",
        "GOTOOLCHAIN": "local",
        "CGO_ENABLED": "0",
    }
    environment = [f"{name}={value}" for name, value in own.items()]
    options = ["-mod=readonly", "-modcacherw", "-trimpath", "-buildvcs=false", *package.client_options]
    command = ["go", "build", "-C", str(sums.parent), *options, "-o", str(program), _command_of(package, sums.parent)]
    run_client(package, folder, ["env", *environment, *command], progress)
    progress(package.size_bytes)
    return program


def missing_go(package: Package) -> str | None:
    """Return that there is no go, or one too old for a package, and where to get it; None if it is new enough.

    Distributions have what was new when they were: Debian 12 has 1.19.
    """
    manifest = (Path(__file__).parent / package.file).with_name("go.mod").read_text()
    (wanted,) = re.findall(r"^go (\S+)$", manifest, re.MULTILINE)
    version = _version_of_go()
    if version and _numbers(version) >= _numbers(wanted):
        return None
    here = f"go {version} is too old" if version else "go is not installed"
    return f"{package.name} is built by go {wanted} or newer, and {here}: get it from https://go.dev/dl"


def _version_of_go() -> str | None:
    """Return the version of the host's own go, without the one that a module or a setting may have it get."""
    if not shutil.which("go"):
        return None
    local = {**os.environ, "GOTOOLCHAIN": "local"}
    said = subprocess.run(["go", "version"], cwd="/", env=local, capture_output=True, text=True, check=False).stdout
    match = re.search(r"\bgo(\d[\d.]*)", said)
    return match[1] if match else None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part)


def _command_of(package: Package, source: Path) -> str:
    """Return what is built: dbdyno's own main, if there is one, or the command in the package's module."""
    return "." if any(source.glob("*.go")) else package.coordinates.partition("@")[0]
