"""sysbench's arguments hold all it must know but the password."""

import io
import json

from dbdyno.load_sysbench.command import command, configuration
from dbdyno.load_sysbench.plan import read_plan
from load_sysbench.conftest import STORE, plan_of

KNOWN = "  --table_size=N   Number of rows per table [10000]\n  --tables=N  Number of tables [1]"


def plan(store=STORE, **options):
    store = store | {"password": {"secret": 0}}
    return read_plan(io.StringIO(f'{json.dumps(plan_of(store, **options))}\n{{"secrets": ["hidden"]}}\n'))


def test_a_run_over_tcp():
    arguments = command(plan(sysbench="--skip-trx", tables="2"), "run", KNOWN, 5)
    assert arguments[:2] == ["sysbench", "--config-file=/dev/stdin"]
    assert arguments[-3:] == ["--skip-trx", "oltp_read_write", "run"]
    wanted = ["--db-driver=mysql", "--mysql-user=u", "--mysql-db=d", "--mysql-host=127.0.0.1", "--mysql-port=1"]
    wanted += ["--threads=2", "--time=5", "--report-interval=1", "--histogram=on", "--table-size=100", "--tables=2"]
    assert set(wanted) <= set(arguments) and not any("hidden" in argument for argument in arguments)
    assert configuration(plan()) == "mysql-password=hidden\n"


def test_a_script_is_told_only_what_it_knows():
    arguments = command(plan(), "prepare", "")
    assert not any(
        "table-size" in argument or "--time" in argument or "histogram" in argument for argument in arguments
    )
    assert not any("--tables" in argument for argument in command(plan(), "prepare", KNOWN))


def test_sockets_and_engines():
    unix = STORE | {"address": {"unix": "/run/s.sock"}, "table_options": "ENGINE=Aria"}
    assert {"--mysql-socket=/run/s.sock", "--mysql-storage-engine=Aria"} <= set(command(plan(unix), "run", KNOWN))
    postgres = STORE | {"kind": "postgres", "address": {"unix": "/run/pg/.s.PGSQL.5432"}}
    assert {"--pgsql-host=/run/pg", "--pgsql-port=5432"} <= set(command(plan(postgres), "run", KNOWN))
