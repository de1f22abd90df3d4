"""A small certificate authority: whoever shows a certificate that it signed belongs to the run, and nobody else."""

import datetime
import os
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from dbdyno.contract import JsonObject
from dbdyno.errors import UserError
from dbdyno.experiment.hosts import CONDUCTOR

AUTHORITY, CERTIFICATE, KEY = "ca.pem", "certificate.pem", "key.pem"
AUTHORITY_KEY = "ca-key.pem"
"""Signs certificates. It stays where it was made, and no host needs it."""
AUTHORITY_NAME = "dbdyno hosts"
VALID = datetime.timedelta(days=3650)
MARGIN = datetime.timedelta(days=2)
"""Before now: the hosts' clocks may differ by hours."""


def certificates_folder() -> Path:
    """Return where certificates lie by default: `dbdyno/hosts` in the user's directory for data (XDG_DATA_HOME)."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "dbdyno" / "hosts"


@dataclass(frozen=True)
class Certificates:
    """The certificate that one host shows, and how it knows the others: three files in a folder of its name."""

    folder: Path

    @classmethod
    def of(cls, folder: Path, name: str) -> "Certificates":
        """Return those of the host `name` in what `dbdyno hosts init` wrote; raises UserError if they are not there."""
        certificates = cls(folder / name)
        for file in (certificates.authority, certificates.certificate, certificates.key):
            if not os.access(file, os.R_OK):
                raise UserError(
                    f"{file}: cannot be read; make certificates with `dbdyno hosts init`, and copy {folder / name} to "
                    f"the host {name}"
                )
        return certificates

    @property
    def authority(self) -> Path:
        """The certificate of the authority."""
        return self.folder / AUTHORITY

    @property
    def certificate(self) -> Path:
        """The host's own certificate."""
        return self.folder / CERTIFICATE

    @property
    def key(self) -> Path:
        """The host's own key."""
        return self.folder / KEY

    def context(self, purpose: ssl.Purpose) -> ssl.SSLContext:
        """Return a context in which both sides show certificates of the authority, as server or as client.

        Hosts are known by the name in their certificate, whatever their address; `peer_name` reads it.
        Raises UserError if a file is no certificate, or no key of it.
        """
        protocol = ssl.PROTOCOL_TLS_SERVER if purpose is ssl.Purpose.CLIENT_AUTH else ssl.PROTOCOL_TLS_CLIENT
        context = ssl.SSLContext(protocol)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_REQUIRED
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        try:
            context.load_verify_locations(self.authority)
            context.load_cert_chain(self.certificate, self.key)
        except (ssl.SSLError, OSError) as error:
            raise UserError(f"{self.folder}: holds no usable certificate: {error}") from None
        return context


def peer_name(connection: ssl.SSLObject) -> str | None:
    """Return the name in the certificate of the other side."""
    certificate: JsonObject = dict(connection.getpeercert() or {})
    subject = {key: value for part in certificate.get("subject", ()) for key, value in part}
    name = subject.get("commonName")
    return str(name) if name is not None else None


def hosts_in(folder: Path) -> list[str]:
    """Return the names that have a certificate in a folder that `make_certificates` wrote."""
    return sorted(file.parent.name for file in folder.glob(f"*/{CERTIFICATE}"))


def make_certificates(folder: Path, names: Sequence[str]) -> list[Path]:
    """Make the authority in `folder` if it is not there, and a folder for the conductor and each named host.

    Returns the folders that were made. Raises UserError if a host has one already, or the folder cannot be written.
    """
    wanted = [*names] if (folder / CONDUCTOR).exists() else [CONDUCTOR, *names]
    if there := [name for name in wanted if (folder / name).exists()]:
        raise UserError(f"{folder / there[0]}: exists already; remove it to make a new certificate for {there[0]}")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        authority, key = _authority(folder)
        for name in wanted:
            _make_host(folder / name, name, authority, key)
    except OSError as error:
        raise UserError(f"{error.filename or folder}: cannot be written: {error.strerror}") from None
    return [folder / name for name in wanted]


def _authority(folder: Path) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    """Return the authority in `folder`, which is made if it is not there."""
    certificate_file, key_file = folder / AUTHORITY, folder / AUTHORITY_KEY
    if key_file.exists():
        try:
            key = serialization.load_pem_private_key(key_file.read_bytes(), None)
            certificate = x509.load_pem_x509_certificate(certificate_file.read_bytes())
        except ValueError as error:
            raise UserError(f"{folder}: holds no usable authority: {error}") from None
        assert isinstance(key, ec.EllipticCurvePrivateKey), "_authority makes no other"
        return certificate, key
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = _sign(AUTHORITY_NAME, key.public_key(), AUTHORITY_NAME, key, is_authority=True)
    _write_key(key_file, key)
    certificate_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return certificate, key


def _make_host(folder: Path, name: str, authority: x509.Certificate, authority_key: ec.EllipticCurvePrivateKey) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = _sign(name, key.public_key(), AUTHORITY_NAME, authority_key, is_authority=False)
    folder.mkdir(mode=0o700)
    _write_key(folder / KEY, key)
    for file, content in ((AUTHORITY, authority), (CERTIFICATE, certificate)):
        (folder / file).write_bytes(content.public_bytes(serialization.Encoding.PEM))


def _sign(
    name: str,
    key: ec.EllipticCurvePublicKey,
    issuer: str,
    issuer_key: ec.EllipticCurvePrivateKey,
    is_authority: bool,
) -> x509.Certificate:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(_named(name))
        .issuer_name(_named(issuer))
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - MARGIN)
        .not_valid_after(now + VALID)
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
        .sign(issuer_key, hashes.SHA256())
    )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _write_key(file: Path, key: ec.EllipticCurvePrivateKey) -> None:
    """Write a key that only its owner can read, from the moment it is there."""
    content = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        out.write(content)
