//! Where a server listens.

use std::fmt;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    Tcp { host: String, port: u16 },
    Unix(PathBuf),
}

impl Address {
    /// The socket address of a TCP address; may ask the resolver and block, so it is called once, before any task runs.
    ///
    /// # Errors
    /// The name is not known.
    pub fn resolve(&self) -> io::Result<Option<SocketAddr>> {
        match self {
            Address::Unix(_) => Ok(None),
            Address::Tcp { host, port } => (host.as_str(), *port)
                .to_socket_addrs()?
                .next()
                .map(Some)
                .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("no address for {host}"))),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp { host, port } => write!(f, "{host}:{port}"),
            Address::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}
