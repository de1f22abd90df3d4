//! Functions of all network stores: open a connection, send a request, read until its answer is whole.

use std::io;
use std::net::SocketAddr;
use std::rc::Rc;

use dbdyno_model::Failure;
use dbdyno_net::{Address, Connection, Encryption, Reactor, now_ns};
use dbdyno_wire::{Decoded, Malformed};

use crate::connection_config::TlsConfig;

/// No login takes as many messages; a server that never ends it would keep its client.
pub const MOST_LOGIN_MESSAGES: usize = 1000;

/// A server's address, resolved once.
#[derive(Clone, Debug)]
pub struct Endpoint {
    pub address: Address,
    resolved: Option<SocketAddr>,
    pub timeout_ns: u64,
    /// `None`: nothing is encrypted.
    pub encryption: Option<Encryption>,
}

impl Endpoint {
    /// # Errors
    /// The host's name is not known: in words for the user.
    pub fn new(address: Address, timeout_ns: u64) -> Result<Self, String> {
        let resolved = address.resolve().map_err(|error| format!("{address}: {error}"))?;
        Ok(Self { address, resolved, timeout_ns, encryption: None })
    }

    /// With TLS, if the configuration asks for it.
    ///
    /// # Errors
    /// Nobody can be trusted like this: in words for the user.
    pub fn encrypted(self, tls: Option<&TlsConfig>) -> Result<Self, String> {
        let Some(tls) = tls else { return Ok(self) };
        let Address::Tcp { host, .. } = &self.address else {
            return Err(format!("{}: TLS needs TCP, and this is a Unix socket", self.address));
        };
        let encryption = Encryption::new(tls.verify.into(), tls.ca.as_deref(), host)?;
        Ok(Self { encryption: Some(encryption), ..self })
    }

    /// # Errors
    /// The server cannot be reached.
    pub async fn connect(&self, reactor: &Rc<Reactor>) -> Result<Exchange, Failure> {
        let connection = Connection::connect(reactor, &self.address, self.resolved, self.timeout_ns).await;
        let connection = connection.map_err(|error| Failure::Connect(format!("{}: {error}", self.address)))?;
        let request = Vec::with_capacity(512);
        connection.keep_near(&request);
        Ok(Exchange { connection, request, answered: 0, timeout_ns: self.timeout_ns })
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
    /// Encrypts what is sent and received from now on, if TLS was requested.
    pub async fn encrypt(&mut self, endpoint: &Endpoint) -> Result<(), Failure> {
        let Some(encryption) = &endpoint.encryption else { return Ok(()) };
        self.connection.encrypt(encryption).await.map_err(|error| match error.kind() {
            // To a server of a protocol in which clients speak first the greeting is the beginning of some command.
            io::ErrorKind::TimedOut => {
                let waited_s = self.timeout_ns as f64 / 1e9;
                Failure::Timeout(format!(
                    "no TLS handshake within {waited_s} s: use the port that has TLS, or leave 'tls' out"
                ))
            }
            _ => self.lost(&error),
        })
    }

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
        self.send().await?;
        self.read(decode).await
    }

    /// Reads until `decode` understands one more answer.
    #[inline]
    pub async fn read<T>(&mut self, mut decode: impl FnMut(&[u8]) -> Decoded<(T, usize)>) -> Result<T, Failure> {
        let mut whole_until_ns = None;
        loop {
            self.connection.fill().await.map_err(|error| self.lost(&error))?;
            match decode(self.connection.unread()) {
                Ok(Some((message, end))) => {
                    self.answered = end;
                    return Ok(message);
                }
                // Each piece in time is not enough: one byte now and then, or no end, would keep the operation for ever.
                Ok(None) if now_ns() > *whole_until_ns.get_or_insert_with(|| now_ns() + self.timeout_ns) => {
                    return Err(self.lost(&io::ErrorKind::TimedOut.into()));
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

    /// Sends the request and does not wait. All answers before it must have been read.
    #[inline]
    pub async fn send(&mut self) -> Result<(), Failure> {
        if !self.connection.unread().is_empty() {
            return Err(self.unasked());
        }
        self.send_anyway().await
    }

    /// Sends the request, whatever has come before it.
    #[inline]
    pub async fn send_anyway(&mut self) -> Result<(), Failure> {
        match self.connection.send(&self.request).await {
            Ok(()) => Ok(()),
            Err(error) => Err(self.refused_while_sending(&error).await),
        }
    }

    /// A server that takes no more of a request often says why before it closes the connection.
    #[cold]
    async fn refused_while_sending(&mut self, error: &io::Error) -> Failure {
        // Nothing may have come, and what lost the connection is then all there is to say.
        let _ = self.connection.take_arrived().await;
        self.lost(error)
    }

    /// Lets other clients run, and drops the messages that have come meanwhile; each ends where `end_of` says. For requests whose answers
    /// nobody waits for: without this, a client that sends them would never leave its thread to others.
    pub async fn forget_unasked(&mut self, end_of: impl Fn(&[u8]) -> Decoded<usize>) -> Result<(), Failure> {
        self.connection.take_arrived().await.map_err(|error| self.lost(&error))?;
        while let Some(end) = end_of(self.connection.unread()).map_err(|malformed| Failure::Protocol(malformed.0))? {
            self.connection.discard(end);
        }
        Ok(())
    }

    /// Waits for answers at least this long from now on: what is asked is no single operation.
    pub fn be_patient(&mut self, timeout_ns: u64) {
        self.timeout_ns = self.timeout_ns.max(timeout_ns);
        self.connection.wait_at_most(self.timeout_ns);
    }

    /// How long an answer may take.
    pub fn timeout_ns(&self) -> u64 {
        self.timeout_ns
    }

    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.connection.unread()
    }

    #[cold]
    fn unasked(&self) -> Failure {
        let bytes = self.connection.unread();
        Failure::Protocol(format!("{} bytes that no request expects: {}", bytes.len(), excerpt(bytes)))
    }

    #[cold]
    fn lost(&self, error: &io::Error) -> Failure {
        let begun = match self.connection.unread() {
            [] => String::new(),
            bytes => format!(": only {} bytes of an answer came, {}", bytes.len(), excerpt(bytes)),
        };
        match error.kind() {
            io::ErrorKind::TimedOut => {
                Failure::Timeout(format!("no answer within {} s{begun}", self.timeout_ns as f64 / 1e9))
            }
            io::ErrorKind::InvalidData => Failure::Protocol(format!("{error}{begun}")),
            io::ErrorKind::UnexpectedEof => Failure::Connection(format!("the server closed the connection{begun}")),
            _ => Failure::Connection(format!("{error}{begun}")),
        }
    }
}

/// The event loop of the calling thread.
pub fn event_loop(reactor: Option<&Rc<Reactor>>) -> Result<&Rc<Reactor>, Failure> {
    reactor.ok_or_else(|| Failure::Connect("a network store was opened outside an event loop".into()))
}

/// A message that is none of the protocol.
#[cold]
pub fn protocol(malformed: Malformed) -> Failure {
    Failure::Protocol(malformed.0)
}

/// The failure if TLS was requested and the server has none.
#[cold]
pub fn without_tls() -> Failure {
    Failure::Server("the server has no TLS: give it a certificate, or leave 'tls' out".into())
}

/// A login without an end.
#[cold]
pub fn endless_login() -> Failure {
    Failure::Protocol(format!("the login did not end within {MOST_LOGIN_MESSAGES} messages"))
}

/// A failure before the session was there: what the store refused or said wrongly then means that there is no connection.
#[cold]
pub fn while_logging_in(failure: Failure) -> Failure {
    let words = format!("logging in: {}", failure.message());
    match failure {
        Failure::Timeout(_) => Failure::Timeout(words),
        Failure::Connection(_) => Failure::Connection(words),
        _ => Failure::Connect(words),
    }
}

/// The first bytes of a message, printable.
pub fn excerpt(bytes: &[u8]) -> String {
    format!("\"{}\"", bytes[..bytes.len().min(60)].escape_ascii())
}
