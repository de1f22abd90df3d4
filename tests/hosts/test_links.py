"""The capacity of links is measured between real agents."""

import socket
import ssl

import pytest

from dbdyno.hosts import links as links_module
from dbdyno.hosts.certificates import Certificates
from dbdyno.hosts.links import Links, Rates, measure_links


@pytest.fixture
def conductor(certificates) -> ssl.SSLContext:
    return Certificates.of(certificates, "conductor").context(ssl.Purpose.SERVER_AUTH)


def test_every_path_is_measured_once_and_all_paths_together(start_agent, conductor):
    clients = [start_agent("c1").member, start_agent("c2").member]
    server = start_agent("s1", host="127.0.0.2").member
    links = Links()
    measure_links(links, clients, [server], conductor, 0.05)
    assert set(links.paths) == {("c1", "s1"), ("c2", "s1")} and set(links.together) == {"s1"}
    rates = [*links.paths.values(), *links.together.values()]
    assert all(rate.sends > 1e6 and rate.receives > 1e6 for rate in rates)
    first = dict(links.paths)
    measure_links(links, clients, [server], conductor, 0.05)
    assert links.paths == first


def test_of_a_host_that_is_gone_nothing_is_kept(start_agent, conductor):
    client, server = start_agent("c1"), start_agent("s1")
    server.process.kill()
    server.process.wait()
    links = Links()
    measure_links(links, [client.member], [server.member], conductor, 0.05)
    assert links == Links()


def test_who_does_not_know_the_word_is_not_measured():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(5)
        with socket.create_connection(listening.getsockname()) as stranger:
            stranger.sendall(b"x" * links_module.WORD_BYTES)
            assert links_module._accept(listening, "y" * links_module.WORD_BYTES) is None


def test_the_link_of_a_host_carries_the_most_that_was_seen():
    links = Links({("c1", "s1"): Rates(5.0, None), ("c1", "s2"): Rates(7.0, 3.0)}, {"s1": Rates(9.0, 4.0)})
    assert links.of_client("c1") == Rates(7.0, 3.0)
    # A client host's sending is the server host's receiving.
    assert links.of_server("s1") == Rates(sends=4.0, receives=9.0)
    assert links.of_client("c9") == Rates(None, None)
