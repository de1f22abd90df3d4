"""The servers and files both sides work on: started privately by dbdyno's own systems, loaded by dbdyno-load."""

import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pymysql
import redis

from benches import load
from benches.measured import Outcome, Placement, Sample, pinned
from dbdyno.conduct.load_client import find_load_client
from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import parse_system, with_labels
from dbdyno.systems import build, missing
from dbdyno.systems.base import Launch, System
from dbdyno.systems.embedded.lmdb import LMDB
from dbdyno.systems.running.guard import Guard
from dbdyno.systems.running.server import Server

CLIENTS = 300
DEFAULTS = "mariadb"
ROOMY = "mariadb?innodb_buffer_pool_size=512M&innodb_log_file_size=1G"
"""Room for a million rows and for their log: with the defaults the load row is about eviction and checkpoints."""
FERRETDB_ROWS = 100
SPACIOUS = "mariadb?innodb_buffer_pool_size=2G&innodb_log_file_size=1G"
"""Room for ten warehouses of tpcc, which are a gigabyte, and for their log."""
SHARED_BUFFERS = "postgresql?shared_buffers=512MB&connect=socket"
BUFFER_POOL = "mariadb?innodb_buffer_pool_size=512M"
"""Room for the million rows of the load row; the default would make it about eviction."""


_RIGHTS = ("Select", "Insert", "Update", "Delete", "Create", "Drop", "Index", "Alter")
# dbdyno's own user may do anything but GRANT, so the rights on one database are written where GRANT would write them.
_BENCH_USER = (
    "CREATE USER 'bench'@'127.0.0.1'",
    "INSERT INTO mysql.db SET Host='127.0.0.1', Db='dbdyno', User='bench', "
    + ", ".join(f"{right}_priv='Y'" for right in _RIGHTS),
    "FLUSH PRIVILEGES",
)


# Whom to trust is a file of the server's, which it writes itself here.
_TRUST = (
    "CREATE ROLE bench LOGIN",
    "GRANT CREATE ON SCHEMA public TO bench",
    "COPY (VALUES ('host all bench 127.0.0.1/32 trust'), ('local all bench trust'), "
    "('host all all 127.0.0.1/32 scram-sha-256'), ('local all all scram-sha-256')) TO '{hba_file}'",
    "SELECT pg_reload_conf()",
)
NULL_STORES: dict[str, dict[str, Any]] = {
    "memcached": {},
    "mongodb": {"user": None, "password": None, "database": "null"},
    "cassandra": {
        "user": None,
        "password": None,
        "keyspace": "dbdyno_data",
        "consistency": "ONE",
    },
    "postgres": {"user": "bench", "password": None, "database": "postgres"},
    "redis": {"user": None, "password": None, "database": 0, "layout": "string"},
    "mysql": {"user": "bench", "password": None, "database": "null", "table_options": "", "load_with": None},
    "handlersocket": {"password": None, "database": "null", "sql": None},
}
"""The keys of a plan's store beside its kind and address."""


@dataclass(frozen=True)
class Bench:
    """The sizes of a `make bench`. seconds: of a run. rows, load_rows: of the table, of the load row."""

    guard: Guard
    folder: Path
    seconds: int
    rows: int
    load_rows: int


@dataclass(frozen=True)
class Started:
    """A running system, and dbdyno-load's description of it.

    watched: the same as dbdyno's own user reaches it, where that is another one; who may see less is asked less.
    """

    system: Any
    store: dict[str, Any]
    watched: Any = None

    def by_tcp(self) -> "Started":
        """Return the same reached by TCP, of one that listens on a Unix socket too."""
        system = copy(self.system)
        system.endpoint = replace(system.endpoint, socket=None)
        return Started(system, system.store_plan([]), self.watched)


@contextmanager
def _started(bench: Bench, text: str, placement: Placement) -> Iterator[System]:
    (spec,) = with_labels([parse_system(text)])
    if reason := missing(spec):
        raise UserError(reason)
    system = build(spec)
    try:
        system.start(Launch(bench.guard, bench.folder, CLIENTS, bench.rows, placement.server_cpus))
        yield system
    finally:
        system.stop()


@contextmanager
def empty(bench: Bench, text: str, placement: Placement) -> Iterator[Started]:
    """Yield an empty system, as `--system` names it."""
    with _started(bench, text, placement) as system:
        yield Started(system, system.store_plan([]))


@contextmanager
def mariadb(bench: Bench, placement: Placement, settings: str = ROOMY) -> Iterator[Started]:
    """Yield an empty MariaDB with a user without a password, which sysbench's command line would show to all."""
    with _started(bench, settings, placement) as system:
        assert isinstance(system, Server)
        endpoint = system.endpoint
        connection = pymysql.connect(
            host=endpoint.host, port=endpoint.port, user=endpoint.user, password=endpoint.password or ""
        )
        with connection, connection.cursor() as cursor:
            for statement in _BENCH_USER:
                cursor.execute(statement)
        own = copy(system)
        system.endpoint = replace(endpoint, user="bench", password=None)
        yield Started(system, system.store_plan([]) | {"password": None}, own)


@contextmanager
def postgresql(bench: Bench, placement: Placement) -> Iterator[Started]:
    """Yield a loaded PostgreSQL, on its Unix socket, with a user without a password, as with MariaDB."""
    with _started(bench, SHARED_BUFFERS, placement) as system:
        assert isinstance(system, Server)
        endpoint = system.endpoint
        with psycopg.connect(
            host=endpoint.host,
            port=endpoint.port,
            user=endpoint.user,
            password=endpoint.password,
            dbname=endpoint.database,
            autocommit=True,
        ) as connection:
            (hba_file,) = connection.execute("SHOW hba_file").fetchone() or ("",)
            for statement in _TRUST:
                connection.execute(statement.format(hba_file=hba_file))
        own = copy(system)
        system.endpoint = replace(endpoint, user="bench", password=None)
        started = Started(system, system.store_plan([]), own)
        fill(started, bench.rows, placement)
        yield started


@contextmanager
def redis_server(bench: Bench, placement: Placement) -> Iterator[tuple[Started, redis.Redis]]:
    """Yield a loaded Redis without a password, for the same reason, and a client of it."""
    with _started(bench, "redis", placement) as system:
        assert isinstance(system, Server)
        endpoint = system.endpoint
        with redis.Redis(host=endpoint.host, port=endpoint.port, password=endpoint.password) as client:
            client.config_set("requirepass", "")
        system.endpoint = replace(endpoint, password=None)
        started = Started(system, system.store_plan([]))
        fill(started, bench.rows, placement)
        with redis.Redis(host=endpoint.host, port=endpoint.port) as client:
            yield started, client


@contextmanager
def memcached(bench: Bench, placement: Placement) -> Iterator[Started]:
    """Yield a loaded memcached."""
    with _started(bench, "memcached", placement) as system:
        started = Started(system, system.store_plan([]))
        fill(started, bench.rows, placement)
        yield started


@contextmanager
def ferretdb(bench: Bench, placement: Placement) -> Iterator[Started]:
    """Yield a FerretDB with a few rows: it looks at all of them for each get."""
    with _started(bench, "ferretdb", placement) as system:
        started = Started(system, system.store_plan([]))
        fill(started, FERRETDB_ROWS, placement)
        yield started


@contextmanager
def cassandra(bench: Bench, placement: Placement) -> Iterator[Started]:
    """Yield a loaded Cassandra."""
    with _started(bench, "cassandra?heap=512M", placement) as system:
        started = Started(system, system.store_plan([]))
        fill(started, bench.rows, placement)
        yield started


@contextmanager
def lmdb(bench: Bench, placement: Placement) -> Iterator[tuple[Started, Path]]:
    """Yield a loaded LMDB and its directory."""
    with _started(bench, "lmdb?sync=none", placement) as system:
        assert isinstance(system, LMDB)
        started = Started(system, system.store_plan([]))
        fill(started, bench.rows, placement)
        yield started, system.path


@contextmanager
def null_server(bench: Bench, placement: Placement, protocol: str) -> Iterator[dict[str, Any]]:
    """Yield the plan's store of dbdyno-load's null server for a protocol."""
    command = [*pinned(placement.server_cpus), str(find_load_client()), "null", "--protocol", protocol]
    process = subprocess.Popen([*command, "--rows", str(bench.rows)], stdout=subprocess.PIPE, text=True)
    bench.guard.tell("pid", process.pid)
    try:
        said = process.stdout.readline() if process.stdout else ""
        address = {"host": "127.0.0.1", "port": int(re.findall(r'"port": ?(\d+)', said)[0])}
        written = {"write_address": address} if protocol == "handlersocket" else {}
        yield {"kind": protocol, "address": address, **written, **NULL_STORES[protocol]}
    finally:
        process.terminate()
        process.communicate()
        bench.guard.tell("done", process.pid)


def with_server_cpu(started: Started, operations: int, work: Callable[[], Outcome]) -> Sample:
    """Do `work`, of so many operations; return its sample with the server's CPU per operation beside it."""

    def sampled() -> Sample:
        outcome = work()
        return outcome.sample(operations, outcome.wall_s)

    return beside_server_cpu(started, sampled)


def beside_server_cpu(started: Started, work: Callable[[], Sample]) -> Sample:
    """Do `work`; return its sample with the CPU that the server took meanwhile, per operation, in its details."""
    processes = [psutil.Process(pid) for pid in started.system.server_pids().values()]
    before = [process.cpu_times() for process in processes]
    sample = work()
    used = [(process.cpu_times(), then) for process, then in zip(processes, before, strict=True)]
    user_s, system_s = (sum(getattr(now, k) - getattr(then, k) for now, then in used) for k in ("user", "system"))
    us = 1e6 / sample.operations
    details = {"server_cpu_us": (user_s + system_s) * us, "server_user_us": user_s * us}
    return replace(sample, details=sample.details | details)


def cpu_of_both_us(sample: Sample) -> float:
    """Return the CPU of client and server per operation, of a sample with the server's in its details."""
    return sample.cpu_us + sample.details["server_cpu_us"]


def fill(started: Started, rows: int, placement: Placement) -> None:
    """Make and load dbdyno's table."""
    load.execute(load.plan(started.store, rows, load.PREPARE), placement)
