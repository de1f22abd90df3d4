"""Threads write and read a file in order and at random; without O_DIRECT that is said; nothing stays behind."""

import errno
import os

import pytest

from dbdyno.observe.gauges import parallel, storage
from dbdyno.observe.gauges.parallel import measure_parallel_disk


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(parallel, "PART_BYTES", 2 << 20)


def test_every_rate_is_of_all_threads_and_the_first_pass_is_whole(tmp_path):
    measured = measure_parallel_disk(tmp_path, 0.0)
    assert measured["workers"] == parallel.WORKERS
    # Two blocks of a megabyte are each thread's part, and without any time each reads and writes once more.
    assert [measured[what]["count"] for what in ("write", "read", "random_write")] == [8, 4, 4]
    assert all(measured[what]["per_s"] > 0 and any(measured[what]["slots"]) for what in ("write", "read"))
    assert not list(tmp_path.iterdir())


def test_each_thread_writes_its_own_part(tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(parallel.os, "pwritev", lambda descriptor, buffers, offset: written.append(offset))
    measure_parallel_disk(tmp_path, 0.0)
    in_order, at_random = sorted(written[:8]), sorted(written[8:])
    assert in_order == [megabyte << 20 for megabyte in range(8)]
    assert [offset // parallel.PART_BYTES for offset in at_random] == [0, 1, 2, 3]


def test_without_o_direct_it_says_so(tmp_path, monkeypatch):
    def refuse(path, flags):
        raise OSError(errno.EINVAL, "no O_DIRECT")

    monkeypatch.setattr(parallel.tempfile, "TemporaryFile", lambda dir: (dir / "file").open("w+b"))
    monkeypatch.setattr(storage.os, "open", refuse)
    assert measure_parallel_disk(tmp_path, 0.0)["direct"] is False


def test_a_directory_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(OSError):
        measure_parallel_disk(tmp_path / os.urandom(4).hex(), 0.0)
