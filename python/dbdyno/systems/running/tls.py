"""TLS between dbdyno and a server: whom it trusts, and the certificate of a server that dbdyno starts."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.later import LaterModule
from dbdyno.systems.running.process import PrivateDirectory

if TYPE_CHECKING:
    import ssl

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
else:
    ssl = LaterModule("ssl")
    x509 = LaterModule("cryptography.x509")
    hashes = LaterModule("cryptography.hazmat.primitives.hashes")
    serialization = LaterModule("cryptography.hazmat.primitives.serialization")
    ec = LaterModule("cryptography.hazmat.primitives.asymmetric.ec")

ATTACHED_SETTINGS = ("tls", "tls_ca")
LIBPQ_SETTINGS = ("sslmode", "sslrootcert")
"""The same by the names that URLs of PostgreSQL have for it."""
_VERIFY = {"required": "nothing", "verify-ca": "authority", "verify": "host"}
"""The values of `tls` for an attached server, beside `off`, each with the contract's word for it."""
_LIBPQ = {"nothing": "require", "authority": "verify-ca", "host": "verify-full"}
_SSLMODES = {"disable": "off", "require": "required", "verify-ca": "verify-ca", "verify-full": "verify"}
_HINTS = {
    "mismatch": "use a name that the certificate has, or tls=verify-ca, which does not check names",
    "does not match host name": "use a name that the certificate has, or tls=verify-ca, which does not check names",
    "certificate verify failed": "name its authority's file (tls_ca), or say tls=required, which trusts any server",
    "unsupported protocol": "its TLS is older than 1.2: leave 'tls' out",
    "alert protocol version": "its TLS is older than 1.2: leave 'tls' out",
    "doesn't support it": "it has no TLS: give it a certificate, or leave 'tls' out",
    "support ssl": "it has no TLS: give it a certificate, or leave 'tls' out",
    "wrong version number": "it has no TLS there: use the port that has, or leave 'tls' out",
    "insecure transport": "say tls=required, or tls=verify to check its certificate too",
    "no encryption": "say tls=required, or tls=verify to check its certificate too",
}
"""Messages of drivers, servers and OpenSSL about TLS, each with what a person can do about it."""
_VALID_DAYS = 30
_CERTIFICATE, _KEY = "tls.crt", "tls.key"


@dataclass(frozen=True)
class Tls:
    """How connections are encrypted.

    verify: what is asked of the server's certificate, `nothing`, that a trusted `authority` signed it, or that and that
    it is the `host`'s. ca: a PEM file of authorities; None: those the host trusts.
    """

    verify: str
    ca: str | None = None

    def plan(self) -> dict[str, str | None]:
        """Return the plan's `tls`."""
        return {"verify": self.verify, "ca": self.ca}

    def context(self) -> ssl.SSLContext:
        """Return the same for the libraries that use Python's own TLS; raises UserError if `ca` cannot be read."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = self.verify == "host"
        if self.verify == "nothing":
            context.verify_mode = ssl.CERT_NONE
            return context
        try:
            context.load_default_certs() if self.ca is None else context.load_verify_locations(self.ca)
        except (OSError, ssl.SSLError) as error:
            raise UserError(f"tls_ca = '{self.ca}': {error}") from None
        return context

    def redis(self) -> dict[str, Any]:
        """Return the same as parameters of redis-py."""
        is_checked = self.verify != "nothing"
        return {
            "ssl": True,
            "ssl_cert_reqs": "required" if is_checked else "none",
            "ssl_check_hostname": self.verify == "host",
            "ssl_ca_certs": self.ca if is_checked else None,
        }

    def libpq(self) -> dict[str, str]:
        """Return the same as parameters of a connection by libpq, which has its own file that it would read."""
        if self.verify == "nothing":
            return {"sslmode": "require", "sslrootcert": ""}
        authorities = self.ca or ssl.get_default_verify_paths().cafile or "system"
        return {"sslmode": _LIBPQ[self.verify], "sslrootcert": authorities}


def attached_tls(spec: SystemSpec) -> Tls | None:
    """Return what the URL's `tls` and `tls_ca` ask for; raises UserError if that cannot be."""
    settings = spec.settings
    asked, authorities = settings.get("tls", "off"), settings.get("tls_ca")
    if asked not in ("off", *_VERIFY):
        raise UserError(f"{spec.label}: tls = '{asked}': give one of off, {', '.join(_VERIFY)}")
    if authorities and asked in ("off", "required"):
        raise UserError(f"{spec.label}: tls={asked} checks no certificate: leave tls_ca out, or say tls=verify")
    if asked == "off":
        return None
    if spec.url and spec.url.socket:
        raise UserError(f"{spec.label}: TLS is for TCP: leave 'tls' or 'socket' out")
    tls = Tls(_VERIFY[asked], authorities)
    tls.context()
    return tls


def in_our_words(spec: SystemSpec) -> SystemSpec:
    """Return a URL of PostgreSQL with `tls` and `tls_ca` if it has `sslmode` and `sslrootcert`; raises UserError."""
    settings = {key: value for key, value in spec.settings.items() if key not in LIBPQ_SETTINGS}
    if (mode := spec.settings.get("sslmode")) is not None:
        if mode not in _SSLMODES:
            raise UserError(f"{spec.label}: sslmode = '{mode}': give one of {', '.join(_SSLMODES)}")
        settings["tls"] = _SSLMODES[mode]
    if authorities := spec.settings.get("sslrootcert"):
        settings["tls_ca"] = authorities
    return replace(spec, settings=settings)


def hint(message: str) -> str | None:
    """Return what can be done about a failure to connect, if it is one of TLS."""
    said = message.lower().replace("_", " ")
    return next((hint for words, hint in _HINTS.items() if words in said), None)


def make_certificate(directory: PrivateDirectory) -> tuple[str, str, Tls]:
    """Write the certificate and the key of a private server; return both paths, and how to trust that server alone."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, "dbdyno")])
    now = datetime.now(UTC)
    here = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    certificate = (
        x509.CertificateBuilder(issuer_name=name, subject_name=name, public_key=key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=_VALID_DAYS))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName(here), critical=False)
        .add_extension(x509.ExtendedKeyUsage([x509.oid.ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    public = directory.write(_CERTIFICATE, certificate.public_bytes(serialization.Encoding.PEM).decode())
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    secret = directory.write(_KEY, private.decode())
    return str(public), str(secret), Tls("host", str(public))
