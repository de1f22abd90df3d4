//! TLS between a socket's bytes and those that are parsed: it is given what came and gives what is to be sent, and does no I/O.

use std::io;

use rustls::client::UnbufferedClientConnection;
use rustls::unbuffered::{ConnectionState, EncodeError, EncryptError, InsufficientSizeError, UnbufferedStatus};
use rustls::{AlertDescription, CertificateError, Error};

use crate::Encryption;

const FIRST_BUFFER_SIZE_BYTES: usize = 4096;

/// One connection's TLS. By itself it allocates nothing per message; rustls does, a buffer for each record.
pub(crate) struct Session {
    tls: UnbufferedClientConnection,
    /// Bytes that came and are no whole record yet.
    pub incoming: Vec<u8>,
    outgoing: Outgoing,
    is_handshaking: bool,
}

/// The bytes to send: the first `filled`. The buffer never shrinks, so that it is cleared once and not for each message.
#[derive(Default)]
pub(crate) struct Outgoing {
    bytes: Vec<u8>,
    filled: usize,
}

impl Session {
    pub fn new(encryption: &Encryption) -> io::Result<Self> {
        let tls =
            UnbufferedClientConnection::new(encryption.config.clone(), encryption.host.clone()).map_err(worded)?;
        Ok(Self { tls, incoming: Vec::new(), outgoing: Outgoing::default(), is_handshaking: true })
    }

    pub fn is_handshaking(&self) -> bool {
        self.is_handshaking
    }

    /// Room for what comes next.
    pub fn make_room(&mut self) -> &mut Vec<u8> {
        if self.incoming.len() == self.incoming.capacity() {
            self.incoming.reserve(self.incoming.capacity().max(FIRST_BUFFER_SIZE_BYTES));
        }
        &mut self.incoming
    }

    /// Appends what the whole records that came hold to `plain`.
    pub fn open(&mut self, plain: &mut Vec<u8>) -> io::Result<()> {
        let mut taken = 0;
        loop {
            let UnbufferedStatus { discard, state, .. } = self.tls.process_tls_records(&mut self.incoming[taken..]);
            match state.map_err(worded)? {
                ConnectionState::ReadTraffic(mut traffic) => {
                    while let Some(record) = traffic.next_record() {
                        plain.extend_from_slice(record.map_err(worded)?.payload);
                    }
                }
                ConnectionState::EncodeTlsData(mut data) => self.outgoing.append(|room| Ok(data.encode(room)?))?,
                // It is among the outgoing, which are sent before anything is waited for.
                ConnectionState::TransmitTlsData(sent) => sent.done(),
                state => {
                    self.is_handshaking &= matches!(state, ConnectionState::BlockedHandshake);
                    taken += discard;
                    break;
                }
            }
            taken += discard;
        }
        self.incoming.drain(..taken);
        Ok(())
    }

    /// Appends `bytes` to the outgoing, encrypted.
    pub fn seal(&mut self, bytes: &[u8]) -> io::Result<()> {
        loop {
            let UnbufferedStatus { state, .. } = self.tls.process_tls_records(&mut self.incoming);
            match state.map_err(worded)? {
                ConnectionState::WriteTraffic(mut traffic) => {
                    return self.outgoing.append(|room| Ok(traffic.encrypt(bytes, room)?));
                }
                ConnectionState::EncodeTlsData(mut data) => self.outgoing.append(|room| Ok(data.encode(room)?))?,
                ConnectionState::TransmitTlsData(sent) => sent.done(),
                _ => return Err(io::ErrorKind::NotConnected.into()),
            }
        }
    }

    /// The outgoing, to be sent and given back.
    pub fn take_outgoing(&mut self) -> Outgoing {
        std::mem::take(&mut self.outgoing)
    }

    pub fn give_back(&mut self, sent: Outgoing) {
        self.outgoing = Outgoing { filled: 0, ..sent };
    }
}

impl Outgoing {
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.filled]
    }

    /// Has `write` append, with as much room as it says that it needs.
    fn append(&mut self, mut write: impl FnMut(&mut [u8]) -> Result<usize, Unwritten>) -> io::Result<()> {
        loop {
            match write(&mut self.bytes[self.filled..]) {
                Ok(written) => {
                    self.filled += written;
                    return Ok(());
                }
                Err(Unwritten::Needs(size_bytes)) => self.bytes.resize(self.filled + size_bytes, 0),
                Err(Unwritten::Failed(why)) => return Err(io::Error::other(why)),
            }
        }
    }
}

/// Why rustls wrote nothing.
enum Unwritten {
    Needs(usize),
    Failed(String),
}

impl From<EncodeError> for Unwritten {
    fn from(error: EncodeError) -> Self {
        match error {
            EncodeError::InsufficientSize(InsufficientSizeError { required_size }) => Self::Needs(required_size),
            other => Self::Failed(other.to_string()),
        }
    }
}

impl From<EncryptError> for Unwritten {
    fn from(error: EncryptError) -> Self {
        match error {
            EncryptError::InsufficientSize(InsufficientSizeError { required_size }) => Self::Needs(required_size),
            other => Self::Failed(other.to_string()),
        }
    }
}

/// Words an error of TLS as a sentence that names the remedy, if there is one.
#[cold]
fn worded(error: Error) -> io::Error {
    let words = match &error {
        // The latter if a trusted authority has the name of the one that signed it.
        Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature) => {
            "the server's certificate is not signed by a trusted authority: name the authority's file (tls_ca), or set \
             tls=required, which trusts any server"
                .into()
        }
        Error::InvalidCertificate(
            wrong @ (CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. }),
        ) => format!("{wrong}: connect by a name in the certificate, or set tls=verify-ca, which does not check names"),
        Error::AlertReceived(AlertDescription::ProtocolVersion) | Error::PeerIncompatible(_) => {
            format!("the server and dbdyno share no TLS version: dbdyno speaks 1.2 and 1.3 ({error})")
        }
        other => format!("TLS: {other}"),
    };
    io::Error::new(io::ErrorKind::InvalidData, words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_written_once_there_is_room() {
        let mut outgoing = Outgoing::default();
        for text in [&b"hello"[..], b"again"] {
            let write = |room: &mut [u8]| {
                room.get_mut(..text.len()).ok_or(Unwritten::Needs(text.len()))?.copy_from_slice(text);
                Ok(text.len())
            };
            outgoing.append(write).unwrap();
        }
        assert_eq!(outgoing.bytes(), b"helloagain");
        assert!(outgoing.append(|_| Err(Unwritten::Failed("no".into()))).is_err());
    }

    #[test]
    fn errors_of_certificates_say_what_to_do() {
        let said = |error| worded(error).to_string();
        assert!(said(Error::InvalidCertificate(CertificateError::UnknownIssuer)).contains("tls_ca"));
        assert!(said(Error::InvalidCertificate(CertificateError::NotValidForName)).contains("tls=verify-ca"));
        assert!(said(Error::AlertReceived(AlertDescription::ProtocolVersion)).contains("1.2 and 1.3"));
        assert_eq!(said(Error::DecryptError), "TLS: cannot decrypt peer's message");
    }
}
