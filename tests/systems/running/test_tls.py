"""TLS: what is requested, whom it trusts, and real servers of every protocol that has it."""

import ssl
from dataclasses import replace

import pytest

from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import parse_system
from dbdyno.systems.running.process import PrivateDirectory
from dbdyno.systems.running.tls import Tls, attached_tls, hint, in_our_words, make_certificate
from helpers import need, system
from systems.load import execute

SCHEMES = {"mariadb": "mysql", "postgresql": "postgresql", "redis": "redis"}


def asked(text):
    return attached_tls(in_our_words(parse_system(text)))


@pytest.fixture
def other_authority(launch):
    """A certificate that signed no server's."""
    directory = PrivateDirectory(launch)
    yield make_certificate(directory)[0]
    directory.remove()


def test_what_a_url_asks_for(other_authority):
    assert asked("mysql://h/d") is asked("mysql://h/d?tls=off") is asked("postgresql://h/d?sslmode=disable") is None
    assert asked("mysql://h/d?tls=required") == asked("postgresql://h/d?sslmode=require") == Tls("nothing")
    assert asked("redis://h/0?tls=verify") == asked("postgresql://h/d?sslmode=verify-full") == Tls("host")
    for url in ("rediss://h/0", "rediss://h/0?tls=verify"):
        assert system(url).endpoint.tls == Tls("host")
    assert system("rediss://h/0?tls=required").endpoint.tls == Tls("nothing")
    ours = asked(f"mysql://h/d?tls=verify-ca&tls_ca={other_authority}")
    assert ours == asked(f"postgresql://h/d?sslmode=verify-ca&sslrootcert={other_authority}")
    assert ours.plan() == {"verify": "authority", "ca": other_authority}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mysql://h/d?tls=on", "tls = 'on': give one of off, required, verify-ca, verify"),
        ("postgresql://h/d?sslmode=prefer", "sslmode = 'prefer': give one of disable, require"),
        ("mysql://h/d?tls=required&tls_ca=/ca.pem", "checks no certificate: leave tls_ca out"),
        ("mysql://h/d?tls=verify&tls_ca=/no/ca.pem", "tls_ca = '/no/ca.pem': .*No such file"),
        ("mysql://h/d?tls=verify&socket=/s", "TLS is for TCP"),
        ("rediss://h/0?tls=off", "rediss:// is Redis over TLS"),
        ("rediss://h/0?socket=/s", "TLS is for TCP"),
        ("mariadb?tls=verify", "tls = 'verify': give one of off, on"),
        ("redis?tls=on&connect=socket", "TLS is for TCP: leave 'tls' or 'connect' out"),
        ("handlersocket?tls=on", "handlersocket is not driven over TLS"),
        ("tidb?tls=on", "tidb is not driven over TLS"),
        ("ferretdb?tls=on", "neither its port nor its backend"),
        ("mysql@5.7?tls=on", "its TLS is older than 1.2"),
    ],
)
def test_what_cannot_be_is_refused(text, said):
    with pytest.raises(UserError, match=said):
        system(text)


def test_the_same_is_said_to_every_driver(other_authority):
    anybody, signed, named = Tls("nothing"), Tls("authority", other_authority), Tls("host", other_authority)
    assert [tls.context().verify_mode for tls in (anybody, signed)] == [ssl.CERT_NONE, ssl.CERT_REQUIRED]
    assert [tls.context().check_hostname for tls in (anybody, signed, named)] == [False, False, True]
    assert [tls.libpq()["sslmode"] for tls in (anybody, signed, named)] == ["require", "verify-ca", "verify-full"]
    assert [tls.redis()["ssl_cert_reqs"] for tls in (anybody, signed)] == ["none", "required"]
    assert [tls.redis()["ssl_check_hostname"] for tls in (signed, named)] == [False, True]
    assert named.libpq()["sslrootcert"] == named.redis()["ssl_ca_certs"] == other_authority
    assert Tls("host").context().get_ca_certs() or not ssl.get_default_verify_paths().cafile


@pytest.mark.parametrize(
    ("message", "todo"),
    [
        ("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate", "tls_ca"),
        ("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: Hostname mismatch, …", "tls=verify-ca"),
        ('server certificate for "a" does not match host name "b"', "tls=verify-ca"),
        ("SSL is required but the server doesn't support it", "has no TLS"),
        ("server does not support SSL, but SSL was required", "has no TLS"),
        ("[SSL: UNSUPPORTED_PROTOCOL] unsupported protocol", "older than 1.2"),
        ("Connections using insecure transport are prohibited", "tls=required"),
        ('no pg_hba.conf entry for host "h", user "u", database "d", no encryption', "tls=required"),
    ],
)
def test_what_drivers_say_of_tls_comes_with_what_to_do(message, todo):
    assert todo in hint(message)
    assert hint("Access denied for user 'u'") is None


def test_a_private_servers_key_is_for_it_alone(launch):
    directory = PrivateDirectory(launch)
    try:
        certificate, key, tls = make_certificate(directory)
        assert (directory.path / "tls.key").stat().st_mode & 0o077 == 0 and str(directory.path / "tls.key") == key
        assert tls == Tls("host", certificate) and len(tls.context().get_ca_certs()) <= 1
    finally:
        directory.remove()


def attached(server, tls):
    endpoint, scheme = server.endpoint, SCHEMES[server.name]
    return system(
        f"{scheme}://{endpoint.user or ''}:{endpoint.password}@localhost:{endpoint.port}/{endpoint.database}?{tls}"
    )


@pytest.mark.parametrize("name", SCHEMES)
def test_who_is_not_trusted_is_not_spoken_to_and_who_is_is(name, started, launch, other_authority):
    server = started(f"{name}?tls=on")
    for tls in ("tls=required", f"tls=verify&tls_ca={server.endpoint.tls.ca}"):
        trusting = attached(server, tls)
        trusting.start(launch)
        (total,) = execute(trusting, "point-get", ["prepare", "load", "run"]).of("total")
        assert total["reads_verified"] > 0 and total["transactions"]["failed"] == total["mismatches"] == 0
    for tls in ("tls=verify", f"tls=verify&tls_ca={other_authority}"):
        doubting = attached(server, tls)
        with pytest.raises(UserError, match="name its authority's file"):
            doubting.start(launch)
        (last,) = execute(doubting, "point-get", ["run"]).of("end")
        assert (
            last["status"] == "failed" and "tls_ca" in last["reason"] and server.endpoint.password not in last["reason"]
        )


@pytest.mark.parametrize("name", ["mariadb", "postgresql"])
def test_a_server_without_tls_is_said_at_once(name, started, launch):
    asking = attached(started(name), "tls=required")
    with pytest.raises(UserError, match="it has no TLS: give it a certificate, or leave 'tls' out"):
        asking.start(launch)
    (last,) = execute(asking, "point-get", ["run"]).of("end")
    assert "the server has no TLS: give it a certificate" in last["reason"]


@pytest.mark.parametrize(("name", "setting"), [("mariadb", "require_secure_transport=on"), ("redis", "hz=10")])
def test_who_insists_on_tls_is_not_spoken_to_without(name, setting, started, launch):
    asking = attached(started(f"{name}?tls=on&{setting}"), "")
    with pytest.raises(UserError, match="tls=required"):
        asking.start(launch)
    assert execute(asking, "point-get", ["run"]).of("end")[0]["status"] == "failed"


def test_what_observes_a_server_is_encrypted_too_and_the_settings_say_so(started):
    for name in SCHEMES:
        need(name)
        server = started(f"{name}?tls=on")
        assert server.servers()[0]["effective_settings"]["tls"].startswith(("TLSv1.", "on"))
        (probe,) = server.probes()
        probe.open()
        assert probe.counters()
        probe.close()
        assert (
            replace(server.endpoint, tls=None).encryption() is None and server.libraries_for(server.spec.settings) == ()
        )
