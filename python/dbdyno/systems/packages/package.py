"""Packages: the source of a server's version, and the files that dbdyno unpacks from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Part:
    """The part of an archive to unpack, and its destination.

    member: a folder (it ends in `/`, the contents are taken; empty is everything), or an archive in the archive, which
        is unpacked in its turn.
    into: the folder below the installation.
    """

    member: str
    into: str = "."


@dataclass(frozen=True)
class Package:
    """One version of one server.

    system, version: as an experiment has them, `mysql` and `5.6`; no version where it is the only way to the system.
    release: the store's own exact version.
    client: what gets it, `mvn`, `npm`, `pip` or `go`. coordinates: the package (of one in Go that is no main of
        dbdyno's, the command) and its exact version, as the client has them.
    client_options: what else the client must be told.
    file: what the client leaves; of a program in Go or of many jars, the list of the sums of its parts, which lies with
        the catalogue (of one in Go, beside its go.mod).
    sha256: of that file. size_bytes: of what is downloaded, and of a program in Go also of what is compiled.
    parts: what is taken out of it. programs: name to path in the installation.
    library_folder: where its own shared libraries are, or empty.
    """

    system: str
    version: str
    release: str
    client: str
    coordinates: str
    file: str
    sha256: str
    size_bytes: int
    parts: tuple[Part, ...]
    programs: Mapping[str, str] = field(hash=False)
    library_folder: str = ""
    client_options: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The system as an experiment names it: `mysql@5.6`."""
        return f"{self.system}@{self.version}" if self.version else self.system

    @property
    def how_to_get_it(self) -> str:
        """The command that gets it, and how much is downloaded, in the unit of the registries."""
        return f"dbdyno systems install {self.name} ({self.size_bytes / 1e6:.0f} MB)"

    @property
    def is_many(self) -> bool:
        """Return whether it comes as many files, whose sums are listed, and not as one archive."""
        return self.file.endswith(".sha256")
