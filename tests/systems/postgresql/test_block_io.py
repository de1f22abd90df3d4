"""A real server counts who wrote its pages; an older form of the view is read, and a missing one is said."""

import pytest

from dbdyno.systems.base import Launch
from dbdyno.systems.postgresql.block_io import counters_of, question
from dbdyno.systems.postgresql.probe import connect
from dbdyno.systems.running.guard import Guard
from helpers import need, system, wait_until

ROW = {"page_reads_total": 3, "page_writes_total": None, "page_read_s_total": None, "log_flushes": None}


def test_what_a_process_never_does_is_left_out():
    assert counters_of([ROW | {"who": "client_backend"}]) == {"client_backend_page_reads_total": 3.0}


def test_flushes_of_the_log_are_of_all_together():
    rows = [ROW | {"who": "client_backend", "log_flushes": 2}, ROW | {"who": "other", "log_flushes": 5}]
    assert counters_of(rows)["wal_flushes_total"] == 7.0


@pytest.fixture
def begun(tmp_path):
    """Start a server and open its probe: `begun(system's text)`."""
    started = []
    with Guard() as guard:

        def begin(text):
            need(text.split("?")[0])
            server = system(text)
            started.append(server)
            server.start(Launch(guard, tmp_path, clients=8, rows=100))
            (probe,) = server.probes()
            probe.open()
            return server, probe

        yield begin
        for server in started:
            server.stop()


# With 1 MB of buffers what works for a client finds no clean page and writes one, however many there are of others.
SMALL = "shared_buffers=1MB&bgwriter_lru_maxpages=0&track_io_timing=on"


@pytest.mark.systems
def test_pages_that_clients_had_to_write_are_counted_as_theirs(begun):
    server, probe = begun(f"postgresql@18?{SMALL}")
    before = probe.counters()
    with connect(server.endpoint) as connection:
        connection.execute("CREATE TABLE filled AS SELECT n, repeat('x', 500) AS t FROM generate_series(1, 40000) AS n")
        for _ in range(2):
            connection.execute("UPDATE filled SET t = repeat('y', 500)")
        pages = connection.execute("SELECT pg_relation_size('filled') / 8192 AS pages").fetchone()["pages"]
        connection.execute("CHECKPOINT")

    def grew(name):
        return probe.counters()[name] - before[name]

    assert wait_until(lambda: grew("client_backend_page_writes_total") >= pages / 2)
    assert wait_until(lambda: grew("checkpointer_file_flushes_total") > 0 and grew("wal_flushes_total") > 0)
    assert grew("client_backend_page_extends_total") >= pages / 2 and grew("client_backend_page_write_s_total") > 0
    assert "checkpointer_page_reads_total" not in before and not probe.not_shown
    probe.close()


@pytest.mark.systems
def test_times_that_are_not_taken_are_not_shown(begun):
    _, probe = begun("postgresql@18")
    counters = probe.counters()
    assert "client_backend_page_writes_total" in counters and "client_backend_page_write_s_total" not in counters
    probe.close()


def test_the_form_that_counts_pages_is_read_as_such(begun):
    """The view of versions 16 and 17. Neither can be had here, so a view of that form replaces the server's own."""
    server, probe = begun("postgresql?track_io_timing=on")
    probe.close()
    with connect(server.endpoint, "-c search_path=public,pg_catalog") as connection:
        if connection.info.server_version >= 180_000:
            pytest.skip("this PostgreSQL has the later form")
        connection.execute(
            "CREATE VIEW pg_stat_io AS SELECT * FROM (VALUES "
            "('client backend', 'relation', 'normal', 5, 20.0, 7, 0.5, 2, 8192, 1, 30.0), "
            "('client backend', 'relation', 'bulkwrite', 0, 0.0, 3, 1500.0, 4, 8192, NULL, NULL), "
            "('client backend', 'temp relation', 'normal', 100, 100.0, 100, 100.0, 100, 8192, NULL, NULL), "
            "('checkpointer', 'relation', 'normal', NULL, NULL, 9, 0.0, NULL, 8192, 2, 0.0)"
            ") AS v (backend_type, object, context, reads, read_time, writes, write_time, extends, op_bytes, fsyncs, "
            "fsync_time)"
        )
        assert counters_of(connection.execute(question(connection)).fetchall()) == {
            "client_backend_page_reads_total": 5.0,
            "client_backend_page_writes_total": 10.0,
            "client_backend_page_extends_total": 6.0,
            "client_backend_file_flushes_total": 1.0,
            "client_backend_page_read_s_total": 0.02,
            "client_backend_page_write_s_total": 1.5005,
            "checkpointer_page_writes_total": 9.0,
            "checkpointer_file_flushes_total": 2.0,
            "checkpointer_page_write_s_total": 0.0,
        }


def test_a_version_without_the_view_says_so_once(begun):
    server, probe = begun("postgresql")
    with connect(server.endpoint) as connection:
        if connection.info.server_version >= 160_000:
            pytest.skip("this PostgreSQL has the view")
    assert not any("page_writes" in name for name in probe.counters())
    assert probe.not_shown == {"store.postgresql.page_writers": "pg_stat_io is there since PostgreSQL 16"}
    probe.close()
