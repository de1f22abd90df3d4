"""The pages are served on one address, and are gone afterwards."""

import socket
from urllib.parse import urlsplit

import pytest

from dbdyno.errors import UserError
from dbdyno.serve.server import serving
from serve.conftest import Site


def test_it_listens_on_the_address_and_nowhere_else(tmp_path):
    with serving(tmp_path, "127.0.0.1", 0, "/live") as address:
        parts = urlsplit(address)
        assert (parts.hostname, parts.path) == ("127.0.0.1", "/live") and len(Site(address).token) >= 32
        assert Site(address).ask(f"/live?token={Site(address).token}").status == 303
        with pytest.raises(OSError):
            socket.create_connection(("127.0.0.2", parts.port), timeout=5)
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", parts.port), timeout=5)


def test_every_server_has_a_token_of_its_own(tmp_path):
    with serving(tmp_path, "127.0.0.1", 0) as first, serving(tmp_path, "127.0.0.1", 0) as other:
        assert Site(first).token != Site(other).token
        assert Site(first).ask("/", Cookie=f"{Site(first).cookie.partition('=')[0]}={Site(other).token}").status == 403


def test_an_address_of_the_sixth_version(tmp_path):
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this host has no IPv6")
    with serving(tmp_path, "::1", 0) as address:
        site = Site(address)
        assert address.startswith("http://[::1]:") and site.read("/matrix")
        assert site.ask("/", Host="evil.example", Cookie=site.cookie).status == 400


def test_a_taken_port_is_named(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (
            pytest.raises(UserError, match=f"--port {port}: 127.0.0.1: Address already in use"),
            serving(tmp_path, "127.0.0.1", port),
        ):
            pass


@pytest.mark.parametrize(
    ("host", "says"), [("example.org", "give an address"), ("0.0.0.0", "one address"), ("203.0.113.1", "give another")]
)
def test_an_address_that_is_none_of_this_host_is_refused(tmp_path, host, says):
    with pytest.raises(UserError, match=says), serving(tmp_path, host, 0):
        pass
