"""Vacuuming limits if it takes full processors, or the disk that is waited for, from the clients."""

from dbdyno.verdict import vacuum
from dbdyno.verdict.evidence import Measured
from dbdyno.verdict.judge import judge

from .made import IDLE_HOST, host, process, thread, trial, waits

SERVERS = {"servers": [{"name": "postgresql"}], "server_cpus": [1]}
WORKER = "autovacuum worker"


def server(used, vacuuming):
    """Columns of a server with so many processors, and those of its vacuuming."""
    worker = thread(WORKER, vacuuming, server="postgresql")
    return process("postgresql", cpu=used, queue=2) | worker | host(IDLE_HOST)


def signs(columns):
    return list(vacuum.vacuum(Measured.of(trial(columns, **SERVERS))))


def test_full_processors_that_vacuuming_takes_a_part_of():
    assert signs(server(0.98, 0.4)) == [
        "vacuuming and analysing took 41% of the 0.98 processors that postgresql could use"
    ]
    assert not signs(server(0.98, 0.1))
    assert not signs(server(0.6, 0.4))
    assert not signs(host(IDLE_HOST))


def pages(vacuumed, by_clients):
    reads = {"autovacuum_worker": vacuumed, "client_backend": by_clients}
    return {f"store.postgresql.{kind}_page_reads_total": per_s for kind, per_s in reads.items()} | host(IDLE_HOST)


def test_a_disk_that_is_waited_for_and_mostly_read_to_vacuum():
    waited = {"pressure.io_some_s_total": 0.8}
    assert signs(pages(300, 100) | waited) == [
        "something waited for the disk 80% of the time (pressure), "
        "and postgresql read and wrote 400 pages/s, 75% of them to vacuum"
    ]
    assert not signs(pages(300, 100))
    assert not signs(pages(100, 300) | waited)
    assert not signs(pages(5, 1) | waited)


def test_it_is_named_in_the_place_of_the_processors_that_it_took():
    busy = waits("postgresql", cpu=1, cpu_wait=14, client=1) | server(0.98, 0.4) | process("client", cpu=0.1)
    verdict = judge(trial(busy, **SERVERS)).verdict
    assert (verdict.limit, verdict.confidence) == ("vacuum", "high")
    assert verdict.sentence.startswith("Limited by vacuuming (confidence high): ")
