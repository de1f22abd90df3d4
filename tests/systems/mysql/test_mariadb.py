"""A real private MariaDB, and the same attached to by its URL."""

import getpass
import os
import shutil
from dataclasses import replace

import pymysql
import pytest

from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.system_spec import parse_system
from dbdyno.systems import missing, sized
from dbdyno.systems.mysql import mariadb
from helpers import need, system
from systems.load import execute, rows_read


def url_of(mariadb, password=None):
    endpoint = mariadb.endpoint
    return (
        f"mysql://{endpoint.user}:{password or endpoint.password}@{endpoint.host}:{endpoint.port}/{endpoint.database}"
    )


def connect(mariadb, **other):
    endpoint = mariadb.endpoint
    login = {"user": endpoint.user, "password": endpoint.password} | other
    return pymysql.connect(host=endpoint.host, port=endpoint.port, database=endpoint.database, **login)


def test_it_starts_with_its_settings_and_is_gone_when_stopped(started):
    mariadb = started("mariadb?innodb_buffer_pool_size=16M&log_bin=on&engine=Aria")
    (server,) = mariadb.servers()
    assert server["version"].startswith("1")
    effective = server["effective_settings"]
    assert (effective["innodb_buffer_pool_size"], effective["log_bin"], effective["engine"]) == (
        "16777216",
        "ON",
        "Aria",
    )
    assert mariadb.durability().level == "D1"
    secrets = []
    plan = mariadb.store_plan(secrets)
    assert plan["table_options"] == "ENGINE=Aria" and secrets[plan["password"]["secret"]] == mariadb.endpoint.password
    directory = mariadb._directory.path
    mariadb.stop()
    assert not directory.exists() and mariadb.server_pids() == {}


@pytest.mark.parametrize("data_bytes", [10_000_001, 370_000_000])
def test_a_share_of_any_size_of_data_is_a_buffer_pool_the_server_takes(started, data_bytes):
    given = sized(parse_system("mariadb?innodb_buffer_pool_size=100%"), data_bytes).settings["innodb_buffer_pool_size"]
    mariadb = started(f"mariadb?innodb_buffer_pool_size={given}")
    taken = mariadb.servers()[0]["effective_settings"]["innodb_buffer_pool_size"]
    assert data_bytes * 1.7 <= int(taken) < data_bytes * 1.7 + (1 << 20)


def test_counters_count_what_was_asked(started):
    mariadb = started("mariadb")
    before = mariadb.counters()["mariadb"]
    with connect(mariadb) as connection, connection.cursor() as cursor:
        for _ in range(10):
            cursor.execute("SELECT 1")
    after = mariadb.counters()["mariadb"]
    assert after["Com_select"] - before["Com_select"] == 10


def test_nobody_gets_in_without_the_password(started):
    mariadb = started("mariadb")
    for user, password in (("root", ""), ("dbdyno", ""), ("", "")):
        with pytest.raises(pymysql.OperationalError, match="Access denied"):
            connect(mariadb, user=user, password=password)


def test_clients_may_be_told_to_take_the_socket(started):
    mariadb = started("mariadb?connect=socket")
    assert "unix" in mariadb.store_plan([])["address"]
    assert mariadb.servers()[0]["effective_settings"]["connect"] == "socket"
    assert mariadb.durability().level == "D2"
    endpoint = mariadb.endpoint
    attached = started(f"mysql://dbdyno:{endpoint.password}@/dbdyno?socket={endpoint.socket}")
    assert attached.endpoint.socket == endpoint.socket and rows_read(attached) > 0


def test_an_account_of_the_hosts_user_lets_in_that_user_alone(started):
    mariadb, me = started("mariadb?connect=socket"), getpass.getuser()
    rights = ", ".join(f"{right}_priv='Y'" for right in ("Select", "Insert", "Create", "Drop"))
    for user in (me, "somebody_else"):
        mariadb._query(f"CREATE USER '{user}'@'localhost' IDENTIFIED VIA unix_socket")
        # dbdyno's own user may do anything but GRANT.
        mariadb._query(f"INSERT INTO mysql.db SET Host='localhost', Db='dbdyno', User='{user}', {rights}")
    mariadb._query("FLUSH PRIVILEGES")
    urls = [f"mysql://{user}@/dbdyno?socket={mariadb.endpoint.socket}" for user in (me, "somebody_else")]
    assert rows_read(started(urls[0])) > 0
    with pytest.raises(UserError, match="run dbdyno as that user, or name an account with a password"):
        started(urls[1])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mariadb?max_conections=5", "unknown variable 'max_conections=5'"),
        ("mariadb?innodb_buffer_pool_instances=4", "shows no such variable"),
        ("mariadb?table_open_cache=1", "table_open_cache=1 was given, and the server has 10"),
        ("mariadb?engine=NoSuchEngine", "no engine 'NoSuchEngine'; it has .*InnoDB"),
    ],
)
def test_a_setting_it_does_not_take_is_said_in_its_words(started, text, said):
    with pytest.raises(UserError, match=said):
        started(text)


def test_attached_it_is_read_and_not_changed(started):
    mariadb = started("mariadb")
    attached = started(url_of(mariadb))
    assert attached.servers()[0]["effective_settings"] == mariadb.servers()[0]["effective_settings"]
    assert attached.durability() == mariadb.durability()
    attached.stop()
    assert mariadb.counters()["mariadb"]["Com_insert"] == 0


def test_a_wrong_password_is_said_without_it(started):
    url = url_of(started("mariadb"), "wrongpw")
    with pytest.raises(UserError, match="check the user and the password") as caught:
        started(url)
    assert "wrongpw" not in str(caught.value)


def test_where_nobody_answers_it_is_said(started):
    with pytest.raises(UserError, match="no server answers there"):
        started("mysql://u@127.0.0.1:1/d")


def test_a_server_that_died_does_not_answer(started):
    mariadb = started("mariadb")
    mariadb._server._process.kill()
    mariadb._server._process.wait()
    assert mariadb.death() == "mariadb was killed by SIGKILL"
    with pytest.raises(RunFailed, match="does not answer"):
        mariadb.counters()


def test_an_attached_url_needs_a_database_and_no_server_settings():
    with pytest.raises(UserError, match="name the database"):
        system("mysql://u@h")
    with pytest.raises(UserError, match="'sync_binlog'"):
        system("mysql://u@h/d?sync_binlog=1")


@pytest.mark.parametrize("settings", ["access=handler", "protocol=text", "access=handler&protocol=text&engine=Aria"])
def test_rows_are_the_same_by_every_access_path_and_protocol(started, settings):
    server = started(f"mariadb?{settings}&innodb_flush_log_at_trx_commit=0")
    for workload in ("game", "secondary-get", *(() if "handler" in settings else ("batch-get",))):
        done = execute(server, workload, ["prepare", "load", "run", "verify", "cleanup"])
        (total,) = done.of("total")
        assert done.status == 0 and total["transactions"]["completed"] > 0 and total["transactions"]["failed"] == 0
        assert total["reads_verified"] > 0 and total["mismatches"] == 0
    counters = server.counters()["mariadb"]
    assert counters["Com_ha_read"] > 0 if "handler" in settings else counters["Com_ha_read"] == 0
    assert counters["Com_stmt_execute"] < 100 or "text" not in settings


def test_what_an_engine_cannot_do_is_declared():
    assert "transaction" in system("mariadb?engine=RocksDB").operations
    assert "transaction" not in system("mariadb?engine=MyISAM").operations


def test_what_a_handler_cannot_do_is_declared():
    assert "get-many" not in system("mariadb?access=handler").operations
    with pytest.raises(UserError, match="HANDLER does not open tables of RocksDB"):
        system("mariadb?access=handler&engine=RocksDB")
    with pytest.raises(UserError, match="give one of sql, handler"):
        system("mysql://u@h/d?access=index")


def test_options_of_settings():
    options = system("mariadb?engine=RocksDB&log_bin=off&skip_name_resolve&sync_binlog=1").server_options()
    assert "--plugin-load-add=ha_rocksdb" in options
    assert options[-3:] == ["--skip-log-bin", "--skip_name_resolve", "--sync_binlog=1"]


def test_an_engine_whose_plugin_is_not_there_is_missing_and_not_a_mistake(tmp_path, monkeypatch):
    need("mariadb")
    monkeypatch.setattr(mariadb, "PLUGIN_FOLDERS", (str(tmp_path), str(tmp_path / "none")))
    (tmp_path / "ha_spider.so").touch()
    reasons = [missing(parse_system(f"mariadb?engine={engine}")) for engine in ("RocksDB", "Spider", "Aria")]
    assert reasons == ["its engine RocksDB is not installed: apt install mariadb-plugin-rocksdb", None, None]
    monkeypatch.setattr(mariadb, "PLUGIN_FOLDERS", (str(tmp_path / "none"),))
    assert missing(parse_system("mariadb?engine=RocksDB")) is None


def test_an_engines_package_is_named_for_the_hosts_own_server_alone(monkeypatch):
    for text, said in (("mariadb", "apt install mariadb-plugin-rocksdb"), ("mariadb@11.4", "it has InnoDB")):
        server = system(f"{text}?engine=RocksDB")
        monkeypatch.setattr(server, "_query", lambda _: (("InnoDB", "DEFAULT"),))
        with pytest.raises(UserError, match=f"no engine 'RocksDB'; {said}"):
            server._check_engine()


def test_an_engine_that_a_kill_left_half_a_record_is_repaired(started):
    server = started("mariadb?engine=RocksDB&rocksdb_flush_log_at_trx_commit=1")
    with connect(server) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE t (k INT PRIMARY KEY) ENGINE=RocksDB")
        for number in (1, 2):
            cursor.execute("INSERT INTO t VALUES (%s)", (number,))
            connection.commit()
    server.kill()
    # The kill came while the last record was written.
    log = max((server.data_directories()[0] / "data/#rocksdb").glob("*.log"), key=lambda path: path.stat().st_size)
    log.write_bytes(log.read_bytes()[:-3])
    with pytest.raises(RunFailed, match=r"without its engine RocksDB: .*Corruption: truncated record body"):
        server.start_again()
    assert server.repair() == "mariadbd --rocksdb_wal_recovery_mode=2"
    server.start_again()
    assert server._query("SELECT k FROM t") == ((1,),)


@pytest.mark.parametrize("text", ["mariadb", "mariadb?engine=RocksDB&rocksdb_wal_recovery_mode=1"])
def test_what_was_asked_for_is_not_repaired(text):
    assert system(text).repair() is None


@pytest.fixture
def copied(launch):
    """Start a server, and return it with a function that stops it and starts another on a copy of its data."""
    need("mariadb")
    first, second, kept = system("mariadb"), system("mariadb"), []

    def begin_on_a_copy():
        if not kept:
            kept.append(first.keep().path)
        second.start(replace(launch, data=kept[0]))
        return second

    try:
        first.start(launch)
        yield first, begin_on_a_copy
    finally:
        first.stop()
        second.stop()
        for path in kept:
            shutil.rmtree(path)


def test_what_was_loaded_is_kept_and_started_from_again(copied):
    first, begin_on_a_copy = copied
    with connect(first) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE t (k INT PRIMARY KEY)")
        cursor.execute("INSERT INTO t VALUES (1), (2)")
        connection.commit()
    pid = first.server_pids()["mariadb"]
    for _ in range(2):
        second = begin_on_a_copy()
        assert first.server_pids() == {} and not os.path.exists(f"/proc/{pid}")
        with connect(second) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT COUNT(*) FROM t")
            assert cursor.fetchone() == (2,)
            cursor.execute("DELETE FROM t")
            connection.commit()
        second.stop()


def test_a_server_on_a_copy_of_the_data_knows_how_many_rows_it_has(copied):
    first, begin_on_a_copy = copied
    assert execute(first, "batch-get", ["prepare", "load"], rows=50_000).status == 0
    # It scanned the table: as far as its statistics knew, there was next to nothing in it.
    keys = ", ".join(map(str, range(0, 50_000, 500)))
    ((_, _, _, access, *_),) = begin_on_a_copy()._query(f"EXPLAIN SELECT c FROM dbdyno_bm WHERE id IN ({keys})")
    assert access == "range"


def test_what_lies_elsewhere_cannot_be_restored():
    assert system("mariadb?innodb_buffer_pool_size=16M").restorable
    assert not system("mariadb?innodb_log_group_home_dir=/elsewhere").restorable
    assert not system("mysql://u@127.0.0.1:1/d").restorable


def test_a_log_in_statements_is_loaded_without_bulk_operations(started):
    server = started("mariadb?log_bin=on&binlog_format=statement")
    done = execute(server, "point-update", ["prepare", "load", "run", "verify", "cleanup"])
    assert done.status == 0 and all(check["ok"] for check in done.of("check"))
    (loaded,) = (phase for phase in done.of("phase") if phase["phase"] == "load" and phase["state"] == "end")
    assert loaded["by"] == "INSERT of many rows" and server._variables()["binlog_format"] == "STATEMENT"
