//! Messages: a byte that says what it is, a length of 4 bytes that counts itself, a payload; and the errors the server words.

use crate::{Decoded, Malformed};

/// One message in place: `bytes[start..end]` is its payload and the next message begins at `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    pub kind: u8,
    pub start: usize,
    pub end: usize,
}

const HEADER_SIZE_BYTES: usize = 5;
const LENGTH_SIZE_BYTES: usize = 4;
/// No row or statement of ours is as large; what says it is, is another protocol.
const MAX_PAYLOAD_SIZE_BYTES: usize = 16 << 20;

/// Decodes the message that begins at `at`.
///
/// # Errors
/// The length is none, or larger than anything dbdyno asks for.
#[inline]
pub fn message(bytes: &[u8], at: usize) -> Decoded<Message> {
    let Some(&[kind, a, b, c, d]) = bytes.get(at..).and_then(|b| b.first_chunk::<HEADER_SIZE_BYTES>()) else {
        return Ok(None);
    };
    let len = u32::from_be_bytes([a, b, c, d]) as usize;
    if !(LENGTH_SIZE_BYTES..MAX_PAYLOAD_SIZE_BYTES).contains(&len) {
        return Err(Malformed::expected("a PostgreSQL message", &bytes[at..]));
    }
    let end = at + 1 + len;
    Ok((bytes.len() >= end).then_some(Message { kind, start: at + HEADER_SIZE_BYTES, end }))
}

/// Returns whether a message may come at any time and says nothing about an answer: notice, parameter status, notification.
#[inline]
pub(super) fn is_aside(kind: u8) -> bool {
    matches!(kind, b'N' | b'S' | b'A')
}

/// Appends a message whose payload `write` appends.
///
/// # Panics
/// The payload is 16 MiB or larger; callers bound what they send.
pub fn frame(out: &mut Vec<u8>, kind: u8, write: impl FnOnce(&mut Vec<u8>)) {
    out.push(kind);
    let length = out.len();
    out.extend_from_slice(&[0; LENGTH_SIZE_BYTES]);
    write(out);
    end_frame(out, length);
}

/// Writes the length of the message whose length stands at `length` and whose payload ends `out`.
#[inline]
pub(super) fn end_frame(out: &mut [u8], length: usize) {
    let len = out.len() - length;
    assert!(len < MAX_PAYLOAD_SIZE_BYTES, "a message of {len} bytes");
    out[length..length + LENGTH_SIZE_BYTES].copy_from_slice(&(len as u32).to_be_bytes());
}

/// Reads the text that ends with a zero byte at `at`, and where it ends.
#[inline]
pub(super) fn c_string(bytes: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let rest = bytes.get(at..)?;
    let len = rest.iter().position(|&b| b == 0)?;
    Some((&rest[..len], at + len + 1))
}

/// Reads a number of 2 bytes, and where it ends.
#[inline]
pub(super) fn two_bytes(bytes: &[u8], at: usize) -> Option<(i16, usize)> {
    Some((i16::from_be_bytes(*bytes.get(at..)?.first_chunk()?), at + 2))
}

/// Reads a number of 4 bytes, and where it ends.
#[inline]
pub(super) fn four_bytes(bytes: &[u8], at: usize) -> Option<(i32, usize)> {
    Some((i32::from_be_bytes(*bytes.get(at..)?.first_chunk()?), at + 4))
}

/// Reads a value that begins with its length in 4 bytes: where it lies, `None` for NULL, and where it ends.
#[inline]
pub(super) fn sized(bytes: &[u8], at: usize) -> Option<(Option<(usize, usize)>, usize)> {
    let (len, start) = four_bytes(bytes, at)?;
    if len == -1 {
        return Some((None, start));
    }
    let end = start.checked_add(usize::try_from(len).ok()?)?;
    (end <= bytes.len()).then_some((Some((start, end)), end))
}

/// An error as the server worded it. code: its SQLSTATE. is_fatal: the server ends the connection with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerMessage {
    pub code: String,
    pub text: String,
    pub is_fatal: bool,
}

/// The error in the payload of an ErrorResponse.
///
/// # Errors
/// The payload is no list of fields.
#[cold]
pub fn server_error(payload: &[u8]) -> Result<ServerMessage, Malformed> {
    let mut error = ServerMessage { code: String::new(), text: String::new(), is_fatal: false };
    let mut at = 0;
    loop {
        match payload.get(at) {
            Some(0) => return Ok(error),
            Some(&field) => {
                let read = c_string(payload, at + 1);
                let (text, next) = read.ok_or_else(|| Malformed::expected("a field of an error", payload))?;
                error.take(field, &String::from_utf8_lossy(text));
                at = next;
            }
            None => return Err(Malformed::expected("the end of an error", payload)),
        }
    }
}

impl ServerMessage {
    /// `S` is the severity in the server's language, `V` (since 9.6) in English.
    fn take(&mut self, field: u8, text: &str) {
        match field {
            b'S' | b'V' => self.is_fatal |= matches!(text, "FATAL" | "PANIC"),
            b'C' => self.code = text.into(),
            b'M' => self.text = text.into(),
            b'D' => self.text = format!("{} ({text})", self.text),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_framed_message_is_read_back_and_a_cut_one_is_not() {
        let mut bytes = vec![9];
        frame(&mut bytes, b'Q', |out| out.extend_from_slice(b"hello\0"));
        assert_eq!(bytes, b"\x09Q\0\0\0\x0ahello\0");
        assert_eq!(message(&bytes, 1), Ok(Some(Message { kind: b'Q', start: 6, end: 12 })));
        for cut in 0..bytes.len() {
            assert_eq!(message(&bytes[..cut], 1), Ok(None));
        }
        assert!(message(b"HTTP/1.1 400 Bad Request", 0).is_err());
        assert!(message(b"Z\0\0\0\x03", 0).is_err());
    }

    #[test]
    fn golden_error() {
        let payload = b"SFATAL\0VFATAL\0C28P01\0Mpassword authentication failed\0Dfor nobody\0Fauth.c\0L326\0\0";
        let expected = ServerMessage {
            code: "28P01".into(),
            text: "password authentication failed (for nobody)".into(),
            is_fatal: true,
        };
        assert_eq!(server_error(payload), Ok(expected));
        for cut in 0..payload.len() {
            assert!(server_error(&payload[..cut]).is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn values_with_their_length() {
        assert_eq!(sized(b"\0\0\0\x02ab", 0), Some((Some((4, 6)), 6)));
        assert_eq!(sized(b"\xff\xff\xff\xff", 0), Some((None, 4)));
        for wrong in [&b"\0\0\0\x03ab"[..], b"\xff\xff\xff\xfeab", b"\0\0"] {
            assert_eq!(sized(wrong, 0), None);
        }
    }
}
