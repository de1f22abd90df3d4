"""A real private TiDB over its built-in store. Go builds it, so `make test-systems` runs these."""

import signal

import pytest

from dbdyno.errors import UserError
from dbdyno.systems.mysql import mariadb, tidb
from dbdyno.systems.mysql.tidb import TiDB
from helpers import system, wait_until
from systems.load import ROWS, begin, end, execute, plan_of, rows_read

PHASES = ["prepare", "load", "run", "verify", "cleanup"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tidb?engine=InnoDB", "'engine' cannot be set: TiDB ignores the engine"),
        ("tidb?access=handler", "'access' cannot be set: TiDB has no HANDLER"),
        ("tidb?protocol=binary", "give one of prepared, text"),
    ],
)
def test_what_cannot_be_its_setting_is_refused(text, said):
    with pytest.raises(UserError, match=said):
        system(text)


def test_what_is_missing_is_named_with_the_way_to_it(monkeypatch):
    monkeypatch.setattr(tidb, "installed", lambda package: None)
    assert "dbdyno systems install tidb" in TiDB.missing()


def test_its_data_is_loaded_for_every_repetition():
    assert not system("tidb").restorable


@pytest.mark.systems
def test_it_has_its_settings_figures_and_nobody_without_a_password(started):
    server = started("tidb?tidb_enable_1pc=off&tidb_mem_quota_query=134217728&connect=socket")
    (server_document,) = server.servers()
    assert server_document["version"].startswith("8.0.11-TiDB-v8.4.0")
    assert server_document["effective_settings"]["tidb_enable_1pc"] == "OFF"
    assert server_document["effective_settings"]["tidb_mem_quota_query"] == "134217728"
    assert server_document["effective_settings"]["store"] == "unistore"
    assert not any(name.startswith("innodb_flush") for name in server.all_settings()["tidb"])
    assert server.durability().level == "D0"
    assert server._query("SELECT user FROM mysql.user WHERE account_locked <> 'Y'") == (("dbdyno",),)
    counted = server.counters()["tidb"]["tidb_server_query_total"]
    assert execute(server, "point-get", PHASES).status == 0
    assert server.counters()["tidb"]["tidb_server_query_total"] > counted
    assert server.endpoint.password not in server._server.log_path.read_text()
    assert {"-status=PORT", "tidb_enable_noop_functions=ON"} <= set(server.started_with()["tidb"])
    assert server_document["effective_settings"]["tidb_enable_noop_functions"] == "ON"


@pytest.mark.systems
@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("innodb_flush_log_at_trx_commit=1", "ignores the system variable 'innodb_flush_log_at_trx_commit'"),
        ("no_such_variable=1", "ignores the system variable 'no_such_variable'"),
        ("tidb_mem_quota_query=much", "tidb_mem_quota_query=much was refused: Incorrect argument type"),
        ("tidb_distsql_scan_concurrency=100000", "100000 was given, and the server has 256"),
    ],
)
def test_a_setting_that_it_has_not_or_otherwise_is_an_error(started, setting, said):
    with pytest.raises(UserError, match=said):
        started(f"tidb?{setting}")


@pytest.mark.systems
def test_attached_it_shows_what_does_something_and_takes_nothing_that_does_not(started, monkeypatch):
    server = started("tidb?tidb_enable_1pc=off")
    server._query("SET GLOBAL innodb_flush_log_at_trx_commit = 2")
    assert dict(server._query("SHOW GLOBAL VARIABLES"))["innodb_flush_log_at_trx_commit"] == "2"
    endpoint = server.endpoint
    url = f"mysql://{endpoint.user}:{endpoint.password}@{endpoint.host}:{endpoint.port}/{endpoint.database}"
    for refused, said in (("engine=InnoDB", "ignores the engine"), ("access=handler", "has no HANDLER")):
        with pytest.raises(UserError, match=said):
            started(f"{url}?{refused}")
    attached = started(url)
    settings = attached.servers()[0]["effective_settings"]
    assert (
        settings["tidb_enable_1pc"] == "OFF"
        and "innodb_flush_log_at_trx_commit" not in attached.all_settings()["mysql"]
    )
    assert attached.all_settings()["mysql"].keys() == server.all_settings()["tidb"].keys()
    assert (attached.durability().level, attached.probes()) == ("unknown", [])
    assert rows_read(attached) > 0
    # As one that cannot say which of them do nothing.
    monkeypatch.setattr(mariadb, "ACTIVE", "SELECT nothing FROM information_schema.VARIABLES_INFO")
    old = started(url).all_settings()["mysql"]
    assert old["tidb_enable_1pc"] == "OFF" and all(name.startswith("tidb") or name == "version" for name in old)


@pytest.mark.systems
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("workload", "rows"), [("oltp", ROWS), ("tpcc", 1), ("db-stress", ROWS), ("batch-get", ROWS)])
def test_workloads_with_sql_of_their_own_are_done_and_hold_their_conditions(started, workload, rows):
    # The conditions of tpcc are checked by queries over whole tables, on whatever host this is.
    done = execute(started("tidb"), workload, PHASES, rows, operation_timeout_s=120)
    assert done.status == 0, done.of("end")
    (total,) = done.of("total")
    assert total["transactions"]["completed"] > 0 and total["mismatches"] == 0
    checks = done.of("check")
    assert checks and all(check["ok"] is not False for check in checks)


@pytest.mark.systems
def test_what_was_acknowledged_is_there_after_the_server_is_killed_or_stopped_and_started_again(started):
    server = started("tidb")
    assert execute(server, "point-update", ["prepare", "load"]).status == 0
    total = "SELECT SUM(k) FROM dbdyno_bm"
    ((loaded,),) = server._query(total)
    process = begin(server, plan_of(None, "point-update", ["run"], duration_s=60))
    wait_until(lambda: server._query(total)[0][0] > loaded)
    server.kill()
    process.send_signal(signal.SIGINT)
    acknowledged = end(process).of("total")[0]["transactions"]["completed"]
    server.start_again()
    rows = server._query(total)[0][0]
    # Transactions under way when it died may be there as well, one for each client.
    assert 0 < acknowledged <= rows - loaded <= acknowledged + 2
    server.restart()
    assert server._query(total)[0][0] == rows
