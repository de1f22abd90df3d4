"""The identity of a build, by its content."""

import hashlib
import os

import pytest

from dbdyno.systems.builds.identity import identify, stamp


def test_the_sum_is_that_of_the_content(tmp_path):
    (tmp_path / "server").write_bytes(b"one")
    assert identify(tmp_path / "server").sha256 == hashlib.sha256(b"one").hexdigest()


def test_a_file_that_was_written_anew_is_another_build(tmp_path):
    path = tmp_path / "server"
    path.write_bytes(b"one")
    before, its_stamp = identify(path), stamp(path)
    path.write_bytes(b"two")
    os.utime(path, ns=(1, 1))
    assert (identify(path) != before, stamp(path) != its_stamp) == (True, True)


def test_a_copy_is_the_same_build(tmp_path):
    for name in ("one", "other"):
        (tmp_path / name).write_bytes(b"same")
    assert identify(tmp_path / "one") == identify(tmp_path / "other")


def test_what_is_gone_is_an_error_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        identify(tmp_path / "gone")
