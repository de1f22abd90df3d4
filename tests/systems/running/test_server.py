"""Common to all servers: choices of words, and a driver's errors turned into ours."""

import pytest

from dbdyno.errors import RunFailed, UserError
from helpers import need, system


def test_clients_connect_by_tcp_unless_told_otherwise():
    assert not system("redis").on_socket
    assert system("redis?connect=socket").on_socket
    with pytest.raises(UserError, match="connect = 'pipe': give one of tcp, socket"):
        system("memcached?connect=pipe")


def test_before_it_starts_there_is_no_server():
    redis = system("redis")
    assert redis.server_pids() == {} and redis.death() is None and redis.data_directories() == ()
    redis.stop()


def test_a_driver_error_becomes_a_failed_run():
    redis = system("redis")
    with pytest.raises(RunFailed, match="redis: redis does not answer: gone"), redis.asking():
        raise redis.driver_errors[0]("gone")
    with pytest.raises(ZeroDivisionError), redis.asking():
        raise ZeroDivisionError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("memcached?memory=70", ["-l 127.0.0.1", "-p PORT", "-m 70", "-c 1024", "-M"]),
        ("redis?appendonly=yes", ["requirepass …", "port PORT", 'dir "DIR"', "maxclients 10000", "appendonly yes"]),
        ("mariadb", ["--no-defaults", "--datadir=DIR/data", "--port=PORT", "--max-connections=151"]),
        ("postgresql", ["-D DIR/data", "-c port=PORT", "-c max_connections=100", "initdb --locale=C"]),
    ],
)
def test_what_a_server_was_started_with_is_told_without_what_is_private(launch, text, expected):
    need(text.partition("?")[0])
    server = system(text)
    assert server.started_with() == {}
    try:
        server.start(launch)
        (settings,) = server.started_with().values()
        assert set(expected) <= set(settings)
        assert not any(
            str(server._directory.path) in setting or str(server.endpoint.port) in setting for setting in settings
        )
        assert not server.endpoint.password or server.endpoint.password not in " ".join(settings)
    finally:
        server.stop()
