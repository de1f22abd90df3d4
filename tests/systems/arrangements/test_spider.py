"""A real Spider in front of two real backends: each has its part of the rows, and clients see one table."""

import os
import signal
from pathlib import Path

import pymysql
import pytest

from dbdyno.errors import UserError
from dbdyno.systems.base import Launch
from dbdyno.systems.mysql.client import connect
from dbdyno.systems.running.guard import Guard
from helpers import need, system, wait_until
from systems.load import ONE_CLIENT, ROWS, begin, end, execute, plan_of

NAMES = ["spider-front", "spider-backend-1", "spider-backend-2"]
ALL_PHASES = ["prepare", "load", "run", "verify", "cleanup"]


@pytest.fixture(scope="module")
def spider(tmp_path_factory):
    """One for all that does not change how it is started; the last test kills a part of it."""
    need("mariadb")
    text = "mariadb?engine=Spider&backends=2&innodb_flush_log_at_trx_commit=0&spider_bulk_size=20000"
    with Guard() as guard:
        spider_system = system(text)
        try:
            spider_system.start(Launch(guard, tmp_path_factory.mktemp("spider"), clients=8, rows=2 * ROWS))
            yield spider_system
        except UserError as reason:
            if "apt install" not in str(reason) or os.environ.get("CI") == "true":
                raise
            pytest.skip(str(reason))
        finally:
            spider_system.stop()


def rows_of(server, statement):
    with connect(server.endpoint, database="dbdyno") as connection, connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall()


def test_settings_go_where_they_act(spider):
    front, *backends = (server["effective_settings"] for server in spider.servers())
    assert [server["name"] for server in spider.servers()] == NAMES == [*spider.server_pids()]
    assert (front["engine"], front["spider_bulk_size"], front["innodb_flush_log_at_trx_commit"]) == (
        "Spider",
        "20000",
        "1",
    )
    assert [backend["innodb_flush_log_at_trx_commit"] for backend in backends] == ["0", "0"]
    durability = spider.durability()
    assert durability.level == "D1" and "innodb_flush_log_at_trx_commit=0" in durability.reason
    assert len(spider.data_directories()) == 3 and spider.death() is None


def test_a_row_is_at_one_backend_and_the_mark_with_it(spider):
    assert execute(spider, "point-get", ["prepare", "load"]).status == 0
    table = "dbdyno_bm"
    held = [rows_of(backend, f"SELECT id FROM {table}") for backend in spider.nodes[1:]]
    assert sorted(held[0] + held[1]) == [(key,) for key in range(1, ROWS + 1)] and all(held)
    comment = f"SELECT table_comment FROM information_schema.tables WHERE table_name = '{table}'"
    assert rows_of(spider.nodes[1], comment)[0][0].startswith("dbdyno:")
    assert execute(spider, "point-get", ["prepare", "cleanup"]).status == 0
    for server in spider.nodes:
        with pytest.raises(pymysql.err.ProgrammingError, match="doesn't exist"):
            rows_of(server, f"SELECT 1 FROM {table}")


def test_a_table_at_a_backend_that_is_not_dbdynos_is_left_alone(spider):
    rows_of(spider.nodes[2], "CREATE TABLE dbdyno_bm (id INT PRIMARY KEY)")
    try:
        done = execute(spider, "point-get", ["prepare"])
        assert done.status == 2 and "without dbdyno's marker" in done.of("end")[0]["reason"]
    finally:
        rows_of(spider.nodes[2], "DROP TABLE dbdyno_bm")


@pytest.mark.parametrize(
    "workload", ["game", "secondary-get", "point-update", "batch-get", "insert-indexes", "extreme-values"]
)
def test_rows_divided_among_backends_come_back_as_they_were_stored(spider, workload):
    done = execute(spider, workload, ALL_PHASES, operation_timeout_s=60)
    (total,) = done.of("total")
    assert done.status == 0 and total["transactions"]["completed"] > 0
    assert total["transactions"]["failed"] == total["mismatches"] == 0
    assert all(check["ok"] for check in done.of("check"))


def test_rows_that_are_not_there_are_missing(spider):
    assert execute(spider, "point-get", ["prepare", "load"]).status == 0
    done = execute(spider, "point-get", ["run"], 2 * ROWS, operation_timeout_s=60)
    assert done.errors() == {"missing"} and done.of("total")[0]["mismatches"] == 0


def test_without_a_backend_clients_are_told_and_so_is_how_it_ended(spider):
    assert execute(spider, "point-get", ["prepare", "load"]).status == 0
    plan = plan_of(None, "point-get", ["run"], duration_s=300, **ONE_CLIENT)
    process = begin(spider, plan)
    try:
        spider.nodes[1]._server._process.kill()
        spider.nodes[1]._server._process.wait()
        assert spider.death() == "spider-backend-1 was killed by SIGKILL"
        lines = (line for line in process.stdout if '"errors"' in line and '"server"' in line)
        assert next(lines, None)
    finally:
        process.send_signal(signal.SIGINT)
        end(process)
    directories, pids = spider.data_directories(), spider.server_pids()
    spider.stop()
    assert spider.server_pids() == {} and not any(map(Path.exists, directories))
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids.values()))


def test_what_several_backends_cannot_do_is_declared():
    assert "transaction" in system("mariadb?engine=spider").operations
    several = system("mariadb?engine=Spider&backends=2").operations
    assert "get-many" in several and not {"transaction", "sql", "analyse", "copy"} & several


def test_rows_are_counted_once_in_what_it_takes():
    single, three = (system(f"mariadb?engine=Spider&backends={n}").space(3e6, 3e9) for n in (1, 3))
    empty = system("mariadb").space(0, 0)
    assert three.disk_bytes - single.disk_bytes == pytest.approx(2 * empty.disk_bytes)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mariadb?engine=Spider&backends=0", "from 1 to 9"),
        ("mariadb?engine=Spider&backends=many", "from 1 to 9"),
        ("mariadb?engine=Spider&access=handler", "HANDLER does not open"),
        ("mysql://u@h/d?engine=Spider", "only between servers of its own"),
        ("handlersocket?engine=Spider", "only between servers of its own"),
    ],
)
def test_what_it_cannot_be_is_refused(text, said):
    with pytest.raises(UserError, match=said):
        system(text)
