"""Other programs at a server's port are recognised by their first bytes, within a few seconds."""

import pytest

from dbdyno.systems.running.endpoint import Endpoint
from dbdyno.systems.running.greeting import PROTOCOLS, came_instead
from dbdyno.systems.running.tls import Tls
from fakes import hostile


def greeting_error(behaviour, name, **more):
    with hostile.server(behaviour) as port:
        return came_instead(Endpoint("127.0.0.1", port, **more), name)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_other_servers_are_named(name):
    assert greeting_error(hostile.http, name) == f"answers HTTP, not {name}: check the port"
    assert greeting_error(hostile.ssh, name) == f"answers SSH, not {name}: check the port"
    assert greeting_error(hostile.silent, name).startswith("accepts the connection and sends nothing")
    assert greeting_error(hostile.closes, name).startswith("closes the connection without speaking")
    assert greeting_error(hostile.says(b"\x03\x02\x01?"), name) == (
        f"does not speak {name}, its answer begins with b'\\x03\\x02\\x01?': check the port"
    )


def test_a_greeting_that_trickles_is_said_to_be_slow():
    slow = hostile.trickles(hostile.mysql_packet(hostile.GREETING, 0), 0.9)
    assert greeting_error(slow, "MySQL").startswith("has sent no more than b'Y")
    assert greeting_error(slow, "MySQL").endswith("it is very slow, or no server of MySQL: check the port")


@pytest.mark.parametrize("name", ["PostgreSQL", "Redis", "memcached", "MongoDB", "CQL"])
def test_a_server_of_another_protocol_is_named(name):
    assert greeting_error(hostile.says(hostile.mysql_packet(hostile.GREETING, 0)), name).startswith(
        "answers MySQL, not "
    )


def test_tls_where_it_was_not_asked_for_is_said():
    alert = hostile.says(b"\x15\x03\x03\0\x02\x02\x46", at_once=False)
    assert "ask for TLS (tls=required)" in greeting_error(alert, "Redis")
    assert greeting_error(alert, "Redis", tls=Tls("nothing")) is None


@pytest.mark.parametrize(
    ("product", "name"),
    [("mariadb", "MySQL"), ("postgresql", "PostgreSQL"), ("redis", "Redis"), ("memcached", "memcached")],
)
def test_a_server_of_the_protocol_is_known(product, name, started):
    assert came_instead(started(product).endpoint, name) is None


def test_nobody_is_another_thing():
    with pytest.raises(ConnectionRefusedError):
        came_instead(Endpoint("127.0.0.1", 1), "Redis")
