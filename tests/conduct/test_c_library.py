"""A C library by its path: loaded once by the client itself, told apart, refused with a reason."""

import re
import shutil
from pathlib import Path

import pytest

from dbdyno.conduct.c_library import c_library_build
from dbdyno.errors import UserError
from helpers import host_library


def asked(path):
    path = Path(path)
    return c_library_build(f"psycopg?library={path}", path)


@pytest.fixture
def libpq(tmp_path):
    """The host's libpq, copied elsewhere."""
    return Path(shutil.copy(host_library("pq"), tmp_path / "libpq.so.5"))


def test_it_is_described_by_path_version_and_sum(libpq):
    build = asked(libpq)
    assert (build["setting"], build["path"]) == ("library", str(libpq))
    assert re.fullmatch(r"psycopg 3\.\S+ \(python; C library \d+\.\d+\)", build["says"])
    assert build["says"].endswith(f" {build['version']})") and len(build["sha256"]) == 64 and build["build_id"]


def test_one_that_cannot_be_loaded_is_refused_with_the_reason(libpq, tmp_path):
    (tmp_path / "text.so").write_text("no library, " * 9)
    content = libpq.read_bytes()
    (tmp_path / "arm.so").write_bytes(content[:18] + (183).to_bytes(2, "little") + content[20:])
    for path, said in (
        (tmp_path / "none.so", "no such file"),
        (tmp_path, "is a directory"),
        (tmp_path / "text.so", "is not a shared library"),
        (tmp_path / "arm.so", "is a library for aarch64, and this host is"),
        (tmp_path / "a b.so", "has a space or a colon"),
        (host_library("m"), r"psycopg loads \S*libpq\S* and not \S*libm\S*: give a build of the same library"),
    ):
        with pytest.raises(UserError, match=said):
            asked(path)
