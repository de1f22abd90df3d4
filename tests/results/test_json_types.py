"""A host of a trial has a part of the load, or ran the server."""

from dbdyno.results.json_types import client_host


def test_a_client_host_has_a_part_of_the_load():
    client = {"name": "c1", "role": "client", "clients": {"first": 0, "count": 4}}
    assert client_host(client) == client
    assert client_host({"name": "s1", "role": "server"}) is None


def test_a_host_of_an_earlier_version_ran_clients():
    assert client_host({"name": "c1"}) == {"name": "c1"}
