"""Counters and waits of a server of the MySQL protocol: its status, InnoDB's figures, its connections' states.

Two questions: once a second for the counters, some times a second for the waits. If `performance_schema` is on,
the server itself counts its connections, in a quarter of a millisecond for 256 of them; it may be off.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from dbdyno.errors import RunFailed
from dbdyno.later import LaterModule
from dbdyno.systems.mysql.client import connect
from dbdyno.systems.mysql.text import Connections, answer, columns
from dbdyno.systems.probe import ANSWER_TIMEOUT_S, Names, Probe, Waits, named, shortest_s
from dbdyno.systems.running.endpoint import Endpoint
from dbdyno.systems.wait_events import (
    ALL_LATCHES,
    ALL_ROW_LOCKS,
    LOCKED,
    latch_of_mutex,
    lock_of_row,
    locks_of_processlist,
    states_of_processlist,
)

if TYPE_CHECKING:
    import pymysql
    from pymysql.constants import ER
else:
    pymysql = LaterModule("pymysql")
    ER = LaterModule("pymysql.constants.ER")

STATUS: Names = {
    "Questions": "questions_total",
    "Threads_connected": "connections",
    "Threads_running": "running",
    "Handler_commit": "commits_total",
    "Handler_rollback": "rollbacks_total",
    "Created_tmp_disk_tables": "temporary_disk_tables_total",
    "Table_locks_waited": "table_lock_waits_total",
    "Binlog_commits": "binlog_commits_total",
    "Binlog_group_commits": "binlog_group_commits_total",
    "Innodb_buffer_pool_read_requests": "innodb_page_requests_total",
    "Innodb_buffer_pool_reads": "innodb_page_reads_total",
    "Innodb_buffer_pool_wait_free": "innodb_free_page_waits_total",
    "Innodb_buffer_pool_pages_dirty": "innodb_dirty_pages",
    "Innodb_buffer_pool_pages_total": "innodb_pages",
    "Innodb_buffer_pool_pages_flushed": "innodb_pages_flushed_total",
    "Innodb_checkpoint_age": "innodb_checkpoint_age_bytes",
    "Innodb_checkpoint_max_age": "innodb_checkpoint_max_age_bytes",
    "Innodb_history_list_length": "innodb_history_list_length",
    "Innodb_log_waits": "innodb_log_waits_total",
    "Innodb_log_writes": "innodb_log_writes_total",
    "Innodb_os_log_fsyncs": "innodb_log_flushes_total",
    "Innodb_os_log_written": "innodb_log_written_bytes_total",
    "Innodb_data_fsyncs": "innodb_flushes_total",
    "Innodb_data_pending_fsyncs": "innodb_flushes_pending",
    "Innodb_data_pending_reads": "innodb_reads_pending",
    "Innodb_data_read": "innodb_read_bytes_total",
    "Innodb_data_written": "innodb_written_bytes_total",
    "Innodb_deadlocks": "innodb_deadlocks_total",
    "Innodb_row_lock_current_waits": "innodb_row_lock_waiting",
    "Innodb_row_lock_waits": "innodb_row_lock_waits_total",
    "Innodb_row_lock_time": ("innodb_row_lock_s_total", 1e-3),
    "Innodb_rows_read": "innodb_rows_read_total",
    "Innodb_rows_updated": "innodb_rows_updated_total",
    "Rocksdb_stall_micros": ("rocksdb_write_stall_s_total", 1e-6),
}
QUERY_CACHE: Names = {
    "Qcache_hits": "query_cache_hits_total",
    "Qcache_inserts": "query_cache_inserts_total",
    "Qcache_lowmem_prunes": "query_cache_prunes_total",
    "Qcache_queries_in_cache": "query_cache_results",
    "Qcache_free_memory": "query_cache_free_bytes",
    "Qcache_free_blocks": "query_cache_free_blocks",
    "Qcache_total_blocks": "query_cache_blocks",
}
"""Figures of a server that was started with a query cache. Many free blocks for its free bytes are fragments."""
METRICS = {
    "trx_rseg_history_len": "innodb_history_list_length",
    "log_lsn_checkpoint_age": "innodb_checkpoint_age_bytes",
    "log_max_modified_age_sync": "innodb_checkpoint_max_age_bytes",
}
SEMAPHORES = {
    "innodb_rwlock_s_os_waits": "innodb_semaphore_shared_waits_total",
    "innodb_rwlock_x_os_waits": "innodb_semaphore_exclusive_waits_total",
    "innodb_rwlock_sx_os_waits": "innodb_semaphore_shared_exclusive_waits_total",
}
"""Both are read from it if the status lacks them; but MariaDB has counted no semaphore waits since 10.6."""
POOL: Names = {"pool_queue": "request_tasks_pending", "pool_active": "request_tasks_active"}
"""Figures of the thread pool of MariaDB, if connections have no thread each."""
_IS_POOL = "SHOW GLOBAL VARIABLES WHERE Variable_name = 'thread_handling' AND Value = 'pool-of-threads'"
_POOL = (
    "SELECT 'pool_queue', SUM(QUEUE_LENGTH) FROM information_schema.THREAD_POOL_GROUPS UNION ALL "
    "SELECT 'pool_active', SUM(ACTIVE_THREADS) FROM information_schema.THREAD_POOL_GROUPS"
)
_HISTORY = re.compile(r"^History list length (\d+)", re.MULTILINE)
"""In the text that InnoDB writes about itself: MySQL up to 5.5 has it only there."""
MOST_LISTED = 256
"""Connections that are listed one by one; more are counted by the server. Counting costs it a temporary table on disk,
0.6 to 0.8 ms, and a list a quarter of that, but each row costs dbdyno up to 2 µs to read (benches/README.md)."""
_COUNTED = (
    "SELECT COMMAND, STATE, COUNT(*) FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() GROUP BY 1, 2"
)
# The same without a lock that connections take too, and without a temporary table; empty if the schema is off.
_THREADS = (
    "SELECT PROCESSLIST_COMMAND, PROCESSLIST_STATE, COUNT(*) FROM performance_schema.threads "
    "WHERE PROCESSLIST_ID <> CONNECTION_ID() GROUP BY 1, 2"
)
_OWN_THREAD = (
    "SELECT PROCESSLIST_STATE FROM performance_schema.threads "
    "WHERE PROCESSLIST_ID = CONNECTION_ID() AND PROCESSLIST_COMMAND = 'Query'"
)
# The thread that answers: of MariaDB, and of MySQL since 5.7.
_OWN_NUMBER = (
    "SELECT TID FROM information_schema.PROCESSLIST WHERE ID = CONNECTION_ID()",
    "SELECT THREAD_OS_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()",
)
# How many wait for rows InnoDB counts. INNODB_TRX would show it too, but goes through the whole queue for each that
# waits in it: 11 ms for 256 at one row, where these take half a millisecond (benches/README.md).
_LOCKED = (
    "SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Innodb_row_lock_current_waits'",
    "SELECT COUNT FROM information_schema.INNODB_METRICS WHERE NAME = 'lock_row_lock_current_waits'",
    "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'Innodb_row_lock_current_waits'",
)
# The row locks that they wait for. MySQL has these since 8.0 in another place, where a join takes 86 ms for 256.
_ROW_LOCKS = (
    "SELECT LOCK_TYPE, LOCK_TABLE, LOCK_INDEX, COUNT(*) FROM information_schema.INNODB_TRX "
    "JOIN information_schema.INNODB_LOCKS ON trx_requested_lock_id = LOCK_ID "
    "WHERE trx_state = 'LOCK WAIT' GROUP BY 1, 2, 3",
    "SELECT LOCK_TYPE, OBJECT_NAME, INDEX_NAME, COUNT(*) FROM performance_schema.data_locks "
    "WHERE LOCK_STATUS = 'WAITING' GROUP BY 1, 2, 3",
)
LOCKS_EVERY = 3
"""One in so many looks at single locks asks InnoDB while nothing is known to wait. That takes a server 0.8 ms.
InnoDB counts all waits but those for whole tables."""
_MUTEX = "SHOW ENGINE INNODB MUTEX"
"""How often each latch was waited for, in every version of MySQL; MariaDB counts none since 10.6."""
_INSTRUMENTED = (
    "SELECT 1 FROM performance_schema.setup_instruments WHERE NAME LIKE 'wait/synch/%/innodb/%' "
    "AND NAME NOT LIKE 'wait/synch/cond/%' AND ENABLED = 'YES' AND TIMED = 'YES' LIMIT 1"
)
# Threads wait for conditions when there is nothing to do. All of them were too many columns.
_SYNCH = (
    "SELECT SUBSTRING_INDEX(EVENT_NAME, 'wait/synch/', -1), SUM_TIMER_WAIT / 1e12 "
    "FROM performance_schema.events_waits_summary_global_by_event_name WHERE SUM_TIMER_WAIT > 0 "
    "AND EVENT_NAME LIKE 'wait/synch/%' AND EVENT_NAME NOT LIKE 'wait/synch/cond/%' ORDER BY 2 DESC LIMIT 30"
)
_REFUSED = (
    "SPECIFIC_ACCESS_DENIED_ERROR",
    "ACCESS_DENIED_ERROR",
    "TABLEACCESS_DENIED_ERROR",
    "UNKNOWN_TABLE",
    "NO_SUCH_TABLE",
    "BAD_FIELD_ERROR",
)
"""Names of PyMySQL's for the errors of a question that this server, or this user, has no answer to."""


class MySQLProbe(Probe):
    """Asks on a connection that stays open."""

    def __init__(self, server: str, endpoint: Endpoint, more: Names | None = None) -> None:
        """Take where the server answers; more: what it has in its status beside `STATUS`, in the same form."""
        super().__init__(server)
        self._endpoint = endpoint
        self._connection: pymysql.Connection | None = None
        self._asking = _Asking(self)
        status = {**STATUS, **(more or {})}
        self._names: Names = {**status, **METRICS, **SEMAPHORES, **POOL}
        self._questions = [f"SHOW GLOBAL STATUS WHERE Variable_name IN ({_quoted(status)})"]
        self._counted: str | None = None
        self._locked: str | None = None
        self._waiting_for_tables = 0.0
        self._rows_waited_for: float | None = None
        self._rows_are_waited_for = True
        self._looks_at_locks = 0
        self._history_in_text = False
        self._row_locks: str | None = None
        self._latches: str | None = None

    def open(self) -> None:
        self.close()
        try:
            self._connection = connect(
                self._endpoint, autocommit=True, read_timeout=ANSWER_TIMEOUT_S, write_timeout=ANSWER_TIMEOUT_S
            )
        except (pymysql.MySQLError, OSError) as error:
            raise RunFailed(f"{self.server} does not show its figures: {error}") from None
        self._others = Connections(self._connection)
        self._see_what_is_shown()

    def _see_what_is_shown(self) -> None:
        """InnoDB's own tables are for users with the privilege PROCESS."""
        with self._asking as connection:
            self.round_trip_s = shortest_s(partial(connection.ping, reconnect=False))
        self._ask_for_metrics_too(METRICS if self._counts_no_latches() else METRICS | SEMAPHORES)
        self._history_in_text = (
            "innodb_history_list_length" not in self.counters()
            and self._if_allowed("SHOW ENGINE INNODB STATUS") is not None
        )
        if self._if_allowed(_IS_POOL) and self._if_allowed(_POOL):
            self._questions.append(_POOL)
        number = next(filter(None, map(self._if_allowed, _OWN_NUMBER)), None)
        self.answered_by = int(str(number[0][0])) if number else None
        self._counted = _THREADS if self._if_allowed(_OWN_THREAD) else None
        self._locked = next((question for question in _LOCKED if self._if_allowed(question)), None)
        self._row_locks = next((question for question in _ROW_LOCKS if self._if_allowed(question) is not None), None)
        lacking = "waits.{}.lock" if not self._locked else "locks.{}.row locks" if not self._row_locks else None
        if lacking:
            self.not_shown[lacking.format(self.server)] = "this user may not see transactions: GRANT PROCESS ON *.*"
        self._latches = _SYNCH if self._if_allowed(_INSTRUMENTED) and self._if_allowed(_SYNCH) is not None else _MUTEX
        if self._latches == _MUTEX and (self._counts_no_latches() or self._if_allowed(_MUTEX) is None):
            self._latches = None

    def _ask_for_metrics_too(self, metrics: Mapping[str, str]) -> None:
        known = self.counters().keys()
        lacking = [name for name, ours in metrics.items() if ours not in known]
        question = f"SELECT NAME, COUNT FROM information_schema.INNODB_METRICS WHERE NAME IN ({_quoted(lacking)})"
        if lacking and self._if_allowed(question) is not None:
            self._questions.append(question)

    def _counts_no_latches(self) -> bool:
        ((version,),) = self._query("SELECT VERSION()")
        number = tuple(map(int, str(version).split("-")[0].split(".")[:2]))
        return "MariaDB" in str(version) and number >= (10, 6)

    def _if_allowed(self, question: str) -> tuple[tuple[object, ...], ...] | None:
        try:
            return self._query(question)
        except _Refused:
            return None

    def _query(self, question: str) -> tuple[tuple[object, ...], ...]:
        with self._asking as connection, connection.cursor() as cursor:
            cursor.execute(question)
            rows: tuple[tuple[object, ...], ...] = cursor.fetchall()
            return rows

    def counters(self) -> dict[str, float]:
        counters: dict[str, float] = {}
        for question in self._questions:
            counters |= named({name: value for name, value in self._read(question, 2)}, self._names)
        if self._history_in_text and (match := _HISTORY.search(str(self._query("SHOW ENGINE INNODB STATUS")[0][2]))):
            counters["innodb_history_list_length"] = float(match[1])
        waited_for = counters.get("innodb_row_lock_waits_total")
        since_last = waited_for is None or waited_for != self._rows_waited_for
        self._rows_are_waited_for = since_last or counters.get("innodb_row_lock_waiting", 1.0) > 0
        self._rows_waited_for = waited_for
        return counters

    def waits(self) -> Waits:
        # It costs twice what the rest does, and InnoDB counts every wait: none that lasts is overlooked for longer than
        # from one look at the counters to the next.
        waiting = self._read(self._locked, 1)[0][0] if self._locked and self._rows_are_waited_for else 0
        # InnoDB's count leaves out those that wait for a whole table, as for its AUTO_INCREMENT; `locks` has seen them.
        rows = (*self._connections(), (LOCKED, "", float(waiting) + self._waiting_for_tables))
        return Waits(states_of_processlist(rows), locks_of_processlist(rows))

    def _read(self, question: str, count: int) -> list[list[str]]:
        """Return the first columns of every row, for less than a cursor takes."""
        with self._asking as connection:
            rows = [columns(row, count) for row in answer(connection, question, ANSWER_TIMEOUT_S)]
        return [[value.decode() for value in row] for row in rows]

    def _connections(self) -> Iterable[Sequence[object]]:
        """Return counts of the others by command and state."""
        if self._counted:
            return self._read(self._counted, 3)
        with self._asking:
            others = self._others.count(ANSWER_TIMEOUT_S)
        if sum(others.values()) > MOST_LISTED:
            self._counted = _COUNTED
        return [(*kind, count) for kind, count in others.items()]

    def locks(self) -> dict[str, float]:
        waits = self._waited_for(self._row_locks) if self._row_locks else {}
        return waits | (self._counted_latches(self._latches) if self._latches else {})

    def known_locks(self) -> dict[str, float] | None:
        self._looks_at_locks += 1
        waited_for = self._rows_are_waited_for or self._waiting_for_tables > 0
        to_be_asked = self._latches or waited_for or self._looks_at_locks % LOCKS_EVERY == 1
        return None if to_be_asked or not self._row_locks else {ALL_ROW_LOCKS: 0.0}

    def _waited_for(self, question: str) -> dict[str, float]:
        waits = {ALL_ROW_LOCKS: 0.0}
        self._waiting_for_tables = 0.0
        for kind, table, index, count in self._query(question):
            name, waiting = lock_of_row(kind, table, index), float(str(count))
            waits[name] = waits.get(name, 0.0) + waiting
            waits[ALL_ROW_LOCKS] += waiting
            self._waiting_for_tables += waiting if kind == "TABLE" else 0.0
        return waits

    def _counted_latches(self, question: str) -> dict[str, float]:
        """Many of InnoDB's latches have one name."""
        rows = self._query(question)
        unit = "_wait_s_total" if question == _SYNCH else "_waits_total"
        pairs = rows if question == _SYNCH else filter(None, (latch_of_mutex(*row[1:]) for row in rows))
        latches = {f"{ALL_LATCHES}{unit}": 0.0}
        for name, counted in pairs:
            for column in (f"{name}{unit}", f"{ALL_LATCHES}{unit}"):
                latches[column] = latches.get(column, 0.0) + float(str(counted))
        return latches

    def close(self) -> None:
        if self._connection and self._connection.open:
            self._connection.close()
        self._connection = None


class _Asking:
    """Lends the connection to ask something; raises RunFailed if there is none or no answer.

    A class, as a generator's context takes five times as long, and it is entered ten times a second.
    """

    def __init__(self, probe: MySQLProbe) -> None:
        self._probe = probe

    def __enter__(self) -> pymysql.Connection:
        if self._probe._connection is None:
            raise RunFailed(f"{self._probe.server} is not connected")
        return self._probe._connection

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, pymysql.MySQLError | OSError):
            refused = error.args and error.args[0] in {getattr(ER, name) for name in _REFUSED}
            raise (_Refused if refused else RunFailed)(
                f"{self._probe.server} does not show its figures: {error}"
            ) from None


class _Refused(RunFailed):
    """This user may not ask that."""


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
