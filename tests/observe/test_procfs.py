"""Small files of the kernel are read whole, and a process's name does not confuse its fields."""

import os
import subprocess

import pytest

from dbdyno.observe import procfs
from dbdyno.observe.procfs import PAGE_BYTES, Kept, fields_of_stat, read


def test_a_file_is_read(tmp_path):
    (tmp_path / "file").write_bytes(b"some 1\n" * 1000)
    assert read(str(tmp_path / "file")) == b"some 1\n" * 1000
    with pytest.raises(FileNotFoundError):
        read(str(tmp_path / "none"))


def test_a_list_longer_than_a_page_is_read_whole():
    assert len(read("/proc/self/maps")) > 4096


@pytest.fixture
def kept():
    kept_files = Kept()
    yield kept_files
    kept_files.close()


def test_what_is_kept_open_tells_what_is_true_now(tmp_path, kept):
    path = tmp_path / "file"
    for content in (b"1\n", b"20\n"):
        path.write_bytes(content)
        assert kept.read(str(path)) == content
    assert opened(kept) == 1
    kept.close()
    assert opened(kept) == 0 and kept.read(str(path)) == b"20\n"


def opened(kept):
    """Return how many files are open, by the kernel and by its own count."""
    names = [f"/proc/self/fd/{number}" for number in kept._open.values()]
    assert all(os.path.exists(name) for name in names)
    return len(names)


def test_what_has_ended_is_closed(kept):
    with subprocess.Popen(["sleep", "60"]) as process:
        assert kept.read(f"/proc/{process.pid}/stat").split()[0] == str(process.pid).encode()
        process.kill()
    with pytest.raises(ProcessLookupError):
        kept.read(f"/proc/{process.pid}/stat")
    assert opened(kept) == 0
    with pytest.raises(FileNotFoundError):
        kept.read(f"/proc/{process.pid}/stat")


def test_where_there_is_no_room_files_are_opened_each_time(monkeypatch, kept):
    before = Kept._open_in_all
    monkeypatch.setattr(procfs, "_most_open", lambda: before + 1)
    assert kept.read("/proc/self/stat") and kept.read("/proc/self/comm") and kept.read("/proc/self/comm")
    assert opened(kept) == 1
    kept.close()
    assert Kept._open_in_all == before
    assert procfs._most_open() > 0


def test_a_name_may_hold_anything():
    assert fields_of_stat(b"7 (a) R 9 (b) S 1 7 7\n") == [b"S", b"1", b"7", b"7"]
    own = fields_of_stat(read("/proc/self/stat"))
    assert int(own[1]) == os.getppid() and int(own[21]) * PAGE_BYTES > 1 << 20
