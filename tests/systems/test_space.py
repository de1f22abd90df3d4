"""Bytes of rows and records become bytes on a disk or in memory."""

from dbdyno.systems.space import Space, Storage
from helpers import system


def test_a_store_adds_to_each_byte_and_to_each_record():
    assert Storage(1.5, 10, empty_bytes=7).space(100, 1000) == Space(disk_bytes=2507)
    assert Storage(1.5, 10, in_memory=True).space(100, 1000) == Space(memory_bytes=2500)


def test_a_log_has_all_once_more_up_to_its_limit():
    store = Storage(1.0, 0, most_log_bytes=500)
    assert [store.space(0, size).disk_bytes for size in (400, 500, 5000)] == [800, 1000, 5500]


def test_systems_know_what_they_are_made_of():
    rows = (1_000_000, 1_000_000_000)
    database, node = system("mariadb").space(*rows), system("memcached").space(*rows)
    assert database.disk_bytes > 1e9 and database.memory_bytes == 0
    assert node.memory_bytes > 1e9 and node.disk_bytes == 0
    # A cache takes what it may have, and no more than there is.
    fronted = system("cache-aside(memcached?memory=100, mariadb)").space(*rows)
    assert fronted == database + Space(memory_bytes=100 << 20)
    assert system("cache-aside(memcached?memory=100, mariadb)").space(10, 1000).memory_bytes < 100 << 20
    assert system("galera?nodes=2").space(*rows) == database + database
    written = system("redis?appendonly=yes").space(*rows)
    assert written.disk_bytes == written.memory_bytes == system("redis").space(*rows).memory_bytes


def test_what_somebody_elses_server_holds_is_not_known():
    assert system("mysql://there/test").space(1, 1 << 60) == Space()
    assert system("cache-aside(memcached?memory=1, mysql://there/test)").space(1, 1 << 60) == Space(0, 1 << 20)
