//! Frames: version, flags, stream, opcode and a length of 4 bytes, then the body; and the errors the server words.

use crate::{Decoded, Malformed};

const VERSION: u8 = 4;
const RESPONSE: u8 = 0x80;
const HEADER_SIZE_BYTES: usize = 9;
const LENGTH_AT: usize = 5;
/// No row or statement of ours is as large; what says it is, is another protocol.
const MAX_BODY_SIZE_BYTES: usize = 16 << 20;

pub(super) mod opcode {
    pub const ERROR: u8 = 0x00;
    pub const STARTUP: u8 = 0x01;
    pub const READY: u8 = 0x02;
    pub const AUTHENTICATE: u8 = 0x03;
    pub const QUERY: u8 = 0x07;
    pub const RESULT: u8 = 0x08;
    pub const PREPARE: u8 = 0x09;
    pub const EXECUTE: u8 = 0x0a;
    pub const AUTH_RESPONSE: u8 = 0x0f;
    pub const AUTH_SUCCESS: u8 = 0x10;
}

const TRACED: u8 = 0x02;
const HAS_PAYLOAD: u8 = 0x04;
const HAS_WARNINGS: u8 = 0x08;
const TRACE_SIZE_BYTES: usize = 16;

/// One frame in place: `bytes[start..end]` is its body, and the next frame begins at `end`. stream: which request it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    pub opcode: u8,
    pub stream: u16,
    pub start: usize,
    pub end: usize,
}

/// Decodes the answer's frame that begins at `at`; warnings before its body are passed over.
///
/// # Errors
/// It is no frame of version 4, or larger than anything dbdyno asks for.
#[inline]
pub fn frame(bytes: &[u8], at: usize) -> Decoded<Frame> {
    frame_of(RESPONSE | VERSION, bytes, at)
}

#[inline]
pub(super) fn frame_of(wanted: u8, bytes: &[u8], at: usize) -> Decoded<Frame> {
    let Some(&[version, flags, high, low, opcode, a, b, c, d]) =
        bytes.get(at..).and_then(|b| b.first_chunk::<HEADER_SIZE_BYTES>())
    else {
        return Ok(None);
    };
    let len = u32::from_be_bytes([a, b, c, d]) as usize;
    if version != wanted || len >= MAX_BODY_SIZE_BYTES {
        return Err(Malformed::expected("a frame of CQL, version 4", &bytes[at..]));
    }
    let start = at + HEADER_SIZE_BYTES;
    let end = start + len;
    if bytes.len() < end {
        return Ok(None);
    }
    let start = if flags == 0 { start } else { behind_asides(&bytes[..end], start, flags)? };
    Ok(Some(Frame { opcode, stream: u16::from_be_bytes([high, low]), start, end }))
}

/// The start of the body itself, behind what the flags announce. Every count over a whole table comes with a warning.
#[cold]
fn behind_asides(bytes: &[u8], start: usize, flags: u8) -> Result<usize, Malformed> {
    let wrong = || Malformed::expected("a body as its flags announce it", &bytes[start..]);
    if flags & !(TRACED | HAS_PAYLOAD | HAS_WARNINGS) != 0 {
        return Err(wrong());
    }
    let mut at = start + if flags & TRACED == 0 { 0 } else { TRACE_SIZE_BYTES };
    if flags & HAS_WARNINGS != 0 {
        let (count, next) = two_bytes(bytes, at).ok_or_else(wrong)?;
        at = next;
        for _ in 0..count {
            at = string(bytes, at).ok_or_else(wrong)?.1;
        }
    }
    if flags & HAS_PAYLOAD != 0 {
        let (count, next) = two_bytes(bytes, at).ok_or_else(wrong)?;
        at = next;
        for _ in 0..count {
            let (_, value) = string(bytes, at).ok_or_else(wrong)?;
            at = sized(bytes, value).ok_or_else(wrong)?.1;
        }
    }
    if at <= bytes.len() { Ok(at) } else { Err(wrong()) }
}

/// Appends a request's frame whose body `write` appends.
///
/// # Panics
/// The body is 16 MiB or larger; callers bound what they send.
pub(super) fn put_request(out: &mut Vec<u8>, opcode: u8, stream: u16, write: impl FnOnce(&mut Vec<u8>)) {
    put(out, VERSION, opcode, stream, write);
}

/// The same for an answer.
pub(super) fn put_answer(out: &mut Vec<u8>, opcode: u8, stream: u16, write: impl FnOnce(&mut Vec<u8>)) {
    put(out, RESPONSE | VERSION, opcode, stream, write);
}

#[inline]
fn put(out: &mut Vec<u8>, version: u8, opcode: u8, stream: u16, write: impl FnOnce(&mut Vec<u8>)) {
    let header = out.len();
    let [high, low] = stream.to_be_bytes();
    out.extend_from_slice(&[version, 0, high, low, opcode, 0, 0, 0, 0]);
    write(out);
    end_frame(out, header);
}

/// Writes the length of the frame that begins at `header` and ends `out`.
#[inline]
pub(super) fn end_frame(out: &mut [u8], header: usize) {
    let len = out.len() - header - HEADER_SIZE_BYTES;
    assert!(len < MAX_BODY_SIZE_BYTES, "a frame of {len} bytes");
    out[header + LENGTH_AT..header + HEADER_SIZE_BYTES].copy_from_slice(&(len as u32).to_be_bytes());
}

/// A request's frame whose length and stream are still 0, for a body that is always the same at first.
pub(super) fn head(opcode: u8, body: &[u8]) -> Vec<u8> {
    [&[VERSION, 0, 0, 0, opcode, 0, 0, 0, 0], body].concat()
}

/// Writes the stream of the frame that begins at `header`.
#[inline]
pub(super) fn set_stream(out: &mut [u8], header: usize, stream: u16) {
    out[header + 2..header + 4].copy_from_slice(&stream.to_be_bytes());
}

/// Reads a number of 2 bytes, and where it ends.
#[inline]
pub(super) fn two_bytes(bytes: &[u8], at: usize) -> Option<(u16, usize)> {
    Some((u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?), at + 2))
}

/// Reads a number of 4 bytes, and where it ends.
#[inline]
pub(super) fn four_bytes(bytes: &[u8], at: usize) -> Option<(i32, usize)> {
    Some((i32::from_be_bytes(*bytes.get(at..)?.first_chunk()?), at + 4))
}

/// Reads what begins with its length in 2 bytes, and where it ends.
pub(super) fn string(bytes: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let (len, start) = two_bytes(bytes, at)?;
    let end = start + usize::from(len);
    Some((bytes.get(start..end)?, end))
}

/// Reads a value that begins with its length in 4 bytes: where it lies, `None` for NULL, and where it ends.
#[inline]
pub(super) fn sized(bytes: &[u8], at: usize) -> Option<(Option<(usize, usize)>, usize)> {
    let (len, start) = four_bytes(bytes, at)?;
    if len < 0 {
        return Some((None, start));
    }
    let end = start + len as usize;
    (end <= bytes.len()).then_some((Some((start, end)), end))
}

/// Appends a text with its length in 2 bytes before it.
pub(super) fn put_string(out: &mut Vec<u8>, text: &[u8]) {
    out.extend_from_slice(&(text.len() as u16).to_be_bytes());
    out.extend_from_slice(text);
}

/// Appends a value with its length in 4 bytes before it.
#[inline]
pub(super) fn put_sized(out: &mut Vec<u8>, value: &[u8]) {
    out.extend_from_slice(&(value.len() as u32).to_be_bytes());
    out.extend_from_slice(value);
}

/// An error as the server worded it, and its code in the protocol's table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerError {
    pub code: u32,
    pub text: String,
}

/// The code of the error in a frame; `None` if there is none.
#[inline]
pub fn error_code(bytes: &[u8], frame: Frame) -> Option<u32> {
    let code = if frame.opcode == opcode::ERROR { four_bytes(&bytes[..frame.end], frame.start) } else { None };
    code.map(|(code, _)| code as u32)
}

/// The error in the body of an ERROR frame; what follows its text depends on the code and is not needed.
#[cold]
pub(super) fn server_error(bytes: &[u8], frame: Frame) -> Result<ServerError, Malformed> {
    let body = &bytes[..frame.end];
    let read = four_bytes(body, frame.start).and_then(|(code, at)| Some((code, string(body, at)?.0)));
    let (code, text) = read.ok_or_else(|| Malformed::expected("an error", &body[frame.start..]))?;
    Ok(ServerError { code: code as u32, text: String::from_utf8_lossy(text).into_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_read_back_and_a_cut_one_is_not() {
        let mut bytes = vec![9];
        put_answer(&mut bytes, opcode::RESULT, 0x0102, |out| out.extend_from_slice(b"\0\0\0\x01"));
        assert_eq!(bytes, b"\x09\x84\0\x01\x02\x08\0\0\0\x04\0\0\0\x01");
        let expected = Frame { opcode: opcode::RESULT, stream: 0x0102, start: 10, end: 14 };
        assert_eq!(frame(&bytes, 1), Ok(Some(expected)));
        for cut in 0..bytes.len() {
            assert_eq!(frame(&bytes[..cut], 1), Ok(None));
        }
        assert!(frame(b"HTTP/1.1 400 Bad Request", 0).is_err());
        assert!(frame(b"\x84\0\0\0\x08\x7f\0\0\0", 0).is_err());
        assert!(frame(b"\x83\0\0\0\x08\0\0\0\0", 0).is_err());
    }

    #[test]
    fn what_stands_before_a_body_is_passed_over() {
        let trace = [7; TRACE_SIZE_BYTES];
        let asides = [&trace[..], b"\0\x01\0\x04slow", b"\0\x01\0\x01k\0\0\0\x01v", b"\0\0\0\x01"].concat();
        let bytes =
            [&[0x84, TRACED | HAS_PAYLOAD | HAS_WARNINGS, 0, 0, 8, 0, 0, 0, asides.len() as u8], &asides[..]].concat();
        let answer = frame(&bytes, 0).unwrap().unwrap();
        assert_eq!(&bytes[answer.start..answer.end], b"\0\0\0\x01");
        let compressed = [&[0x84, 1], &bytes[2..]].concat();
        assert!(frame(&compressed, 0).is_err());
        let cut_warning = b"\x84\x08\0\0\x08\0\0\0\x04\0\x01\0\x09";
        assert!(frame(cut_warning, 0).is_err());
    }

    #[test]
    fn golden_error() {
        let mut bytes = Vec::new();
        put_answer(&mut bytes, opcode::ERROR, 0, |out| {
            out.extend_from_slice(&0x2200u32.to_be_bytes());
            put_string(out, b"no such table");
        });
        let answer = frame(&bytes, 0).unwrap().unwrap();
        assert_eq!(error_code(&bytes, answer), Some(0x2200));
        assert_eq!(error_code(&bytes, Frame { opcode: opcode::RESULT, ..answer }), None);
        assert_eq!(server_error(&bytes, answer), Ok(ServerError { code: 0x2200, text: "no such table".into() }));
        for end in answer.start..answer.end {
            assert!(server_error(&bytes, Frame { end, ..answer }).is_err());
        }
    }

    #[test]
    fn values_with_their_length() {
        assert_eq!(sized(b"\0\0\0\x02ab", 0), Some((Some((4, 6)), 6)));
        assert_eq!(sized(b"\xff\xff\xff\xff", 0), Some((None, 4)));
        assert_eq!(sized(b"\0\0\0\x03ab", 0), None);
        assert_eq!(string(b"\0\x02abc", 0), Some((&b"ab"[..], 4)));
        assert_eq!(string(b"\0\x04abc", 0), None);
    }
}
