"""A real private PostgreSQL, and the same attached to by its URL."""

import shutil
import signal
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import psutil
import psycopg
import pytest

from dbdyno.errors import RunFailed, UserError
from dbdyno.systems.packages.catalogue import PACKAGES
from dbdyno.systems.postgresql import postgresql
from dbdyno.systems.postgresql.postgresql import durability_of
from dbdyno.systems.postgresql.probe import connect
from helpers import need, running, system, wait_until
from systems.load import begin, end, execute, plan_of, rows_read


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """One that is only read."""
    with running("postgresql", tmp_path_factory.mktemp("logs")) as started_server:
        yield started_server


def url_of(server, password=None):
    endpoint = server.endpoint
    login = f"{endpoint.user}:{password or endpoint.password}"
    return f"postgresql://{login}@{endpoint.host}:{endpoint.port}/{endpoint.database}"


def test_it_starts_with_its_settings_and_is_gone_when_stopped(started):
    server = started("postgresql?shared_buffers=16MB&synchronous_commit=OFF&checkpoint_timeout=1h&connect=socket")
    (server_document,) = server.servers()
    assert server_document["version"][0].isdecimal()
    effective = server_document["effective_settings"]
    assert (effective["shared_buffers"], effective["checkpoint_timeout"]) == ("16MB", "1h")
    assert server.durability().level == "D1"
    secrets = []
    plan = server.store_plan(secrets)
    assert "unix" in plan["address"] and secrets == [server.endpoint.password]
    assert effective["connect"] == "socket"
    directory = server._directory.path
    server.stop()
    assert not directory.exists() and server.server_pids() == {}


def test_a_server_that_is_killed_within_initdb_leaves_no_shared_memory(launch):
    need("postgresql")
    server, killed = system("postgresql"), []

    def kill_one():
        while not killed:
            for process in psutil.Process().children(recursive=True):
                with suppress(psutil.NoSuchProcess, psutil.AccessDenied, OSError):
                    lock = Path(process.cwd(), "postmaster.pid").read_text()
                    # The lock file's seventh line names the segment, once there is one.
                    if "--boot" in process.cmdline() and lock.count("\n") >= 7:
                        process.kill()
                        killed.append(process.pid)
                        return
            time.sleep(0.001)

    killer = threading.Thread(target=kill_one, daemon=True)
    killer.start()
    try:
        with pytest.raises(UserError, match="initdb failed"):
            server.start(launch)
    finally:
        server.stop()
    killer.join()
    names, *rows = (line.split() for line in Path("/proc/sysvipc/shm").read_text().splitlines())
    assert killed[0] not in [int(row[names.index("cpid")]) for row in rows]


def test_counters_count_what_was_asked(server):
    before = server.counters()["postgresql"]["xact_commit"]
    for _ in range(10):
        server._query("SELECT 1")
    assert server.counters()["postgresql"]["xact_commit"] - before >= 10


def test_nobody_gets_in_without_the_password(server):
    endpoint = server.endpoint
    for user in ("postgres", "dbdyno"):
        with pytest.raises(psycopg.OperationalError, match="authentication failed"):
            psycopg.connect(host=endpoint.host, port=endpoint.port, user=user, password="x", dbname=endpoint.database)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("postgresql?shared_bufers=1MB", 'unrecognized configuration parameter "shared_bufers"'),
        ("postgresql?shared_buffers=much", 'invalid value for parameter "shared_buffers": "much"'),
        ("postgresql?my.own=1", "server has no setting 'my.own'"),
    ],
)
def test_a_setting_it_does_not_take_is_said_in_its_words(started, text, said):
    with pytest.raises(UserError, match=said):
        started(text)


def test_a_setting_it_has_otherwise_is_an_error(started, monkeypatch):
    monkeypatch.setattr(postgresql, "is_accepted", lambda setting, given: False)
    with pytest.raises(UserError, match="work_mem=5000 was given, and the server has 5000kB"):
        started("postgresql?work_mem=5000")


def test_attached_it_is_read_and_not_changed(started, server):
    attached = started(url_of(server))
    assert attached.servers()[0]["effective_settings"] == server.servers()[0]["effective_settings"]
    assert attached.durability() == server.durability()
    attached.stop()
    assert server.counters()["postgresql"]["tup_inserted"] == 0


def test_attached_by_the_directory_of_its_socket_its_rows_are_read(started):
    endpoint = started("postgresql?connect=socket").endpoint
    login = f"{endpoint.user}:{endpoint.password}"
    attached = started(f"postgresql://{login}@:{endpoint.port}/{endpoint.database}?host={Path(endpoint.socket).parent}")
    assert attached.endpoint.socket == endpoint.socket and rows_read(attached) > 0


def test_an_index_that_lacks_a_row_is_found_by_counting_through_it(started):
    server = started("postgresql")

    def checks(*phases):
        plan = plan_of(None, "insert-indexes", phases)
        plan["workload"]["options"] = {"indexes": 3}
        return end(begin(server, plan)).of("check")

    whole = checks("prepare", "load", "run", "verify")
    assert len(whole) == 4 and all(check["ok"] and check["found"] > 0 for check in whole)
    with connect(server.endpoint) as connection:
        ready = "UPDATE pg_index SET indisready = {} WHERE indexrelid = 'dbdyno_inserted_b'::regclass"
        connection.execute(ready.format("false"))
        connection.execute("INSERT INTO dbdyno_inserted SELECT max(id) + 1, 1, 1, 1 FROM dbdyno_inserted")
        connection.execute(ready.format("true"))
    torn = checks("run", "verify")
    assert [check["name"] for check in torn if not check["ok"]] == ["rows added to the index inserted.b"]


def test_a_wrong_password_is_said_without_it(started, server):
    url = url_of(server, "wrongpw")
    with pytest.raises(UserError, match="check the user and the password") as caught:
        started(url)
    assert "wrongpw" not in str(caught.value)


def test_where_nobody_answers_it_is_said(started):
    with pytest.raises(UserError, match="no server answers there"):
        started("postgresql://u@127.0.0.1:1/d")


def test_a_server_that_died_does_not_answer(started):
    server = started("postgresql")
    # Killed, it would leave shared memory behind that is in no directory.
    server._server._process.send_signal(signal.SIGQUIT)
    server._server._process.wait()
    assert server.death() == "postgresql ended with status 0"
    with pytest.raises(RunFailed, match="does not answer"):
        server.counters()


def test_an_attached_url_needs_a_database_and_no_server_settings():
    with pytest.raises(UserError, match="name the database"):
        system("postgresql://u@h")
    with pytest.raises(UserError, match="'fsync'"):
        system("postgresql://u@h/d?fsync=off")


def test_it_starts_on_what_was_kept_with_another_password(started, launch):
    first = started("postgresql")
    assert first.restorable and not system("postgresql?log_directory=/x").restorable
    assert execute(first, "point-get", ["prepare", "load"]).status == 0
    kept = first.keep().path
    second = system("postgresql")
    try:
        second.start(replace(launch, data=kept))
        assert second.endpoint.password != first.endpoint.password
        assert execute(second, "point-get", ["run", "verify"]).status == 0
        assert not [log for log in launch.log_folder.iterdir() if second.endpoint.password in log.read_text()]
    finally:
        second.stop()
        shutil.rmtree(kept)


@pytest.mark.systems
def test_a_version_of_its_own_starts(started):
    need("postgresql@18")
    (server,) = started("postgresql@18?work_mem=8MB").servers()
    assert server["version"].startswith(PACKAGES["postgresql@18"].release)
    assert server["effective_settings"]["data_checksums"] == "on"
    (server,) = started("postgresql@18?data_checksums=off").servers()
    assert server["effective_settings"]["data_checksums"] == "off"


@pytest.mark.parametrize("value", ["on", "off"])
def test_checksums_are_as_they_were_asked_for(started, value):
    server = started(f"postgresql?data_checksums={value}")
    assert server.servers()[0]["effective_settings"]["data_checksums"] == value
    made = ("initdb --data-checksums" in server.started_with()["postgresql"]) == (value == "on")
    assert made


def test_the_newest_version_is_taken_where_none_is_on_the_path(monkeypatch, tmp_path):
    for version in ("9.6", "15", "18"):
        folder = tmp_path / version / "bin"
        folder.mkdir(parents=True)
        for name in ("initdb", "postgres") if version != "18" else ("initdb",):
            (folder / name).touch()
    monkeypatch.setattr(postgresql, "find_program", lambda name: None)
    monkeypatch.setattr(postgresql, "PLACES", ((str(tmp_path), "*/bin"),))
    assert postgresql.programs() == tmp_path / "15" / "bin"
    monkeypatch.setattr(postgresql, "PLACES", ())
    assert "apt install postgresql" in postgresql.PostgreSQL.missing()


@pytest.mark.parametrize(
    ("changed", "level", "reason"),
    [
        ({}, "D2", "synchronous_commit=on"),
        ({"synchronous_commit": "local"}, "D2", "synchronous_commit=local"),
        ({"synchronous_commit": "off"}, "D1", "synchronous_commit=off"),
        ({"fsync": "off"}, "D0", "fsync=off"),
        ({"full_page_writes": "off"}, "D2", "tear pages"),
    ],
)
def test_durability(changed, level, reason):
    durability = durability_of({"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"} | changed)
    assert durability.level == level and reason in durability.reason


@pytest.mark.parametrize("relation", ["TABLE dbdyno_bm (id int)", "VIEW dbdyno_bm AS SELECT 1"])
def test_what_is_not_dbdynos_is_neither_dropped_nor_cleaned(server, relation):
    endpoint = server.endpoint
    login = {"user": endpoint.user, "password": endpoint.password, "dbname": endpoint.database}
    with psycopg.connect(host=endpoint.host, port=endpoint.port, autocommit=True, **login) as connection:
        connection.execute(f"CREATE {relation}")
        try:
            outcome = execute(server, "point-get", ["prepare"])
            assert outcome.status == 2
            assert "dbdyno_bm without dbdyno's marker exists" in outcome.of("end")[0]["reason"]
            assert execute(server, "point-get", ["cleanup"]).status == 0
            assert connection.execute("SELECT count(*) FROM pg_class WHERE relname = 'dbdyno_bm'").fetchone() == (1,)
        finally:
            connection.execute(f"DROP {' '.join(relation.split()[:2])}")


def test_a_table_of_the_name_in_another_schema_is_not_dropped_if_somebody_else_drops_dbdynos_first(server):
    """The name leads there then, by the search path."""
    endpoint = server.endpoint
    login = {"user": endpoint.user, "password": endpoint.password, "dbname": endpoint.database}
    where = {"host": endpoint.host, "port": endpoint.port}
    with psycopg.connect(**where, autocommit=True, **login) as owners, psycopg.connect(**where, **login) as other:
        owners.execute("CREATE TABLE public.dbdyno_bm (note text)")
        owners.execute(f"CREATE SCHEMA {endpoint.user}")
        try:
            assert execute(server, "point-get", ["prepare"]).status == 0
            other.execute(f"LOCK TABLE {endpoint.user}.dbdyno_bm")
            cleaning = begin(server, plan_of(None, "point-get", ["cleanup"]))
            waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
            wait_until(lambda: owners.execute(waiting).fetchone() == (1,))
            other.execute(f"DROP TABLE {endpoint.user}.dbdyno_bm")
            other.commit()
            assert end(cleaning).status == 0
            assert owners.execute("SELECT to_regclass('public.dbdyno_bm')").fetchone() == ("dbdyno_bm",)
        finally:
            owners.execute("DROP TABLE IF EXISTS public.dbdyno_bm")
            owners.execute(f"DROP SCHEMA {endpoint.user} CASCADE")


def test_a_statement_that_cannot_be_prepared_says_so_each_time(started):
    server = started("postgresql")
    assert execute(server, "game", ["prepare", "load"]).status == 0
    with psycopg.connect(url_of(server), autocommit=True) as connection:
        connection.execute("DROP TABLE dbdyno_account")
    done = execute(server, "game", ["run"])
    said = {record["message"] for record in done.of("error")}
    assert done.errors() and said
    assert all('relation "dbdyno_account" does not exist' in message for message in said), said


def test_a_setting_is_changed_while_it_runs_unless_it_was_started_with_it(started, monkeypatch):
    server = started("postgresql?max_wal_size=64MB")
    assert server.setting("synchronous_commit") == "on"
    server.change_setting("synchronous_commit", "off")
    assert server.setting("synchronous_commit") == "off"
    server.change_setting("synchronous_commit", "on")
    monkeypatch.setattr(postgresql, "_RELOADED_WITHIN_S", 0.2)
    with pytest.raises(UserError, match="does not take max_wal_size=8GB while it runs"):
        server.change_setting("max_wal_size", "8GB")
    assert server.setting("max_wal_size") == "64MB"
