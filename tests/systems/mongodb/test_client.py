"""Single commands to a server of the MongoDB protocol: each failure has its own error."""

import pytest

from dbdyno.systems.mongodb.client import ask, connect
from dbdyno.systems.mongodb.no_answer import NoAnswer
from dbdyno.systems.running.endpoint import Endpoint


def test_who_does_not_answer_is_told_from_who_refuses():
    with pytest.raises(NoAnswer, match="refused") as caught:
        ask(Endpoint("127.0.0.1", 1), "admin", "ping", 0.2)
    assert not caught.value.refused and "Topology" not in str(caught.value)


def test_nobody_is_logged_in_without_a_user():
    with connect(Endpoint("127.0.0.1", 1), "admin", 1) as client:
        assert client.options.pool_options._credentials is None
    with connect(Endpoint("127.0.0.1", 1, None, "u", "p"), "users", 1) as client:
        assert client.options.pool_options._credentials.source == "users"


@pytest.mark.systems
def test_a_refusal_is_in_the_servers_words(started):
    server = started("ferretdb?connect=socket")
    assert ask(server.endpoint, "admin", "ping", 5)["ok"] == 1
    with pytest.raises(NoAnswer, match="no such command: 'unheard'") as caught:
        ask(server.endpoint, "admin", "unheard", 5)
    assert caught.value.refused
