"""Certificates that hosts know each other by."""

import ssl
import stat

import pytest

from dbdyno.errors import UserError
from dbdyno.hosts.certificates import Certificates, certificates_folder, make_certificates, peer_name


def handshake(server: ssl.SSLContext, client: ssl.SSLContext) -> tuple[ssl.SSLObject, ssl.SSLObject]:
    """Let both shake hands in memory, and return their ends; raises SSLError if one refuses."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [server.wrap_bio(to_server, to_client, server_side=True), client.wrap_bio(to_client, to_server)]
    for _ in range(10):
        for end in ends:
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
    # With TLS 1.3 the client learns only from what it reads that the server refused its certificate.
    for end in ends:
        with pytest.raises(ssl.SSLWantReadError):
            end.read()
    return ends[0], ends[1]


def contexts(server: Certificates, client: Certificates) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    return server.context(ssl.Purpose.CLIENT_AUTH), client.context(ssl.Purpose.SERVER_AUTH)


def test_hosts_of_one_authority_know_each_other_by_name(certificates):
    ends = handshake(*contexts(Certificates.of(certificates, "c1"), Certificates.of(certificates, "conductor")))
    assert [peer_name(end) for end in ends] == ["conductor", "c1"]


def test_a_host_of_another_authority_is_refused_on_both_sides(certificates, tmp_path):
    make_certificates(tmp_path, ["c1"])
    ours, others = Certificates.of(certificates, "c1"), Certificates.of(tmp_path, "c1")
    for pair in ((ours, others), (others, ours)):
        with pytest.raises(ssl.SSLError):
            handshake(*contexts(*pair))


def test_who_shows_no_certificate_is_refused(certificates):
    server = Certificates.of(certificates, "c1").context(ssl.Purpose.CLIENT_AUTH)
    client = ssl.create_default_context(cafile=str(certificates / "ca.pem"))
    client.check_hostname = False
    with pytest.raises(ssl.SSLError):
        handshake(server, client)


def test_keys_are_their_owners_alone(certificates):
    for key in certificates.rglob("*key.pem"):
        assert stat.S_IMODE(key.stat().st_mode) == 0o600


def test_a_host_is_added_to_the_same_authority(tmp_path):
    make_certificates(tmp_path, ["c1"])
    authority = (tmp_path / "ca.pem").read_bytes()
    assert make_certificates(tmp_path, ["c2"]) == [tmp_path / "c2"]
    assert (tmp_path / "c2" / "ca.pem").read_bytes() == authority


def test_a_certificate_that_is_there_is_not_replaced(tmp_path):
    make_certificates(tmp_path, ["c1"])
    with pytest.raises(UserError, match="exists already"):
        make_certificates(tmp_path, ["c1"])


def test_what_is_missing_is_said_with_the_command_that_makes_it(tmp_path):
    with pytest.raises(UserError, match="dbdyno hosts init"):
        Certificates.of(tmp_path, "c1")


def test_a_broken_certificate_is_named(certificates, tmp_path):
    make_certificates(tmp_path, ["c1"])
    (tmp_path / "c1" / "certificate.pem").write_text("nothing")
    with pytest.raises(UserError, match="no usable certificate"):
        Certificates.of(tmp_path, "c1").context(ssl.Purpose.CLIENT_AUTH)


def test_certificates_lie_with_the_users_data(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert certificates_folder() == tmp_path / "dbdyno" / "hosts"
