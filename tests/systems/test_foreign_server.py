"""Somebody else's server is asked in a child process: its answers come through, and have an end."""

import pytest

from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.system_spec import parse_system, with_labels
from dbdyno.systems import build
from dbdyno.systems.base import Launch
from fakes import hostile
from helpers import wait_until


def attach(url):
    (spec,) = with_labels([parse_system(url)])
    return build(spec)


def test_what_a_server_shows_comes_through_the_child(started, guard, tmp_path):
    server = started("redis")
    endpoint = server.endpoint
    other = attach(f"redis://:{endpoint.password}@{endpoint.host}:{endpoint.port}/0")
    other.start(Launch(guard, tmp_path, 1, 1))
    assert other.servers()[0]["version"] == server.servers()[0]["version"]
    assert other.counters()["redis"]["total_connections_received"] > 0
    assert other.all_settings()["redis"]["maxmemory-policy"]
    (probe,) = other.probes()
    probe.open()
    assert probe.counters()["commands_total"] > 0 and probe.round_trip_s > 0
    assert probe.waits() is None
    probe.close()
    server.kill()
    with pytest.raises(RunFailed, match="does not answer"):
        other.counters()
    with pytest.raises(RunFailed, match="does not show its figures"):
        probe.open()
    other.stop()
    other.stop()


def answers_until_info(connection):
    while came := connection.recv(1 << 16):
        if b"$4\r\nINFO\r\n" in came:
            hostile.says(b"$999999999\r\n", b"A" * 65536)(connection)
        connection.sendall(b"+PONG\r\n" * came.count(b"*"))


def test_a_server_that_misbehaves_after_its_login_ends_the_child_alone(guard, tmp_path):
    with hostile.server(answers_until_info) as port:
        other = attach(f"redis://127.0.0.1:{port}")
        other.start(Launch(guard, tmp_path, 1, 1))
        with pytest.raises(RunFailed, match=r"an answer takes more than 32 MiB|the answer was not understood"):
            other.counters()
        other.stop()


def test_no_child_is_left(guard, tmp_path):
    with hostile.server(hostile.http) as port:
        other = attach(f"redis://127.0.0.1:{port}")
        with pytest.raises(UserError, match=r"127.0.0.1:\d+ answers HTTP, not Redis: check the port"):
            other.start(Launch(guard, tmp_path, 1, 1))
        child = other._child
        other.stop()
        wait_until(lambda: child._process.poll() is not None)
