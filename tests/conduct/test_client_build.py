"""The file that a client names by its path is one build for a whole run."""

import shutil
from pathlib import Path

import pytest

from dbdyno.conduct.client_build import client_build
from dbdyno.errors import BuildReplaced
from helpers import host_library


@pytest.fixture(params=["C library", "program"])
def named(request, tmp_path):
    """Return a client that names a file, and the file."""
    if request.param == "program":
        path = Path(shutil.copy("/bin/true", tmp_path / "mine"))
        return str(path), path
    path = Path(shutil.copy(host_library("pq"), tmp_path / "libpq.so.5"))
    return f"psycopg?library={path}", path


def test_it_is_described_by_path_and_sum(named):
    client, path = named
    build = client_build(client)
    assert build["path"] == str(path) and len(build["sha256"]) == 64 and build["build_id"]


def test_one_that_is_replaced_or_removed_is_another(named):
    client, path = named
    assert client_build(client)
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(BuildReplaced, match=rf"{path} was replaced by another build"):
        client_build(client)
    path.unlink()
    with pytest.raises(BuildReplaced, match=r"was removed \("):
        client_build(client)


def test_other_clients_name_no_file():
    assert client_build("native") is None and client_build("psycopg") is None
