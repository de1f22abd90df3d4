"""Small files of the kernel are read whole, and a process's name does not confuse its fields."""

import os

import pytest

from dbdyno.observe.procfs import PAGE_BYTES, fields_of_stat, read


def test_a_file_is_read(tmp_path):
    (tmp_path / "file").write_bytes(b"some 1\n" * 1000)
    assert read(str(tmp_path / "file")) == b"some 1\n" * 1000
    with pytest.raises(FileNotFoundError):
        read(str(tmp_path / "none"))


def test_a_list_longer_than_a_page_is_read_whole():
    assert len(read("/proc/self/maps")) > 4096


def test_a_name_may_hold_anything():
    assert fields_of_stat(b"7 (a) R 9 (b) S 1 7 7\n") == [b"S", b"1", b"7", b"7"]
    own = fields_of_stat(read("/proc/self/stat"))
    assert int(own[1]) == os.getppid() and int(own[21]) * PAGE_BYTES > 1 << 20
