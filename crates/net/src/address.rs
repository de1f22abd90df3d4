//! The address that a server listens on.

use std::fmt;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

use rustix::net::SocketAddrUnix;

const TOO_LONG: &str = "the path of a Unix socket has at most 108 bytes: shorten it with a symbolic link";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    Tcp { host: String, port: u16 },
    Unix(PathBuf),
}

impl Address {
    /// The socket address of a TCP address; may ask the resolver and block, so it is called once, before any task runs.
    ///
    /// # Errors
    /// The name is not known, or the path is none that a Unix socket can have: in words for the user.
    pub fn resolve(&self) -> io::Result<Option<SocketAddr>> {
        match self {
            Address::Unix(path) => match SocketAddrUnix::new(path) {
                Ok(_) => Ok(None),
                Err(_) => Err(io::Error::new(io::ErrorKind::InvalidInput, TOO_LONG)),
            },
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_no_socket_can_have_is_refused() {
        let resolve = |size_bytes| Address::Unix("/".repeat(size_bytes).into()).resolve();
        assert_eq!(resolve(108).unwrap(), None);
        assert!(resolve(109).unwrap_err().to_string().contains("at most 108 bytes"));
    }
}
