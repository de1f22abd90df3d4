"""Causes that are other nodes, which commits wait for."""

from dbdyno.systems.running.cgroup import cpu_limit

from ..case import COMMIT, REPLICATION, Case, Load
from ..replicas import last_node_limited, slow_standby
from .loads import HOST, SERVER

REPLICATED = frozenset({REPLICATION})
UPDATES = {"workload": "point-update", "operation_timeout_seconds": 60}
_UNFLUSHED = "innodb_flush_log_at_trx_commit=0"
_MASTER = "rpl_semi_sync_master_enabled=ON&rpl_semi_sync_master_timeout=600000"

ASYNCHRONOUS = Load("replicated-update", f"replicated(mariadb?{_UNFLUSHED}, mariadb)", SERVER, HOST, UPDATES)
ALONE = Load("postgresql-update-alone", "postgresql", SERVER | {COMMIT}, HOST, UPDATES, attached=True)

CASES = (
    Case(
        "semi-sync",
        "MariaDB's commits wait for a replica that is held to 0.05 processors, 16 clients update",
        ASYNCHRONOUS,
        REPLICATED,
        (last_node_limited(lambda: cpu_limit(0.05)),),
        system=f"replicated(mariadb?{_UNFLUSHED}&{_MASTER}, mariadb?rpl_semi_sync_slave_enabled=ON)",
        says="semi-sync",
    ),
    Case(
        "slow-standby",
        "PostgreSQL's commits wait for a standby that is stopped for 150 ms of every 200 ms, 16 clients update",
        ALONE,
        REPLICATED,
        (slow_standby(0.15, 0.2),),
        says="SyncRep",
    ),
)
