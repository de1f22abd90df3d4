"""A build of a server at a path: its programs, the libraries it brings along, and what it says of itself."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from dbdyno.errors import BuildReplaced, UserError, system_words
from dbdyno.systems.builds.elf import machine
from dbdyno.systems.builds.identity import Identity, identify
from dbdyno.systems.builds.layout import Layout
from dbdyno.systems.builds.words import needed_libraries, words_of
from dbdyno.systems.packages.catalogue import LIBRARY_PACKAGES
from dbdyno.systems.running.process import UNPRIVILEGED_USER, server_user

if TYPE_CHECKING:
    from dbdyno.results.json_types import BuildStated

_LIBRARY_FOLDERS = ("lib", "lib/private", "lib64", "libs", "bin")
"""Folders of a build, below its own, that hold its shared libraries."""
_OF_HOST = (Path("/usr"), Path("/usr/local"), Path("/"))
"""Folders whose libraries every program of the host finds."""
UNKNOWN_VERSION = "unknown"
"""The version of a build whose program does not say it before it is started."""
_SHOWN_CHARACTERS, _SHOWN_PLACES = 80, 4


@dataclass(frozen=True)
class Build:
    """A build that was found and checked.

    folder: what the setting names, or the folder of the one program. programs: name to path, those that are there.
    version: as the server says it. said: all it says of its version. identity: the server's when it was found.
    """

    layout: Layout
    folder: Path
    programs: Mapping[str, Path]
    version: str
    said: str
    identity: Identity

    @property
    def server(self) -> Path:
        """The path of the server's program."""
        return self.programs[self.layout.server]

    def program(self, name: str) -> list[str]:
        """Return the beginning of the command line that runs one of its programs with its own libraries.

        Raises UserError if the build has no such program, BuildReplaced if it is another build by now.
        """
        if reason := self.replaced():
            raise BuildReplaced(reason)
        if (path := self.programs.get(name)) is None:
            places = self.layout.programs.get(name, (name,))
            raise UserError(f"{self.folder} has no {name}: looked for {_some(places)}")
        own = self._own_libraries
        libraries = ["env", f"LD_LIBRARY_PATH={':'.join(map(str, own))}"] if own else []
        return [*libraries, *_command(self.layout, name, path)]

    def tool(self, name: str) -> str | None:
        """Return the path of another program that lies beside the server's; None if there is none."""
        path = self.server.with_name(name)
        return str(path) if path.is_file() else None

    @cached_property
    def _own_libraries(self) -> list[Path]:
        return _own_libraries(self.layout, self.folder, self.server)

    def describe(self) -> BuildStated:
        """Return what tells it from other builds, as `trial.json` has it (docs/run-folder.md)."""
        return {
            "setting": self.layout.setting,
            "path": str(self.server),
            "version": self.version,
            "says": self.said.partition("\n")[0],
            "sha256": self.identity.sha256,
            "build_id": self.identity.build_id,
        }

    def replaced(self) -> str | None:
        """Return that the server's file is not the one that was found, or None; a new file with its content is."""
        try:
            is_same = identify(self.server) == self.identity
        except OSError as error:
            return f"{self.server} was removed ({system_words(error)})"
        return None if is_same else f"{self.server} was replaced by another build"


def find_build(label: str, layout: Layout, given: str) -> Build:
    """Return the build at a path; raises UserError if it is none of this system, or cannot be run here."""
    path = Path(given).expanduser().absolute()
    try:
        programs = _programs(label, layout, path)
        server = programs[layout.server]
        folder = path.parent if layout.is_one_program else path
        _refuse_what_cannot_run(label, layout, folder, server)
        said = _ask(label, layout, folder, server) if layout.ask else server.name
        identity = identify(server)
    except OSError as error:
        raise UserError(f"{label}: {error.filename or path}: {system_words(error)}") from None
    if (match := layout.says.search(said)) is None:
        words = " ".join(said.split())[:_SHOWN_CHARACTERS] or "nothing"
        raise UserError(f"{label}: {server} is not {layout.server}: it gives '{words}' as its version")
    return Build(layout, folder, programs, match["version"] or UNKNOWN_VERSION, said, identity)


def _programs(label: str, layout: Layout, path: Path) -> dict[str, Path]:
    """Return the programs of a build by their names; raises UserError if the server's is not there."""
    setting = f"{label}: {layout.setting} = '{path}'"
    if not path.exists():
        raise UserError(f"{setting}: there is no such {'file' if layout.is_one_program else 'directory'}")
    if layout.is_one_program and path.is_dir():
        raise UserError(f"{setting} is a directory: give the program, {path / layout.server}")
    if not layout.is_one_program and not path.is_dir():
        raise UserError(f"{setting} is a file: give the directory of the whole build")
    folder = path.parent if layout.is_one_program else path
    candidates = {name: filter(Path.is_file, layout.places(folder, name)) for name in layout.programs}
    files = {name: next(paths, None) for name, paths in candidates.items()}
    if layout.is_one_program:
        files[layout.server] = path
    programs = {name: file for name, file in files.items() if file}
    if layout.server not in programs:
        raise UserError(f"{setting} has no {layout.server}: looked for {_some(layout.programs[layout.server])}")
    return programs


def _some(places: Sequence[str]) -> str:
    return ", ".join(places[:_SHOWN_PLACES]) + (" …" if len(places) > _SHOWN_PLACES else "")


def _refuse_what_cannot_run(label: str, layout: Layout, folder: Path, server: Path) -> None:
    """Raise UserError for a program of another processor, or one that lacks a shared library."""
    of, ours = machine(server), machine(Path("/proc/self/exe"))
    if of not in (None, ours):
        raise UserError(f"{label}: {server} is a program for {of}, and this host is {ours or platform.machine()}")
    if of is None:
        return
    needed = needed_libraries(server, _own_libraries(layout, folder, server))
    lacking = sorted(name for name, path in needed.items() if path is None)
    if lacking:
        packages = " ".join(LIBRARY_PACKAGES.get(library, f"(what has {library})") for library in lacking)
        raise UserError(f"{label}: {server} needs {', '.join(lacking)}: apt install {packages}")


def _own_libraries(layout: Layout, folder: Path, server: Path) -> list[Path]:
    """Return the folders of the build that have shared libraries which its server needs.

    Its own go before the host's: those of the same name can be of another version.
    """
    tops = [folder] if layout.is_whole else [folder, folder.parent]
    needed = needed_libraries(server) if machine(server) else {}
    folders = [top / name for top in tops if top not in _OF_HOST for name in _LIBRARY_FOLDERS]
    return [candidate for candidate in folders if any((candidate / name).is_file() for name in needed)]


def _ask(label: str, layout: Layout, folder: Path, server: Path) -> str:
    libraries = _own_libraries(layout, folder, server)
    try:
        return words_of([*_command(layout, layout.server, server), *layout.ask], server, libraries)
    except PermissionError:
        raise UserError(f"{label}: {_why_not_allowed(server)}") from None


def _why_not_allowed(server: Path) -> str:
    """Return why a program cannot be run by whom servers run as, and what to do."""
    if not server.stat().st_mode & 0o111:
        return f"{server} is not executable: chmod +x {server}"
    if server_user() is None:
        return f"{server} may not be run by this user: make it and the folders above it readable"
    return (
        f"dbdyno runs as root, so servers run as '{UNPRIVILEGED_USER}', and {server} is closed to others: "
        "make it and the folders above it readable to all, or copy the build elsewhere"
    )


def _command(layout: Layout, name: str, path: Path) -> list[str]:
    is_general = name == layout.server and not path.name.endswith(name)
    return [str(path), *(layout.subcommand if is_general else ())]
