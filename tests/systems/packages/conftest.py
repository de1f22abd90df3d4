"""A small package of our own, which pip gets as it gets any other."""

import base64
import hashlib
import io
import tarfile
import zipfile
from dataclasses import replace

import pytest

from dbdyno.systems.packages.cache import CACHE_VARIABLE
from dbdyno.systems.packages.package import Package, Part

PROGRAM = b"#!/bin/sh\necho little server\n"
METADATA = b"Metadata-Version: 2.1\nName: little\nVersion: 1.0\n"
WHEEL = b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def inner_archive(*links):
    """Return a tar archive with the program in bin/, and with links to places outside it."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz") as archive:
        member = tarfile.TarInfo("bin/littled")
        member.size = len(PROGRAM)
        archive.addfile(member, io.BytesIO(PROGRAM))
        for target in links:
            link = tarfile.TarInfo(f"bin/link{target.count('/')}")
            link.type, link.linkname = tarfile.SYMTYPE, target
            archive.addfile(link)
    return written.getvalue()


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return a package that lies here as a wheel; the cache directory is one of the test's own."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    wheel = tmp_path / "little-1.0-py3-none-any.whl"
    files = {
        "little/server.tar.gz": inner_archive("/opt/elsewhere", "../../outside"),
        "little/share/words.txt": b"hello",
        "little-1.0.dist-info/METADATA": METADATA,
        "little-1.0.dist-info/WHEEL": WHEEL,
    }
    record = "".join(f"{name},sha256={_digest(content)},{len(content)}\n" for name, content in files.items())
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        archive.writestr("little-1.0.dist-info/RECORD", record + "little-1.0.dist-info/RECORD,,\n")
    parts = (Part("little/server.tar.gz"), Part("little/share/", "words"))
    described = Package("little", "1", "1.0", "pip", str(wheel), wheel.name, "", 0, parts, {"littled": "bin/littled"})
    size_bytes, digest = wheel.stat().st_size, hashlib.sha256(wheel.read_bytes()).hexdigest()
    return replace(described, size_bytes=size_bytes, sha256=digest)


def _digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
