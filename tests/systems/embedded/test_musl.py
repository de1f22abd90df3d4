"""Libraries on systems of musl: its loader's folders, and the names there."""

import platform
from pathlib import Path

from dbdyno.systems.embedded.musl import find_in, library_folders


def test_the_folders_are_those_of_the_environment_before_those_of_the_loader(tmp_path, monkeypatch):
    monkeypatch.setenv("LD_LIBRARY_PATH", "/one:/two")
    assert library_folders(tmp_path) == [Path(f) for f in ("/one", "/two", "/lib", "/usr/local/lib", "/usr/lib")]
    (tmp_path / f"ld-musl-{platform.machine()}.path").write_text("/lib/own\n/opt/lib:/usr/own\n")
    assert library_folders(tmp_path)[2:] == [Path("/lib/own"), Path("/opt/lib"), Path("/usr/own")]
    monkeypatch.delenv("LD_LIBRARY_PATH")
    assert library_folders(tmp_path)[0] == Path("/lib/own")


def test_a_library_is_named_as_the_loader_finds_it(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    second.mkdir()
    for name in ("librocksdb.so.9", "librocksdb.so.9.1.0", "librocksdb.so-gdb.py", "librocksdbx.so", "librocksdb.a"):
        (second / name).touch()
    assert find_in([first, second], "rocksdb") == "librocksdb.so.9"
    (second / "librocksdb.so").touch()
    assert find_in([first, second], "rocksdb") == "librocksdb.so"
    assert find_in([first, second], "tkrzw") is None
