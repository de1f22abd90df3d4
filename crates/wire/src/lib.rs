//! Protocols: bytes to messages and back, one file (or folder) each. No I/O, no clock, so nothing here can hang.
//!
//! Decoders take the bytes received so far. `Ok(None)` means that the message is not complete yet: call again with more bytes.

mod calendar;
pub mod cql;
mod decimal;
mod double;
pub mod handlersocket;
pub mod ketama;
pub mod memcached;
pub mod mongodb;
pub mod mysql;
pub mod postgres;
pub mod redis;
pub mod tokyotyrant;
mod value;

pub use decimal::write_scaled;
pub use double::{read_double, write_double};
pub use value::{Cell, Param, TextKind, TextRows};

/// Bytes that are no message of the protocol in this state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub String);

impl Malformed {
    /// Says what was expected and shows the first bytes of what came.
    #[cold]
    pub fn expected(what: &str, bytes: &[u8]) -> Self {
        let beginning = bytes[..bytes.len().min(24)].escape_ascii();
        Self(format!("expected {what}, got \"{beginning}\""))
    }
}

pub type Decoded<T> = Result<Option<T>, Malformed>;

/// Reads an optionally signed decimal number that fills `digits`.
#[inline]
fn decimal(digits: &[u8]) -> Option<i64> {
    let (negative, digits) = match digits {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, digits),
    };
    if digits.is_empty() {
        return None;
    }
    let mut n: i64 = 0;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        n = n.checked_mul(10)?.checked_add(i64::from(digit - b'0'))?;
    }
    Some(if negative { -n } else { n })
}

/// Appends a number in decimal.
#[inline]
fn put_decimal(out: &mut Vec<u8>, mut n: usize) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals() {
        assert_eq!(decimal(b"0"), Some(0));
        assert_eq!(decimal(b"-12"), Some(-12));
        assert_eq!(decimal(b"9223372036854775807"), Some(i64::MAX));
        for wrong in ["", "-", "1x", "9223372036854775808", "+1", "1 "] {
            assert_eq!(decimal(wrong.as_bytes()), None, "{wrong:?}");
        }
    }
}
