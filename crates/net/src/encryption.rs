//! The servers that a connection with TLS trusts: any server, one with a certificate of a trusted authority, or that and of the right name.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

/// The requirements on a server's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verify {
    /// Nothing: the connection is encrypted, to whoever answers.
    Nothing,
    /// A trusted authority has signed it.
    Authority,
    /// A trusted authority has signed it, for the requested host.
    Host,
}

/// How connections to one host are encrypted; shared by all of them.
#[derive(Clone)]
pub struct Encryption {
    pub(crate) config: Arc<ClientConfig>,
    pub(crate) host: ServerName<'static>,
}

impl Encryption {
    /// Trusts the authorities in the PEM file `authorities`, or those of this host if none is named.
    ///
    /// # Errors
    /// There are no authorities, or a certificate cannot be for such a host: in words for the user.
    pub fn new(verify: Verify, authorities: Option<&Path>, host: &str) -> Result<Self, String> {
        let name = ServerName::try_from(host.to_owned());
        let name = name.map_err(|_| format!("{host} cannot be a certificate's host name"))?;
        let trusted = if verify == Verify::Nothing { Vec::new() } else { trusted(authorities)? };
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(trusted.iter().cloned());
        let provider = Arc::new(ring::default_provider());
        let algorithms = provider.signature_verification_algorithms;
        let verifier = Arc::new(Verifier { verify, trusted, roots, algorithms });
        Ok(Self { config: Arc::new(client(provider, verifier)?), host: name })
    }
}

impl fmt::Debug for Encryption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encryption").field("host", &self.host).finish_non_exhaustive()
    }
}

/// Every connection makes a whole handshake: one that resumed another's would cost less than the one it resumes.
fn client(provider: Arc<CryptoProvider>, verifier: Arc<Verifier>) -> Result<ClientConfig, String> {
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| error.to_string())?.dangerous().with_custom_certificate_verifier(verifier);
    let mut config = builder.with_no_client_auth();
    config.resumption = Resumption::disabled();
    Ok(config)
}

fn trusted(authorities: Option<&Path>) -> Result<Vec<CertificateDer<'static>>, String> {
    let Some(path) = authorities else {
        let certificates = rustls_native_certs::load_native_certs().certs;
        return if certificates.is_empty() {
            Err("this host has no certificates of authorities: install ca-certificates, or name a file (tls_ca)".into())
        } else {
            Ok(certificates)
        };
    };
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match read {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        Ok(_) => Err(format!("{} holds no certificate (PEM)", path.display())),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

#[derive(Debug)]
struct Verifier {
    verify: Verify,
    trusted: Vec<CertificateDer<'static>>,
    roots: RootCertStore,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.verify == Verify::Nothing {
            return Ok(ServerCertVerified::assertion());
        }
        let parsed = ParsedCertificate::try_from(certificate)?;
        // A server's own certificate can be what is trusted. As an authority's it would be refused: that must not serve.
        if !self.trusted.contains(certificate) {
            verify_server_cert_signed_by_trust_anchor(&parsed, &self.roots, between, now, self.algorithms.all)?;
        }
        if self.verify == Verify::Host {
            verify_server_name(&parsed, host)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    /// A client that trusts anybody may get a certificate that cannot even be read: of X.509's first version.
    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self.verify {
            Verify::Nothing => Ok(HandshakeSignatureValid::assertion()),
            _ => verify_tls12_signature(message, certificate, signed, &self.algorithms),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self.verify {
            Verify::Nothing => Ok(HandshakeSignatureValid::assertion()),
            _ => verify_tls13_signature(message, certificate, signed, &self.algorithms),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(path: &str, host: &str) -> String {
        Encryption::new(Verify::Host, Some(Path::new(path)), host).unwrap_err()
    }

    #[test]
    fn what_is_no_file_of_certificates_is_named() {
        let other = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        assert!(refusal("/nowhere/ca.pem", "h").starts_with("/nowhere/ca.pem: "));
        assert_eq!(refusal(other, "h"), format!("{other} holds no certificate (PEM)"));
        assert!(refusal(other, "no host").contains("cannot be a certificate's host name"));
    }
}
