"""Too little room is said before anything starts, and the estimates are near to what stores really take."""

import shutil
from collections import namedtuple

import psutil
import pytest

from dbdyno.conduct.kinds import kind_of
from dbdyno.conduct.lineup import build_lineup
from dbdyno.conduct.resolve import resolve
from dbdyno.conduct.room import check_room, check_room_of
from dbdyno.errors import UserError
from dbdyno.experiment.workloads import WORKLOADS, Kind
from dbdyno.observe import room
from dbdyno.observe.room import FreeRoom
from dbdyno.systems import SYSTEMS
from helpers import experiment, system, workload
from systems.load import execute

MOST_ROWS = (1 << 31) - 1
ROWS = 5000
LEFT_OUT = ("tpcc", "replication-lag", "dump-restore")
"""A warehouse takes seconds to load, the second needs a cluster, and the last has the tables of oltp."""
DISK = namedtuple("Disk", "free")
MEMORY = namedtuple("Memory", "available")


@pytest.fixture(autouse=True)
def modest_host(monkeypatch):
    """Have every system there, a hundred gigabytes of disk, and ten of memory."""
    for known in SYSTEMS.values():
        monkeypatch.setattr(known, "missing", classmethod(lambda cls: None))
    monkeypatch.setattr(shutil, "disk_usage", lambda path: DISK(100 * 10**9))
    monkeypatch.setattr(psutil, "virtual_memory", lambda: MEMORY(10 * 10**9))
    monkeypatch.setattr(room, "groups_of", lambda process: {})


def said(**keys):
    with pytest.raises(UserError) as caught:
        resolve(experiment(**keys).experiment)
    return str(caught.value)


def space_in_sqlite(text):
    chosen_workload = workload(text)
    return kind_of(chosen_workload).space(
        experiment(workload=text, rows=ROWS, clients=[1]).experiment, chosen_workload, system("sqlite")
    )


@pytest.mark.parametrize("name", ["mariadb", "postgresql", "sqlite", "lmdb", "cache-aside(memcached, mariadb)"])
def test_rows_that_do_not_fit_the_disk_are_refused_with_the_estimate(name, tmp_path, monkeypatch):
    monkeypatch.setenv("DBDYNO_DATA_DIR", str(tmp_path))
    error = said(system=name, rows=MOST_ROWS)
    assert error.startswith(f"{name}: 2,147,483,647 rows of game take about ")
    assert f" GB of disk, and 100.0 GB are free at {tmp_path}: give fewer --rows, or another disk" in error


def test_a_place_for_data_that_is_not_there_is_said_before_anything_begins(tmp_path, monkeypatch):
    monkeypatch.setenv("DBDYNO_DATA_DIR", str(tmp_path / "missing"))
    assert (
        said(system="sqlite", rows=10)
        == f"DBDYNO_DATA_DIR={tmp_path}/missing: no such directory; make it, or name another"
    )


@pytest.mark.parametrize("name", ["memcached", "redis", "valkey"])
def test_nor_those_that_do_not_fit_the_memory(name):
    error = said(system=name, rows={"small": 10, "full": 10_000_000}, scale="full")
    assert error.endswith(" GB of memory, and 10.0 GB are free: give fewer --rows or --scale small")


def test_a_table_that_is_loaded_in_bulk_is_one_of_them():
    keys = {"workload": "air-traffic", "clients": [1]}
    assert "duckdb: 1,000,000,000 rows of air-traffic take about 125.5 GB" in said(
        **keys, system="duckdb", rows=1_000_000_000
    )
    # A column store has room for data that a row store has not.
    resolve(experiment(**keys, system="duckdb", rows=500_000_000).experiment)
    assert "mariadb: " in said(**keys, system="mariadb", rows=500_000_000)


def test_a_persons_own_files_are_as_large_as_they_are(tmp_path):
    with (tmp_path / "2009.csv").open("wb") as sparse:
        sparse.truncate(10**12)
    keys = {"workload": "air-traffic", "clients": [1], "options": {"csv": str(tmp_path)}}
    assert "take about 1,000.5 GB of disk" in said(**keys, system="mariadb", rows=10)


def test_a_restart_needs_room_for_a_copy():
    keys = {"system": "sqlite", "workload": "point-get", "rows": 250_000_000}
    resolve(experiment(**keys).experiment)
    assert "of disk" in said(**keys, restart="cold")


def test_a_dump_and_a_copy_need_room_beside_the_tables():
    tables, with_copies = (space_in_sqlite(name) for name in ("oltp?tables=2", "dump-restore?tables=2"))
    assert with_copies.disk_bytes == 3 * tables.disk_bytes > 0


def test_the_room_of_another_host_is_what_counts_there():
    asked = experiment(system="sqlite", rows=1_000_000).experiment
    lineup = build_lineup(asked, asked.system)
    check_room(asked, asked.system, lineup)
    (spec,), (workload,) = asked.system, asked.workload
    with pytest.raises(UserError, match=r"of disk, and 1 MB are free at /data on s1: give fewer --rows"):
        check_room_of(asked, spec, workload, lineup.find(spec, workload), FreeRoom("/data", 10**6, 10**12), "s1")


def test_what_somebody_else_has_is_not_estimated():
    resolve(experiment(system="mysql://there/test", rows=MOST_ROWS).experiment)


LOADED = [
    name
    for name, workload in WORKLOADS.items()
    if workload.kind not in (Kind.ANALYSIS, Kind.PROGRAM) and name not in LEFT_OUT
]
"""Those that the native load client loads; sysbench's own rows are those of `oltp`."""


@pytest.mark.parametrize("text", [*LOADED, "insert-indexes?indexes=3", "oltp?tables=2"])
def test_estimates_are_within_a_factor_of_two_of_what_a_store_takes(text, launch):
    store = system("sqlite")
    store.start(launch)
    try:
        loaded = workload(text)
        assert execute(store, loaded.name, ["prepare", "load"], rows=ROWS, options=loaded.options).status == 0
        taken = sum(path.stat().st_size for path in store.path.iterdir())
    finally:
        store.stop()
    estimated = space_in_sqlite(text)
    assert taken / 2 < estimated.disk_bytes < taken * 2
