//! What the network stores share: opening a connection, sending a request, reading until its answer is whole.

use std::io;
use std::net::SocketAddr;
use std::rc::Rc;

use dbdyno_model::Failure;
use dbdyno_net::{Address, Connection, Reactor};
use dbdyno_wire::Decoded;

/// Where a server is, asked of the resolver once.
#[derive(Clone, Debug)]
pub struct Endpoint {
    pub address: Address,
    resolved: Option<SocketAddr>,
    pub timeout_ns: u64,
}

impl Endpoint {
    /// # Errors
    /// The host's name is not known: in words for the user.
    pub fn new(address: Address, timeout_ns: u64) -> Result<Self, String> {
        let resolved = address.resolve().map_err(|error| format!("{address}: {error}"))?;
        Ok(Self { address, resolved, timeout_ns })
    }

    pub async fn connect(&self, reactor: &Rc<Reactor>) -> Result<Exchange, Failure> {
        let connection = Connection::connect(reactor, &self.address, self.resolved, self.timeout_ns).await;
        let connection = connection.map_err(|error| Failure::Connect(format!("{}: {error}", self.address)))?;
        Ok(Exchange { connection, request: Vec::with_capacity(512), answered: 0, timeout_ns: self.timeout_ns })
    }
}

/// Requests and answers on one connection. The answer's bytes stay where they are until the next request.
pub struct Exchange {
    connection: Connection,
    pub request: Vec<u8>,
    answered: usize,
    timeout_ns: u64,
}

impl Exchange {
    /// Forgets the last answer and empties `request`, to be filled.
    #[inline]
    pub fn begin(&mut self) -> &mut Vec<u8> {
        self.connection.discard(self.answered);
        self.answered = 0;
        self.request.clear();
        &mut self.request
    }

    /// Sends the request and reads until `decode` understands the answer; its offsets count from the beginning of [`Exchange::bytes`].
    #[inline]
    pub async fn ask<T>(&mut self, decode: impl FnMut(&[u8]) -> Decoded<(T, usize)>) -> Result<T, Failure> {
        if !self.connection.unread().is_empty() {
            return Err(self.unasked());
        }
        self.connection.send(&self.request).await.map_err(|error| self.lost(&error))?;
        self.read(decode).await
    }

    /// Reads until `decode` understands one more answer.
    #[inline]
    pub async fn read<T>(&mut self, mut decode: impl FnMut(&[u8]) -> Decoded<(T, usize)>) -> Result<T, Failure> {
        loop {
            self.connection.fill().await.map_err(|error| self.lost(&error))?;
            match decode(self.connection.unread()) {
                Ok(Some((message, end))) => {
                    self.answered = end;
                    return Ok(message);
                }
                Ok(None) => {}
                Err(malformed) => return Err(Failure::Protocol(malformed.0)),
            }
        }
    }

    /// Like [`Exchange::read`], for answers that may already be there, and forgets each once decoded.
    pub async fn next<T>(&mut self, mut decode: impl FnMut(&[u8]) -> Decoded<(T, usize)>) -> Result<T, Failure> {
        match decode(self.connection.unread()) {
            Ok(Some((message, end))) => {
                self.connection.discard(end);
                Ok(message)
            }
            Ok(None) => {
                let message = self.read(decode).await?;
                self.connection.discard(self.answered);
                self.answered = 0;
                Ok(message)
            }
            Err(malformed) => Err(Failure::Protocol(malformed.0)),
        }
    }

    /// Sends the request and does not wait.
    pub async fn send(&mut self) -> Result<(), Failure> {
        self.connection.send(&self.request).await.map_err(|error| self.lost(&error))
    }

    /// Waits for answers at least this long from now on: what is asked is no single operation.
    pub fn be_patient(&mut self, timeout_ns: u64) {
        self.timeout_ns = self.timeout_ns.max(timeout_ns);
        self.connection.wait_at_most(self.timeout_ns);
    }

    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.connection.unread()
    }

    #[cold]
    fn unasked(&self) -> Failure {
        let bytes = self.connection.unread();
        Failure::Protocol(format!("{} bytes that nothing asked for: {}", bytes.len(), shown(bytes)))
    }

    #[cold]
    fn lost(&self, error: &io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::TimedOut => Failure::Timeout(format!("no answer within {} s", self.timeout_ns as f64 / 1e9)),
            io::ErrorKind::InvalidData => Failure::Protocol(error.to_string()),
            io::ErrorKind::UnexpectedEof => Failure::Connection("the server closed the connection".into()),
            _ => Failure::Connection(error.to_string()),
        }
    }
}

/// The first bytes of a message, printable.
pub fn shown(bytes: &[u8]) -> String {
    format!("\"{}\"", bytes[..bytes.len().min(60)].escape_ascii())
}
