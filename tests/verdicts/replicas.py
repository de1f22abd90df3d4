"""Causes that are other nodes: a replica, a standby or a node of a cluster that lags behind."""

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import psutil

from dbdyno.systems.running.cgroup import Limit, limited
from helpers import wait_until

from .causes import end_with, in_background, need_group
from .sessions import connect
from .stage import CannotInject, Cause, Stage


def last_node_limited(limit: Callable[[], Limit]) -> Cause:
    """Limit the server that was started last, from the trial's begin on: a replica, or a node of a cluster."""

    def begin(stage: Stage, pids: list[int]) -> None:
        last = max(pids, key=lambda pid: psutil.Process(pid).create_time())
        stage.trial.enter_context(limited([last], limit(), stage.guard))

    def cause(stage: Stage) -> None:
        need_group(limit(), stage)
        stage.at_begin.append(lambda pids: begin(stage, pids))

    return cause


def slow_standby(stopped_s: float, period_s: float) -> Cause:
    """Have every commit of PostgreSQL wait for a standby, which is stopped for `stopped_s` of every `period_s`."""

    def cause(stage: Stage) -> None:
        receiver = _start_receiver(stage)
        with connect(stage) as connection:
            wait_until(lambda: connection.execute("SELECT count(*) FROM pg_stat_replication").fetchone() == (1,))
            connection.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            connection.execute("SELECT pg_reload_conf()")

        def stall(is_over: Callable[[float], bool]) -> None:
            while not is_over(period_s - stopped_s):
                receiver.send_signal(signal.SIGSTOP)
                is_over(stopped_s)
                receiver.send_signal(signal.SIGCONT)

        stage.at_begin.append(lambda _: in_background(stage, stall))

    return cause


def _start_receiver(stage: Stage) -> subprocess.Popen:
    """Start the standby: a program that keeps the log, and acknowledges what it has flushed."""
    program = Path(stage.server.program("postgres")[-1]).with_name("pg_receivewal")
    if not program.exists():
        raise CannotInject(f"{program} is not there")
    endpoint, folder = stage.server.endpoint, stage.stack.enter_context(stage.guard.scratch())
    argv = [program, "--synchronous", "--no-loop", "-w", "-D", folder]
    argv += ["-h", endpoint.host, "-p", str(endpoint.port), "-U", endpoint.user]
    receiver = subprocess.Popen(argv, env={**os.environ, "PGPASSWORD": endpoint.password}, stderr=subprocess.DEVNULL)
    end_with(stage, receiver)
    return receiver
