//! Connecting: who and which database, and the authentications SCRAM-SHA-256, MD5 and clear text.

use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};

use super::message::{ServerMessage, c_string, frame, server_error};
use crate::{Decoded, Malformed};

const PROTOCOL_3_0: u32 = 3 << 16;
/// Rounds of hashing a server may ask for; its default is 4096, and a wrong number must not keep a client busy for hours.
const MAX_SCRAM_ITERATIONS: i64 = 1_000_000;

/// The protocol number by which a client requests TLS.
const TLS_REQUEST: u32 = 1234 << 16 | 5679;

/// Appends the question whether the server has TLS, before the first message; see [`tls_answer`].
pub fn tls_request(out: &mut Vec<u8>) {
    out.extend_from_slice(&8u32.to_be_bytes());
    out.extend_from_slice(&TLS_REQUEST.to_be_bytes());
}

/// Decodes the answer, one byte: whether the server begins with TLS now.
///
/// # Errors
/// It is neither yes nor no.
pub fn tls_answer(bytes: &[u8]) -> Decoded<(bool, usize)> {
    match bytes.first() {
        None => Ok(None),
        Some(b'S') => Ok(Some((true, 1))),
        Some(b'N') => Ok(Some((false, 1))),
        Some(_) => Err(Malformed::expected("whether the server has TLS", bytes)),
    }
}

/// Appends the first message. Texts are to be UTF-8, whatever the database has them in.
pub fn startup(out: &mut Vec<u8>, user: &str, database: &str) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&PROTOCOL_3_0.to_be_bytes());
    for text in ["user", user, "database", database, "client_encoding", "UTF8", "application_name", "dbdyno", ""] {
        put_c_string(out, text);
    }
    let len = out.len() - start;
    out[start..start + 4].copy_from_slice(&(len as u32).to_be_bytes());
}

/// A zero byte would end the text early, and begin what follows somewhere else.
fn put_c_string(out: &mut Vec<u8>, text: &str) {
    out.extend(text.bytes().filter(|&b| b != 0));
    out.push(0);
}

/// The next step of logging in.
#[derive(Debug, PartialEq, Eq)]
pub enum LoginStep {
    /// Send these bytes, a whole message, then read.
    Send(Vec<u8>),
    /// Read the next message.
    Read,
    /// Logged in, and the server waits for a command.
    Done,
    /// The server refused, in its words.
    Refused(ServerMessage),
}

/// An authentication in progress.
pub struct Login<'a> {
    user: &'a str,
    password: &'a str,
    scram: Option<ScramSha256>,
}

impl<'a> Login<'a> {
    pub fn new(user: &'a str, password: &'a str) -> Self {
        Self { user, password, scram: None }
    }

    /// Takes the server's next message.
    ///
    /// # Errors
    /// The message has no place in an authentication, or the server wants one that is not supported.
    pub fn next(&mut self, kind: u8, payload: &[u8]) -> Result<LoginStep, Malformed> {
        match kind {
            b'R' => self.authenticate(payload),
            b'E' => Ok(LoginStep::Refused(server_error(payload)?)),
            b'Z' => Ok(LoginStep::Done),
            b'S' | b'K' | b'N' | b'v' => Ok(LoginStep::Read),
            _ => Err(Malformed::expected("an answer to the login", &[&[kind], payload].concat())),
        }
    }

    fn authenticate(&mut self, payload: &[u8]) -> Result<LoginStep, Malformed> {
        let wrong = || Malformed::expected("an authentication", payload);
        let (method, data) = payload.split_first_chunk().ok_or_else(wrong)?;
        match u32::from_be_bytes(*method) {
            0 if self.scram.is_none() => Ok(LoginStep::Read),
            0 => Err(Malformed("the server ended the login without proof that it knows the password".into())),
            3 => Ok(password_message(self.known_password()?.as_bytes())),
            5 => {
                let salt = *data.first_chunk().ok_or_else(wrong)?;
                let hash = md5_hash(self.user.as_bytes(), self.known_password()?.as_bytes(), salt);
                Ok(password_message(hash.as_bytes()))
            }
            10 => self.begin_scram(data),
            11 => self.continue_scram(data),
            12 => {
                let scram = self.scram.take();
                scram.ok_or_else(wrong)?.finish(data).map_err(|error| failed(&error))?;
                Ok(LoginStep::Read)
            }
            other => Err(Malformed(format!("dbdyno does not support the server's authentication number {other}"))),
        }
    }

    fn known_password(&self) -> Result<&'a str, Malformed> {
        if self.password.is_empty() {
            return Err(Malformed(format!("the server requires a password for {}: give one", self.user)));
        }
        Ok(self.password)
    }

    fn begin_scram(&mut self, mechanisms: &[u8]) -> Result<LoginStep, Malformed> {
        let mut at = 0;
        while let Some((name, next)) = c_string(mechanisms, at) {
            if name == SCRAM_SHA_256.as_bytes() {
                let scram = ScramSha256::new(self.known_password()?.as_bytes(), ChannelBinding::unsupported());
                let mut out = Vec::new();
                frame(&mut out, b'p', |out| {
                    put_c_string(out, SCRAM_SHA_256);
                    out.extend_from_slice(&(scram.message().len() as u32).to_be_bytes());
                    out.extend_from_slice(scram.message());
                });
                self.scram = Some(scram);
                return Ok(LoginStep::Send(out));
            }
            at = next;
        }
        Err(Malformed::expected("the authentication SCRAM-SHA-256 among those offered", mechanisms))
    }

    fn continue_scram(&mut self, data: &[u8]) -> Result<LoginStep, Malformed> {
        let wrong = || Malformed::expected("the second message of SCRAM", data);
        let iterations = data.split(|&b| b == b',').find_map(|part| part.strip_prefix(b"i="));
        let iterations = iterations.and_then(crate::decimal).ok_or_else(wrong)?;
        if !(1..=MAX_SCRAM_ITERATIONS).contains(&iterations) {
            return Err(Malformed(format!("the server wants {iterations} rounds of hashing")));
        }
        let scram = self.scram.as_mut().ok_or_else(wrong)?;
        scram.update(data).map_err(|error| failed(&error))?;
        let mut out = Vec::new();
        frame(&mut out, b'p', |out| out.extend_from_slice(scram.message()));
        Ok(LoginStep::Send(out))
    }
}

fn password_message(password: &[u8]) -> LoginStep {
    let mut out = Vec::new();
    frame(&mut out, b'p', |out| {
        out.extend_from_slice(password);
        out.push(0);
    });
    LoginStep::Send(out)
}

fn failed(error: &dyn std::fmt::Display) -> Malformed {
    Malformed(format!("authentication failed: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(step: Result<LoginStep, Malformed>) -> Vec<u8> {
        match step {
            Ok(LoginStep::Send(bytes)) => bytes,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn golden_startup() {
        let mut out = Vec::new();
        startup(&mut out, "u", "d\0x");
        let mut expected = b"\0\0\0\x49\0\x03\0\0user\0u\0database\0dx\0client_encoding\0UTF8\0".to_vec();
        expected.extend_from_slice(b"application_name\0dbdyno\0\0");
        assert_eq!(out, expected);
    }

    #[test]
    fn golden_request_for_tls() {
        let mut out = Vec::new();
        tls_request(&mut out);
        assert_eq!(out, b"\0\0\0\x08\x04\xd2\x16\x2f");
        assert_eq!(tls_answer(b""), Ok(None));
        assert_eq!(tls_answer(b"S\x16"), Ok(Some((true, 1))));
        assert_eq!(tls_answer(b"N"), Ok(Some((false, 1))));
        assert!(tls_answer(b"HTTP").is_err());
    }

    #[test]
    fn clear_and_md5_passwords_are_answered() {
        let mut login = Login::new("md5_user", "password");
        assert_eq!(sent(login.next(b'R', b"\0\0\0\x03")), b"p\0\0\0\x0dpassword\0");
        // The example of postgres-protocol's own test of md5_hash.
        let answer = sent(login.next(b'R', b"\0\0\0\x05\x2a\x3d\x8f\xe0"));
        assert_eq!(answer, b"p\0\0\0\x28md562af4dd09bbb41884907a838a3233294\0");
        assert_eq!(login.next(b'R', b"\0\0\0\0"), Ok(LoginStep::Read));
        assert_eq!(login.next(b'S', b"a\0b\0"), Ok(LoginStep::Read));
        assert_eq!(login.next(b'Z', b"I"), Ok(LoginStep::Done));
        let refused = ServerMessage { code: "28P01".into(), text: "no".into(), is_fatal: true };
        assert_eq!(login.next(b'E', b"VFATAL\0C28P01\0Mno\0\0"), Ok(LoginStep::Refused(refused)));
    }

    #[test]
    fn scram_goes_on_only_with_who_follows_it() {
        let mut login = Login::new("u", "secret");
        let first = sent(login.next(b'R', b"\0\0\0\x0aSCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0"));
        assert!(first.starts_with(b"p") && first.windows(14).any(|w| w == b"SCRAM-SHA-256\0"));
        let nonce = String::from_utf8(first[first.len() - 24..].to_vec()).unwrap();
        let reply = |iterations: &str| format!("\0\0\0\x0br={nonce}x,s=c2FsdA==,i={iterations}").into_bytes();
        let error = login.next(b'R', &reply("4000000000")).unwrap_err();
        assert!(error.0.contains("4000000000 rounds"), "{error}");
        assert!(login.next(b'R', b"\0\0\0\0").unwrap_err().0.contains("without proof"));
        let second = sent(login.next(b'R', &reply("4096")));
        assert!(!second.windows(6).any(|w| w == b"secret"));
        assert!(login.next(b'R', b"\0\0\0\x0cv=AAAA").unwrap_err().0.contains("authentication failed"));
    }

    #[test]
    fn what_cannot_be_answered_is_named() {
        let mut login = Login::new("u", "");
        assert!(login.next(b'R', b"\0\0\0\x03").unwrap_err().0.contains("requires a password"));
        assert!(login.next(b'R', b"\0\0\0\x07").unwrap_err().0.contains("number 7"));
        assert!(login.next(b'R', b"\0\0\0\x0aSOMETHING\0\0").unwrap_err().0.contains("SCRAM-SHA-256"));
        assert!(login.next(b'R', b"\0\0").is_err());
        assert!(login.next(b'R', b"\0\0\0\x0b").is_err());
        assert!(login.next(b'H', b"TTP").is_err());
    }
}
