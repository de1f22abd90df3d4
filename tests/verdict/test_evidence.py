"""A resource counts as used up by what the kernel counted, each sign with its figures."""

import pytest

from dbdyno.verdict import evidence
from dbdyno.verdict.evidence import Measured, cores_to_use

from .made import BUSY_HOST, IDLE_HOST, host, process, queue, trial, waits

SERVER = process("mariadb", cpu=1.5, queue=2.0)


def measured(columns, **about):
    return Measured.of(trial(columns, **about))


def test_a_pinned_server_has_its_own_processors():
    alone = process("mariadb", cpu=0.95, queue=0.3) | host(IDLE_HOST)
    assert cores_to_use(measured(alone), ("mariadb",), (1,)) == 1
    assert cores_to_use(measured(alone), ("mariadb",), None) == pytest.approx(0.95 + 1.6)
    held = SERVER | {"cgroup.mariadb.throttled_s_total": 0.4} | host(IDLE_HOST)
    assert cores_to_use(measured(held), ("mariadb",), None) == pytest.approx(1.5)


def test_a_server_with_a_thread_for_each_operation_tells_where_they_are():
    assert measured(waits(client=15)).thread_each("mariadb")
    assert not measured(waits(client=14)).thread_each("mariadb")


def test_what_dbdyno_itself_used_is_its_observers():
    began = {"started_unix_s": 1000.0, "ended_unix_s": 1010.0, "observer_cpu_s": 0.2, "python_cpu_s": 0.5}
    assert measured(SERVER, **began).observers_cores() == pytest.approx(0.05)
    assert measured(SERVER).observers_cores() == 0


def test_who_else_was_at_work_is_said():
    served = SERVER | process("client", cpu=0.1)
    busy = {"user": 1.9, "system": 0.0, "iowait": 0.0, "steal": 0.0, "idle": 0.1}
    assert evidence.others(measured(served | host(busy))) == "other processes used 0.30 of the host's 2 processors"
    assert evidence.others(measured(SERVER | process("client", cpu=0.3) | host(busy))) is None
    assert evidence.others(measured(served | host(busy), copy={"tool": "sql"})) is None
    assert evidence.others(measured(host(busy))) is None


def test_what_the_hypervisor_took_no_other_process_used():
    served = SERVER | process("client", cpu=0.1)
    stolen = measured(served | host({"user": 1.6, "system": 0.0, "iowait": 0.0, "steal": 0.3, "idle": 0.1}))
    assert evidence.others_cores(stolen) is None
    assert evidence.others(stolen) == "the hypervisor took 0.30 of the host's 2 processors"
    both = measured(SERVER | process("client") | host({"user": 1.8, "system": 0, "iowait": 0, "steal": 0.2, "idle": 0}))
    assert evidence.others_cores(both) == pytest.approx(0.3)
    assert evidence.others(both).startswith("other processes used 0.30 of")


DISK = {"reads": 0, "read_s": 0, "writes": 50, "write_s": 0.5, "flushes": 20, "flush_s": 0.4, "busy_s": 0.95}


def test_a_disk_is_used_up_by_pressure_or_by_being_busy():
    columns = {f"disk.sda.{name}_total": value for name, value in DISK.items()}
    columns["pressure.io_some_s_total"] = 0.25
    assert list(evidence.disk(measured(columns))) == [
        "something waited for the disk 25% of the time (pressure)",
        "sda was 95% busy",
    ]
    assert list(evidence.disk_times(measured(columns))) == [
        "50 writes/s on sda, 10 ms each",
        "20 flushes/s on sda, 20 ms each",
    ]
    assert not list(evidence.disk(measured(columns | {"pressure.io_some_s_total": 0.1, "disk.sda.busy_s_total": 0.5})))


def test_who_wrote_the_pages_is_told_and_what_it_says_of_the_buffers():
    late = {"client_backend": 60, "background_writer": 35, "checkpointer": 4.9, "other": 0.1}
    columns = {f"store.mariadb.{who}_page_writes_total": rate for who, rate in late.items()}
    assert list(evidence.page_writers(measured(columns))) == [
        "mariadb wrote 100 pages/s, 60% by processes that serve clients, 35% by the background writer, "
        "5% by checkpoints: too few of its buffers were clean when they were needed"
    ]
    in_time = columns | {
        "store.mariadb.client_backend_page_writes_total": 2,
        "store.mariadb.checkpointer_page_writes_total": 63,
    }
    (said,) = evidence.page_writers(measured(in_time))
    assert said.endswith("63% by checkpoints, 35% by the background writer, 2% by processes that serve clients")
    assert not list(evidence.page_writers(measured(dict.fromkeys(columns, 0.2))))


def test_what_was_not_seen_is_no_sign():
    assert Measured.of(trial()) is None
    empty = measured(host(BUSY_HOST))
    assert not [
        *evidence.disk(empty),
        *evidence.disk_times(empty),
        *evidence.page_writers(empty),
    ]
    assert cores_to_use(empty, ("mariadb",), None) is None


def test_the_way_is_told_as_it_was_seen():
    sent = measured(queue(in_transit=12))
    assert list(evidence.on_the_way(sent)) == [
        "12.0 connections held requests and 0.0 answers that were sent and not received"
    ]
    relayed = measured(queue(whole=0))
    assert list(evidence.on_the_way(relayed)) == [
        "client and mariadb both waited with empty sockets, so a relay or proxy between them had the data"
    ]
    assert list(evidence.on_the_way(measured(queue() | {"queue.mariadb.empty_round_trip_s": 0.041}))) == [
        "an empty request took 41 ms before the load, so a relay or proxy had the data"
    ]
    assert not list(evidence.on_the_way(measured(queue() | {"queue.mariadb.empty_round_trip_s": 0.001})))
    far = measured({"queue.mariadb.unread_answers": 0.0, "queue.mariadb.min_rtt_s": 0.04})
    assert list(evidence.on_the_way(far)) == ["mariadb is on another host, and its shortest round trip took 40 ms"]
    assert not list(evidence.on_the_way(measured(queue())))
    assert not list(evidence.on_the_way(measured({"queue.mariadb.unread_answers": 0.0})))


def test_what_each_client_host_measured_of_its_way_is_told():
    way = {"idle_round_trip_us": 100.0, "round_trip_us": 5200.0, "retransmits": 0}
    hosts = [
        {"name": "c1", "network": way},
        {"name": "c2", "network": way | {"idle_round_trip_us": None, "retransmits": 1200.0}},
        {"name": "c3", "network": None},
        {"name": "s1", "role": "server"},
    ]
    assert list(evidence.on_the_way(measured(queue(whole=0), hosts=hosts))) == [
        "a round trip from c1 took 5.2 ms (0.1 ms before the load)",
        "a round trip from c2 took 5.2 ms; TCP sent 1,200 segments again",
    ]


def test_a_log_that_is_flushed_most_of_the_time_is_named():
    flushed = {"log.mariadb.flushing": 0.92, "store.mariadb.write_tasks_active": 14.6}
    assert list(evidence.log_flushes(measured(flushed))) == [
        "mariadb flushed its log 92% of the time, with 14.6 write tasks at work"
    ]
    assert not list(evidence.log_flushes(measured(flushed | {"log.mariadb.flushing": 0.4})))
    assert not list(evidence.log_flushes(measured({"log.mariadb.flushing": 0.92})))


def test_the_pool_whose_tasks_queue_is_named():
    reading = {"store.mariadb.read_tasks_pending": 29.0, "store.mariadb.read_tasks_active": 1.0}
    assert list(evidence.task_queues(measured(reading | {"store.mariadb.write_tasks_pending": 0.0}))) == [
        "mariadb had 29.0 read tasks queued for the threads that worked on 1.0"
    ]
    assert not list(evidence.task_queues(measured({"store.mariadb.compaction_tasks_pending": 8.0})))
