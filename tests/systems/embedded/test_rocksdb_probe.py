"""RocksDB's own log says when it holds writers back."""

import ctypes

import pytest

from dbdyno.systems.embedded.installed_library import soname
from dbdyno.systems.embedded.rocksdb_probe import RocksDBProbe
from helpers import need, system


@pytest.fixture
def library():
    need("rocksdb")
    loaded = ctypes.CDLL(soname("rocksdb"))
    for function in ("options_create", "open", "flushoptions_create", "writeoptions_create"):
        getattr(loaded, f"rocksdb_{function}").restype = ctypes.c_void_p
    return loaded


def open_slowed(library, path):
    """Open a database that slows its writers down as soon as one file was flushed."""
    options, error = ctypes.c_void_p(library.rocksdb_options_create()), ctypes.c_char_p()
    library.rocksdb_options_set_create_if_missing(options, ctypes.c_ubyte(1))
    for trigger in ("file_num_compaction", "slowdown_writes"):
        getattr(library, f"rocksdb_options_set_level0_{trigger}_trigger")(options, 1)
    database = ctypes.c_void_p(library.rocksdb_open(options, str(path).encode(), ctypes.byref(error)))
    assert not error
    return database


def put_and_flush(library, database, key):
    error, wait = ctypes.c_char_p(), ctypes.c_void_p(library.rocksdb_flushoptions_create())
    writing = ctypes.c_void_p(library.rocksdb_writeoptions_create())
    size = ctypes.c_size_t(len(key))
    library.rocksdb_put(database, writing, key, size, key, size, ctypes.byref(error))
    library.rocksdb_flush(database, wait, ctypes.byref(error))
    assert not error


def test_writers_that_are_held_back_are_counted(library, tmp_path):
    probe = RocksDBProbe("rocksdb", tmp_path)
    probe.open()
    assert probe.counters() == {"write_stops_total": 0, "write_slowdowns_total": 0}
    for counted in (1, 2):
        # It begins a new log file each time.
        database = open_slowed(library, tmp_path)
        put_and_flush(library, database, b"%d" % counted)
        assert probe.counters()["write_slowdowns_total"] >= counted
        library.rocksdb_close(database)
    again = probe.counters()
    assert again == probe.counters()
    probe.close()


def test_a_line_that_is_not_whole_is_counted_once_it_is(tmp_path):
    log = tmp_path / "LOG"
    log.write_bytes(b"[t] Stopping writes because we have 2 immutable")
    probe = RocksDBProbe("rocksdb", tmp_path)
    probe.open()
    assert probe.counters()["write_stops_total"] == 0
    with log.open("ab") as more:
        more.write(b" memtables (waiting for flush)\n")
    assert probe.counters()["write_stops_total"] == 1


def test_rocksdb_is_looked_at_while_it_is_started(launch):
    need("rocksdb")
    store = system("rocksdb")
    store.start(launch)
    try:
        (probe,) = store.probes()
        probe.open()
        assert probe.server == "rocksdb"
        assert probe.counters()["write_stops_total"] == 0
    finally:
        store.stop()
