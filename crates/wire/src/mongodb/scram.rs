//! The client's side of SCRAM (RFC 5802, with SHA-256 RFC 7677), without channel binding.
//!
//! postgres-protocol's is for an empty user name, and has no SHA-1.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{KeyInit, Mac, SimpleHmac};
use md5::Md5;
use sha1::Sha1;
use sha2::Sha256;
use sha2::digest::block_api::BlockSizeUser;
use sha2::digest::{Digest, FixedOutputReset};

use crate::Malformed;

/// Servers ask for 10,000 or 15,000; a wrong number must not keep a client busy for hours.
const MAX_ROUNDS: u32 = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mechanism {
    Sha1,
    Sha256,
}

impl Mechanism {
    pub fn name(self) -> &'static str {
        match self {
            Mechanism::Sha1 => "SCRAM-SHA-1",
            Mechanism::Sha256 => "SCRAM-SHA-256",
        }
    }
}

/// An authentication in progress.
pub(super) struct Scram {
    mechanism: Mechanism,
    /// The password as the mechanism hashes it.
    password: Vec<u8>,
    nonce: String,
    first: String,
    /// The proof that the server owes, once it has been asked for it.
    expected: Option<String>,
}

impl Scram {
    /// `nonce`: random, printable, without a comma.
    pub fn new(mechanism: Mechanism, user: &str, password: &str, nonce: String) -> Self {
        let name = user.replace('=', "=3D").replace(',', "=2C");
        let first = format!("n={name},r={nonce}");
        let password = match mechanism {
            // As servers have kept it since before SCRAM.
            Mechanism::Sha1 => hex(&Md5::digest(format!("{user}:mongo:{password}"))).into_bytes(),
            Mechanism::Sha256 => stringprep::saslprep(password)
                .map_or_else(|_| password.into(), std::borrow::Cow::into_owned)
                .into_bytes(),
        };
        Self { mechanism, password, nonce, first, expected: None }
    }

    /// The client's first message.
    pub fn first_message(&self) -> String {
        format!("n,,{}", self.first)
    }

    /// The client's proof, in answer to the server's first message.
    ///
    /// # Errors
    /// The message is none, or does not follow the client's.
    pub fn prove(&mut self, server_first: &[u8]) -> Result<String, Malformed> {
        let wrong = || Malformed::expected("the server's first message of SCRAM", server_first);
        let message = std::str::from_utf8(server_first).map_err(|_| wrong())?;
        let part = |key: &str| message.split(',').find_map(|part| part.strip_prefix(key));
        let nonce = part("r=").filter(|nonce| nonce.starts_with(&self.nonce)).ok_or_else(wrong)?;
        let salt = part("s=").and_then(|salt| STANDARD.decode(salt).ok()).ok_or_else(wrong)?;
        let rounds: u32 = part("i=").and_then(|rounds| rounds.parse().ok()).ok_or_else(wrong)?;
        if !(1..=MAX_ROUNDS).contains(&rounds) {
            return Err(Malformed(format!("the server wants {rounds} rounds of hashing")));
        }
        let without_proof = format!("c=biws,r={nonce}");
        let all = format!("{},{message},{without_proof}", self.first);
        let (proof, expected) = match self.mechanism {
            Mechanism::Sha1 => signatures::<Sha1>(&self.password, &salt, rounds, &all),
            Mechanism::Sha256 => signatures::<Sha256>(&self.password, &salt, rounds, &all),
        };
        self.expected = Some(expected);
        Ok(format!("{without_proof},p={proof}"))
    }

    /// Checks that the server knows the password too.
    ///
    /// # Errors
    /// It does not, or was not asked yet.
    pub fn check(&self, server_final: &[u8]) -> Result<(), Malformed> {
        let verifier = server_final.strip_prefix(b"v=");
        match (&self.expected, verifier) {
            (Some(expected), Some(verifier)) if expected.as_bytes() == verifier => Ok(()),
            _ => Err(Malformed("authentication failed: the server did not prove that it knows the password".into())),
        }
    }
}

/// The client's proof and the server's signature, in base 64.
fn signatures<D>(password: &[u8], salt: &[u8], rounds: u32, all: &str) -> (String, String)
where
    D: Digest + BlockSizeUser + FixedOutputReset + Clone + Sync,
{
    let mut salted = vec![0; <D as Digest>::output_size()];
    // It cannot fail: HMAC takes a key of any length.
    let _ = pbkdf2::pbkdf2::<SimpleHmac<D>>(password, salt, rounds, &mut salted);
    let client_key = keyed::<D>(&salted, b"Client Key");
    let signature = keyed::<D>(&D::digest(&client_key), all.as_bytes());
    let proof: Vec<u8> = client_key.iter().zip(&signature).map(|(a, b)| a ^ b).collect();
    let server_key = keyed::<D>(&salted, b"Server Key");
    (STANDARD.encode(proof), STANDARD.encode(keyed::<D>(&server_key, all.as_bytes())))
}

fn keyed<D: Digest + BlockSizeUser>(key: &[u8], message: &[u8]) -> Vec<u8> {
    SimpleHmac::<D>::new_from_slice(key)
        .map(|mac| mac.chain_update(message).finalize().into_bytes().to_vec())
        .unwrap_or_default()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The conversations of MongoDB's specification of authentication (drivers' `auth.md`); the second is RFC 7677's.
    const SPECIFIED: [(Mechanism, &str, &str, &str, &str); 2] = [
        (
            Mechanism::Sha1,
            "fyko+d2lbbFgONRv9qkxdawL",
            "r=fyko+d2lbbFgONRv9qkxdawLHo+Vgk7qvUOKUwuWLIWg4l/9SraGMHEE,s=rQ9ZY3MntBeuP3E1TDVC4w==,i=10000",
            "c=biws,r=fyko+d2lbbFgONRv9qkxdawLHo+Vgk7qvUOKUwuWLIWg4l/9SraGMHEE,p=MC2T8BvbmWRckDw8oWl5IVghwCY=",
            "v=UMWeI25JD1yNYZRMpZ4VHvhZ9e0=",
        ),
        (
            Mechanism::Sha256,
            "rOprNGfwEbeRWgbNEkqO",
            "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
            "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
            "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
        ),
    ];

    #[test]
    fn the_specified_conversations() {
        for (mechanism, nonce, server_first, proof, server_final) in SPECIFIED {
            let mut scram = Scram::new(mechanism, "user", "pencil", nonce.into());
            assert_eq!(scram.first_message(), format!("n,,n=user,r={nonce}"));
            assert!(scram.check(server_final.as_bytes()).is_err(), "before it was asked");
            assert_eq!(scram.prove(server_first.as_bytes()).unwrap(), proof, "{}", mechanism.name());
            assert_eq!(scram.check(server_final.as_bytes()), Ok(()));
            assert!(scram.check(b"v=AAAA").unwrap_err().0.contains("authentication failed"));
        }
    }

    #[test]
    fn a_server_that_follows_nobody_or_asks_too_much_is_refused() {
        let mut scram = Scram::new(Mechanism::Sha256, "a,b=c", "p", "mine".into());
        assert_eq!(scram.first_message(), "n,,n=a=2Cb=3Dc,r=mine");
        for wrong in ["r=yours,s=AAAA,i=1", "r=mine,s=AAAA", "r=mine,s=?,i=1", "r=mine,s=AAAA,i=4000000000", ""] {
            assert!(scram.prove(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
