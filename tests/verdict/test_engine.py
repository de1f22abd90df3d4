"""A storage engine's own figures and the kernel's show what it does instead of serving its clients."""

import pytest

from dbdyno.verdict import engine
from dbdyno.verdict.evidence import Measured

from .made import IDLE_HOST, host, process, thread, trial

MIB = 2**20


def measured(columns, **about):
    return Measured.of(trial(host(IDLE_HOST) | columns, **about))


def memory(used_mib, refaults):
    return {
        "cgroup.mariadb.memory_bytes": used_mib * MIB,
        "cgroup.mariadb.memory_limit_bytes": 64 * MIB,
        "cgroup.mariadb.refaulted_pages_total": refaults,
    }


def test_pages_that_are_read_again_at_the_limit_are_too_little_memory():
    assert list(engine.memory(measured(memory(63, 200)))) == [
        "mariadb used 63 of the 64 MiB it may have, and read 200 evicted pages/s again"
    ]
    assert not list(engine.memory(measured(memory(63, 40))))
    assert not list(engine.memory(measured(memory(50, 200))))


def short_of_memory(pressure, faults):
    return {"pressure.memory_some_s_total": pressure, "process.mariadb.major_faults_total": faults}


def test_a_host_short_of_memory_limits_a_server_that_fetches_its_own_pages_again():
    assert list(engine.memory(measured(short_of_memory(0.25, 200)))) == [
        "the host was short of memory 25% of the time (pressure), "
        "and mariadb fetched 200 pages/s of its own memory from a disk"
    ]
    assert not list(engine.memory(measured(short_of_memory(0.05, 200))))


def test_the_shortage_of_a_neighbour_is_none_of_the_servers():
    assert not list(engine.memory(measured(short_of_memory(0.9, 10))))
    assert not list(engine.memory(measured({"pressure.memory_some_s_total": 0.9})))


def log(age_mib, flushed):
    return {
        "store.mariadb.innodb_checkpoint_age_bytes": age_mib * MIB,
        "store.mariadb.innodb_checkpoint_max_age_bytes": 4 * MIB,
        "store.mariadb.innodb_pages_flushed_total": flushed,
    }


def test_a_log_that_is_nearly_full_while_pages_are_flushed():
    assert list(engine.checkpoint(measured(log(3.6, flushed=280)))) == [
        "the checkpoint age of mariadb was 3.6 of at most 4 MiB (90%), and it flushed 280 pages/s"
    ]
    assert not list(engine.checkpoint(measured(log(2, flushed=280))))


def test_a_log_that_is_full_all_the_time_delays_writers_however_few_pages_are_flushed():
    assert list(engine.checkpoint(measured(log(4, flushed=8)))) == [
        "the checkpoint age of mariadb was 4 of at most 4 MiB (100%), and it flushed 8 pages/s"
    ]
    assert not list(engine.checkpoint(measured(log(4, flushed=0))))


@pytest.mark.parametrize("flushed", [0, 8])
def test_a_log_that_nobody_flushes_for_holds_no_writer_up(flushed):
    assert not list(engine.checkpoint(measured(log(3.9, flushed))))


@pytest.mark.parametrize(("per_s", "said"), [(0.5, "forced a checkpoint every 2.0 s"), (0.1, None)])
def test_checkpoints_that_the_log_forces(per_s, said):
    signs = list(engine.checkpoint(measured({"store.mariadb.checkpoints_requested_total": per_s})))
    assert (not signs) if said is None else said in signs[0]


def test_writers_that_find_no_clean_page():
    assert list(engine.checkpoint(measured({"store.mariadb.free_page_waits_total": 40}))) == [
        "mariadb waited 40 times/s for a page to be flushed before it could be replaced"
    ]
    assert not list(engine.checkpoint(measured({"store.mariadb.free_page_waits_total": 5})))


def test_writers_that_wait_for_background_threads():
    held = {"store.mariadb.write_stall_s_total": 0.5}
    assert list(engine.compaction(measured(held))) == ["mariadb stalled writers for 0.50 s in every second"]
    stopped = {"store.mariadb.write_stops_total": 2, "store.mariadb.write_slowdowns_total": 0.5}
    assert list(engine.compaction(measured(stopped))) == [
        "mariadb stopped its writers 2 times/s, and slowed them down 0.5 times/s"
    ]
    assert not list(engine.compaction(measured({"store.mariadb.write_stops_total": 0.1})))
    merging = {"threads.client.low.busiest_cpu": 0.7, "threads.client.low.busiest_run_queue": 0.1}
    store = {"servers": [], "embedded": True, "background_threads": {"low": "compaction", "high": "flush"}}
    assert list(engine.compaction(measured(merging, **store))) == [
        "its thread 'low' (compaction) was busy 80% of the time"
    ]
    assert not list(engine.compaction(measured({"threads.client.low.busiest_cpu": 0.5}, **store)))


def test_what_was_not_seen_is_no_sign():
    assert not [
        *engine.memory(measured({})),
        *engine.checkpoint(measured({})),
        *engine.compaction(measured({})),
    ]


def pool(task, active, pending, limit=32):
    figures = {"active": active, "limit": limit, "pending": pending}
    return {f"store.mariadb.{task}_tasks_{what}": float(value) for what, value in figures.items()}


def test_writers_that_wait_for_buffers_to_be_flushed():
    assert list(engine.compaction(measured(pool("write", 31, 400) | pool("flush", 1, 2, limit=1)))) == [
        "31 of 32 write threads of mariadb were taken, while 2.0 buffers waited to be flushed"
    ]
    assert not list(engine.compaction(measured(pool("write", 31, 400) | pool("flush", 1, 0, limit=1))))
    assert not list(engine.compaction(measured(pool("write", 9, 0) | pool("flush", 1, 2, limit=1))))
    assert not list(engine.compaction(measured(pool("write", 0, 0, limit=0))))


def test_compactions_that_are_behind_and_take_the_processors_from_clients():
    behind = pool("compaction", 2, 7, limit=2) | process("mariadb", cpu=1.9)
    busy = thread("CompactionExecu", 0.4, server="mariadb") | {"threads.mariadb.CompactionExecu.cores": 0.76}
    pinned = {"server_cpus": [0, 1]}
    assert list(engine.compaction(measured(behind | busy, **pinned))) == [
        "mariadb had 7.0 compactions pending with all 2 threads busy, "
        "which took 40% of the 1.90 processors that it could use"
    ]
    assert not list(engine.compaction(measured(behind, **pinned)))
    assert not list(engine.compaction(measured(behind | busy | pool("compaction", 2, 0, limit=2), **pinned)))
    # There were processors to spare.
    assert not list(engine.compaction(measured(behind | busy)))
