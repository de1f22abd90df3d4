//! Checks a server's public key before a password is encrypted with it. mysql_common takes any key for sound. It panics on one that is cut
//! short or too small, and computes for ever with one that is absurdly large, as fuzzing found.

use mysql_common::crypto::der::{PubKeyFileType, pem_to_der};

use crate::Malformed;

const SEQUENCE: u8 = 0x30;
const BIT_STRING: u8 = 0x03;
const INTEGER: u8 = 0x02;
/// 1024 to 16384 bits; servers generate 2048.
const MODULUS_SIZE_BYTES: std::ops::RangeInclusive<usize> = 128..=2048;
const MAX_EXPONENT_SIZE_BYTES: usize = 8;
/// Bytes that OAEP with SHA-1 adds to a message (RFC 8017, 7.1.1), and the 0 that ends a password.
const PADDING_SIZE_BYTES: usize = 2 * 20 + 2 + 1;

/// Refuses a challenge that is a public key (PEM, of PKCS #1 or #8) with which `password` cannot be encrypted.
pub(super) fn check(challenge: &[u8], password: &str) -> Result<(), Malformed> {
    if !challenge.windows(5).any(|w| w == b"-----") {
        return Ok(());
    }
    let size_bytes = modulus_size_bytes(challenge)
        .filter(|size| MODULUS_SIZE_BYTES.contains(size))
        .ok_or_else(|| Malformed::expected("a public RSA key", challenge))?;
    if password.len() + PADDING_SIZE_BYTES > size_bytes {
        return Err(Malformed("the server's public key is too short for a password of this length".into()));
    }
    Ok(())
}

/// The size of the key's modulus, if the key is well-formed (RFC 8017, A.1.1; RFC 5280, 4.1).
fn modulus_size_bytes(pem: &[u8]) -> Option<usize> {
    let (der, kind) = pem_to_der(pem).ok()?;
    let key = match kind {
        PubKeyFileType::Pkcs1 => &der[..],
        PubKeyFileType::Pkcs8 => {
            let (info, _) = element(&der, SEQUENCE)?;
            let (_algorithm, rest) = element(info, SEQUENCE)?;
            let (bits, _) = element(rest, BIT_STRING)?;
            bits.strip_prefix(&[0])?
        }
    };
    let (numbers, _) = element(key, SEQUENCE)?;
    let (modulus, rest) = element(numbers, INTEGER)?;
    let (exponent, _) = element(rest, INTEGER)?;
    let modulus = modulus.strip_prefix(&[0]).unwrap_or(modulus);
    let has_exponent = (1..=MAX_EXPONENT_SIZE_BYTES).contains(&exponent.len());
    (has_exponent && *modulus.first()? != 0).then_some(modulus.len())
}

/// The content of the DER element that `der` begins with, and what follows it.
fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let [own_tag, first, rest @ ..] = der else { return None };
    let (len, rest) = match first {
        0..=0x7f => (usize::from(*first), rest),
        // No key of ours is longer than two bytes can say.
        0x81 | 0x82 => {
            let (len, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (len.iter().fold(0, |n, byte| n << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    if *own_tag == tag { rest.split_at_checked(len) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "-----BEGIN PUBLIC KEY-----
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQD1gBSI5FBe//nYxkMrosLKM4et
zVD204AoNhFzO0YAfKRYdXOtLYr/+gv14pMKU1KFFV3VwErV0GrFFcFDOJ44cBLF
kErji9EbGlc2/XUPRPes4fhpBLX6y1GAasjeTWpN3oYlN6HUtAs/zCRyXzmsuZFt
b0BWJpI1GYrjDVTDgwIDAQAB
-----END PUBLIC KEY-----
";

    #[test]
    fn a_sound_key_is_accepted_for_a_password_it_can_hide() {
        assert_eq!(check(KEY.as_bytes(), "secret"), Ok(()));
        assert_eq!(check(KEY.as_bytes(), &"x".repeat(128 - PADDING_SIZE_BYTES)), Ok(()));
        assert!(check(KEY.as_bytes(), &"x".repeat(129 - PADDING_SIZE_BYTES)).unwrap_err().0.contains("too short"));
        assert_eq!(check(b"12345678901234567890", "secret"), Ok(()));
    }

    #[test]
    fn a_damaged_key_is_refused() {
        let body = KEY.find('\n').unwrap() + 1;
        let without = |from: usize, to: usize| format!("{}{}", &KEY[..from], &KEY[to..]);
        for damaged in [without(body, body + 64), without(body + 4, body + 8), KEY[..body + 20].to_string()] {
            assert!(check(damaged.as_bytes(), "secret").is_err(), "{damaged}");
        }
    }
}
