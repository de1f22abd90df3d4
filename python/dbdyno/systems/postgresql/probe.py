"""Counters and waits of a PostgreSQL server: its statistics views, and what its backends wait for.

Backends report what they counted when they are idle for a second or end, so counters come in steps under load; waits
are of the moment.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dbdyno.errors import RunFailed
from dbdyno.later import LaterModule
from dbdyno.systems.answers import Answer
from dbdyno.systems.postgresql import block_io as postgresql_io
from dbdyno.systems.probe import ANSWER_TIMEOUT_S, Probe, Waits, named, shortest_s
from dbdyno.systems.running.endpoint import CONNECT_TIMEOUT_S, Endpoint
from dbdyno.systems.wait_events import locks_of_activity, states_of_activity

if TYPE_CHECKING:
    import psycopg
else:
    psycopg = LaterModule("psycopg")

STATISTICS = {
    "pg_stat_database": {
        "numbackends": "connections",
        "xact_commit": "commits_total",
        "xact_rollback": "rollbacks_total",
        "blks_read": "page_reads_total",
        "blks_hit": "page_hits_total",
        "tup_fetched": "rows_fetched_total",
        "tup_inserted": "rows_inserted_total",
        "tup_updated": "rows_updated_total",
        "deadlocks": "deadlocks_total",
        "temp_bytes": "temporary_bytes_total",
    },
    "pg_stat_wal": {
        "wal_records": "wal_records_total",
        "wal_fpi": "wal_page_images_total",
        "wal_bytes": "wal_bytes_total",
        "wal_buffers_full": "wal_buffers_full_total",
        "wal_sync": "wal_flushes_total",
    },
    "pg_stat_user_tables": {"n_dead_tup": "dead_rows"},
    "pg_stat_bgwriter": {
        "checkpoints_timed": "checkpoints_timed_total",
        "checkpoints_req": "checkpoints_requested_total",
        "buffers_checkpoint": "checkpoint_pages_total",
        "buffers_backend": "backend_pages_total",
    },
    "pg_stat_checkpointer": {
        "num_timed": "checkpoints_timed_total",
        "num_requested": "checkpoints_requested_total",
        "buffers_written": "checkpoint_pages_total",
    },
}
"""Names by the view that has them; version 14 brought the view of the write-ahead log, 17 that of the checkpointer."""
_HAS_STANDBYS = "SELECT count(*) > 0 AS has_any FROM pg_stat_replication"
_IN_RECOVERY = "SELECT pg_is_in_recovery() AS is_standby"
_OF_STANDBY = (
    "SELECT pg_last_wal_receive_lsn() - '0/0'::pg_lsn AS wal_received_bytes_total, "
    "pg_last_wal_replay_lsn() - '0/0'::pg_lsn AS wal_replayed_bytes_total, "
    "(SELECT count(*) FROM pg_stat_wal_receiver WHERE status = 'streaming') AS wal_receivers_streaming"
)
_OF_PRIMARY = (
    "SELECT count(*) AS standbys, count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')) AS synchronous_standbys, "
    "max(pg_current_wal_lsn() - sent_lsn) AS standby_unsent_bytes, "
    "max(pg_current_wal_lsn() - flush_lsn) AS standby_unflushed_bytes, "
    "max(pg_current_wal_lsn() - replay_lsn) AS standby_unreplayed_bytes FROM pg_stat_replication"
)
"""The log that standbys have: asked of one of them, and of their primary, where the worst of them counts."""
# pg_stat_activity would take twice as long, as it makes a whole row of each backend. Background processes belong to no
# database or have no client's port; nor have the backends of others, to whom may not see them.
_WAITS = (
    b"SELECT pg_stat_get_backend_wait_event_type(id), pg_stat_get_backend_wait_event(id), count(*) "
    b"FROM pg_stat_get_backend_idset() AS id WHERE pg_stat_get_backend_dbid(id) <> 0 "
    b"AND pg_stat_get_backend_client_port(id) IS NOT NULL AND pg_stat_get_backend_pid(id) <> pg_backend_pid() "
    b"GROUP BY 1, 2"
)
_PREPARED = b"dbdyno_waits"


def connect(endpoint: Endpoint, options: str = "") -> psycopg.Connection[Answer]:
    """Return a connection with a transaction for each statement; raises psycopg.OperationalError.

    options: settings for it, as the server's command line has them. It has TLS where the endpoint has, and else none is
    tried, so that a server that insists on it refuses dbdyno as it will refuse the load client.
    """
    host, port = endpoint.host, endpoint.port
    if endpoint.socket:
        # libpq takes a socket as its directory and the port that its name ends in.
        host, port = str(Path(endpoint.socket).parent), int(endpoint.socket.rpartition(".")[2])
    encryption: Answer = dict(endpoint.tls.libpq()) if endpoint.tls else {"sslmode": "disable"}
    return psycopg.connect(
        host=host,
        port=port,
        user=endpoint.user or "postgres",
        password=endpoint.password,
        dbname=endpoint.database,
        connect_timeout=CONNECT_TIMEOUT_S,
        options=options,
        **encryption,
        gssencmode="disable",
        autocommit=True,
        row_factory=psycopg.rows.dict_row,
    )


def existing_views(connection: psycopg.Connection[Answer], views: list[str]) -> list[str]:
    """Return those of `views` that this version of the server has."""
    rows = connection.execute("SELECT viewname FROM pg_views WHERE schemaname = 'pg_catalog'").fetchall()
    there = {row["viewname"] for row in rows}
    return [view for view in views if view in there]


def statistics(connection: psycopg.Connection[Answer], view: str) -> Answer:
    """Return the row of a statistics view that is about the server, or about this database."""
    if view == "pg_stat_user_tables":
        return connection.execute(f"SELECT sum(n_dead_tup) AS n_dead_tup FROM {view}").fetchone() or {}
    of_ours = " WHERE datname = current_database()" if view == "pg_stat_database" else ""
    return connection.execute(f"SELECT * FROM {view}{of_ours}").fetchone() or {}


def _text(cell: bytes | None) -> str | None:
    return None if cell is None else cell.decode()


class PostgreSQLProbe(Probe):
    """Asks on a connection that stays open."""

    def __init__(self, server: str, endpoint: Endpoint) -> None:
        """Take where the server answers."""
        super().__init__(server)
        self._endpoint = endpoint
        self._connection: psycopg.Connection[Answer] | None = None
        self._views: list[str] = []
        self._io_question: str | None = None
        self._replication: str | None = None

    def open(self) -> None:
        self.close()
        try:
            self._connection = connect(self._endpoint, f"-c statement_timeout={int(ANSWER_TIMEOUT_S * 1000)}")
            self._views = existing_views(self._connection, list(STATISTICS))
            self._io_question = self._ask_how_it_shows_io(self._connection)
            self._replication = self._ask_for_standbys(self._connection)
            self.answered_by = self._connection.info.backend_pid
            self.round_trip_s = shortest_s(partial(self._connection.pgconn.exec_, b""))
            self._connection.pgconn.prepare(_PREPARED, _WAITS)
        except psycopg.Error as error:
            raise self._gone(error) from None

    def _ask_how_it_shows_io(self, connection: psycopg.Connection[Answer]) -> str | None:
        if existing_views(connection, [postgresql_io.VIEW]):
            return postgresql_io.question(connection)
        self.not_shown[f"store.{self.server}.page_writers"] = f"{postgresql_io.VIEW} is there since PostgreSQL 16"
        return None

    def _ask_for_standbys(self, connection: psycopg.Connection[Answer]) -> str | None:
        """Return the question that shows replication, if it is a standby or has any."""
        if (connection.execute(_IN_RECOVERY).fetchone() or {}).get("is_standby"):
            return _OF_STANDBY
        has_any = (connection.execute(_HAS_STANDBYS).fetchone() or {}).get("has_any")
        return _OF_PRIMARY if has_any else None

    def _gone(self, error: Exception | str) -> RunFailed:
        return RunFailed(f"{self.server} does not show its figures: {' '.join(str(error).split())}")

    def _opened(self) -> psycopg.Connection[Answer]:
        if self._connection is None:
            raise self._gone("not connected")
        return self._connection

    def counters(self) -> dict[str, float]:
        counters: dict[str, float] = {}
        try:
            for view in self._views:
                counters |= named(statistics(self._opened(), view), STATISTICS[view])
            if self._replication:
                row = self._opened().execute(self._replication).fetchone() or {}
                counters |= named(row, {name: name for name in row})
            if self._io_question:
                counters |= postgresql_io.counters_of(self._opened().execute(self._io_question).fetchall())
        except psycopg.Error as error:
            raise self._gone(error) from None
        return counters

    def waits(self) -> Waits:
        # Asked ten times a second by what a cursor uses: the cursor itself costs as much again.
        try:
            answer = self._opened().pgconn.exec_prepared(_PREPARED, None)
        except psycopg.Error as error:
            raise self._gone(error) from None
        if answer.status != psycopg.pq.ExecStatus.TUPLES_OK:
            raise self._gone(answer.get_error_message())
        cells = [[answer.get_value(row, column) for column in range(3)] for row in range(answer.ntuples)]
        rows = [(_text(kind), _text(event), int(count or 0)) for kind, event, count in cells]
        return Waits(states_of_activity(rows), locks_of_activity(rows))

    def close(self) -> None:
        if self._connection:
            self._connection.close()
        self._connection = None
