"""Causes that other sessions on the server are: they take locks or connections, or pause all clients."""

import socket
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress

import psycopg
import pymysql
import redis

from .causes import in_background
from .stage import Cause, Stage

ANSWER_TIMEOUT_S = 5
TAKEN_EVERY_S = 0.02


def locking(lock: str, unlock: str, held_s: float, free_s: float) -> Cause:
    """Hold a lock for `held_s` of every `held_s + free_s`, by statements of its own session."""

    def begin(stage: Stage) -> None:
        def hold(is_over: Callable[[float], bool]) -> None:
            with connect(stage) as connection, connection.cursor() as cursor:
                while not is_over(free_s):
                    cursor.execute(lock)
                    is_over(held_s)
                    cursor.execute(unlock)

        in_background(stage, hold)

    return lambda stage: stage.at_begin.append(lambda _: begin(stage))


def pausing(paused_s: float, period_s: float) -> Cause:
    """Pause all clients of a Redis for `paused_s` of every `period_s`."""

    def begin(stage: Stage) -> None:
        def pause(is_over: Callable[[float], bool]) -> None:
            endpoint = stage.server.endpoint
            with redis.Redis(endpoint.host, endpoint.port, password=endpoint.password) as client:
                while not is_over(period_s):
                    client.client_pause(round(1000 * paused_s))

        in_background(stage, pause)

    return lambda stage: stage.at_begin.append(lambda _: begin(stage))


def connect(stage: Stage) -> pymysql.Connection | psycopg.Connection:
    """Connect to the server that is attached to, as its own user."""
    endpoint = stage.server.endpoint
    if stage.url.startswith("mysql:"):
        return pymysql.connect(
            host=endpoint.host,
            port=endpoint.port,
            user=endpoint.user,
            password=endpoint.password,
            database=endpoint.database,
        )
    return psycopg.connect(
        host=endpoint.host,
        port=endpoint.port,
        user=endpoint.user,
        password=endpoint.password,
        dbname=endpoint.database,
        autocommit=True,
    )


def holding(statement: str) -> Cause:
    """Hold what a statement begins until the trial ends, by its own session."""

    def begin(stage: Stage) -> None:
        connection = stage.trial.enter_context(connect(stage))
        connection.cursor().execute(statement)

    return lambda stage: stage.at_begin.append(lambda _: begin(stage))


def connecting(count: int) -> Cause:
    """Keep up to `count` connections from when all clients have theirs, each taken as soon as it is free."""

    def begin(stage: Stage) -> None:
        def take(is_over: Callable[[float], bool]) -> None:
            with ExitStack() as held:
                taken = 0
                while not is_over(TAKEN_EVERY_S):
                    # The server may be full now.
                    with suppress(psycopg.OperationalError, pymysql.MySQLError, OSError):
                        while taken < count and not is_over(0):
                            held.enter_context(closing(_accepted(stage)))
                            taken += 1

        in_background(stage, take)

    return lambda stage: stage.under_load.append(lambda: begin(stage))


def _accepted(stage: Stage) -> pymysql.Connection | psycopg.Connection | socket.socket:
    """Return a connection that the server has accepted. Raises OSError, or what the client library raises."""
    if stage.url.startswith(("mysql:", "postgresql:")):
        return connect(stage)
    endpoint = stage.server.endpoint
    with ExitStack() as unless_accepted:
        connection = socket.create_connection((endpoint.host, endpoint.port), ANSWER_TIMEOUT_S)
        unless_accepted.callback(connection.close)
        connection.sendall(b"PING\r\n")
        answer = connection.recv(64)
        if not answer or b"max number" in answer:
            raise ConnectionRefusedError(answer)
        unless_accepted.pop_all()
    return connection
