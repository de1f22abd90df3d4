"""Reads and flushes are timed; a file system without O_DIRECT is said to be one; nothing stays behind."""

import errno
import os

import pytest

from dbdyno.observe.gauges import storage
from dbdyno.observe.gauges.storage import measure_storage


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(storage, "FILE_BYTES", 1 << 20)


def test_reads_and_flushes_have_times_and_nothing_stays(tmp_path):
    measured = measure_storage(tmp_path, 0.0)
    assert measured["by"] == "dbdyno"
    assert measured["read_us"]["p50"] > 0 and measured["flush_us"]["p50"] > 0
    assert not list(tmp_path.iterdir())


def test_without_o_direct_it_says_so(tmp_path, monkeypatch):
    def refuse(path, flags):
        raise OSError(errno.EINVAL, "no O_DIRECT")

    monkeypatch.setattr(storage.os, "open", refuse)
    monkeypatch.setattr(storage.tempfile, "TemporaryFile", lambda dir: (dir / "file").open("w+b"))
    assert measure_storage(tmp_path, 0.0)["direct"] is False


def test_a_directory_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(OSError):
        measure_storage(tmp_path / os.urandom(4).hex(), 0.0)
