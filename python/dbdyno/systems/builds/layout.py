"""How a build of a system is named by its path, and where its programs lie in it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from dbdyno.systems.builds.config import Reader

CONFIG = "config"
"""The setting that names a configuration file of the user's."""


@dataclass(frozen=True)
class Layout:
    """Declared once by each system that can be started from a path.

    setting: names the path. `binary` is the server's program itself, `bindir` the folder of the programs, any other
        the folder that an installation, an unpacked tarball or a build tree has at its top.
    programs: name to the places below that folder where it may be, the server first.
    says: matches what the server says of its version; its group `version` is the version.
    ask: the options that make it say so; none: the name of its file says it.
    config: reads a configuration file of its; None: dbdyno reads none.
    subcommand: what follows the program if it is one for several purposes, and not named after this one.
    """

    setting: str
    programs: Mapping[str, tuple[str, ...]]
    says: re.Pattern[str]
    ask: tuple[str, ...] = ("--version",)
    subcommand: tuple[str, ...] = ()
    config: Reader | None = None

    @property
    def server(self) -> str:
        """The name of the server's program."""
        return next(iter(self.programs))

    @property
    def is_one_program(self) -> bool:
        """Return whether the setting names the program and not a folder."""
        return self.setting == "binary"

    @property
    def is_whole(self) -> bool:
        """Return whether the setting names the folder at the top of the build."""
        return self.setting not in ("binary", "bindir")

    @property
    def settings(self) -> frozenset[str]:
        """The settings that say what is started, which are not the server's."""
        return frozenset((self.setting, CONFIG))

    def places(self, folder: Path, program: str) -> Iterator[Path]:
        """Yield the files that may be a program of the build in this folder."""
        for pattern in self.programs[program]:
            yield from sorted(folder.glob(pattern))


def beside(*names: str) -> dict[str, tuple[str, ...]]:
    """Return the places of programs that lie in one folder, which is what the setting names."""
    return {name: (name,) for name in names}
