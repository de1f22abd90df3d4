"""Standbys of PostgreSQL beside their primary."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dbdyno.errors import RunFailed
from dbdyno.later import LaterModule
from dbdyno.systems.answers import Answer
from dbdyno.systems.follower import Follower, Questions
from dbdyno.systems.postgresql.probe import connect
from dbdyno.systems.probe import ANSWER_TIMEOUT_S
from dbdyno.systems.running.endpoint import Endpoint

if TYPE_CHECKING:
    import psycopg
else:
    psycopg = LaterModule("psycopg")

# The position up to which the log is flushed may be within a record, which no standby replays before the next flush.
# So a small message is committed: all that was committed before it is replayed when it is.
QUESTIONS = Questions(
    "SELECT pg_logical_emit_message(true, 'dbdyno', '')::text AS value",
    "SELECT pg_last_wal_replay_lsn() >= '{}'::pg_lsn AS value",
)


class PostgreSQLFollower(Follower):
    """A streaming standby."""

    @contextmanager
    def _connect(self, endpoint: Endpoint) -> Iterator[psycopg.Connection[Answer]]:
        try:
            with connect(endpoint, f"-c statement_timeout={int(ANSWER_TIMEOUT_S * 1000)}") as connection:
                yield connection
        except psycopg.Error as error:
            raise RunFailed(f"the lag of {self.name} is not known: {' '.join(str(error).split())}") from None

    def _answer(self, connection: psycopg.Connection[Answer], question: str) -> Any:
        row = connection.execute(question).fetchone()
        return row["value"] if row else None
