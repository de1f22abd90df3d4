//! Parts of a plan that all network stores share: addresses, secrets, TLS.

use std::path::PathBuf;

use dbdyno_net::{Address, Verify};
use serde::Deserialize;

/// A password's place among the secrets.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Secret {
    pub secret: usize,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(untagged)]
pub enum AddressConfig {
    Tcp { host: String, port: u16 },
    Unix { unix: PathBuf },
}

impl From<AddressConfig> for Address {
    fn from(config: AddressConfig) -> Self {
        match config {
            AddressConfig::Tcp { host, port } => Address::Tcp { host, port },
            AddressConfig::Unix { unix } => Address::Unix(unix),
        }
    }
}

/// How a server's certificate is checked (`dbdyno_net::Verify`).
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum TlsVerify {
    Nothing,
    Authority,
    Host,
}

impl From<TlsVerify> for Verify {
    fn from(config: TlsVerify) -> Self {
        match config {
            TlsVerify::Nothing => Verify::Nothing,
            TlsVerify::Authority => Verify::Authority,
            TlsVerify::Host => Verify::Host,
        }
    }
}

/// The encryption of connections, and whom they trust.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct TlsConfig {
    pub verify: TlsVerify,
    /// A PEM file of authorities; `None`: this host's.
    pub ca: Option<PathBuf>,
}
