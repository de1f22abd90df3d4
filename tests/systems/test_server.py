"""What all servers share: choices of words, and a driver's errors turned into ours."""

import pytest

from dbdyno.errors import RunFailed, UserError
from helpers import system


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
