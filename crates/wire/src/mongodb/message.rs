//! OP_MSG: a header of 16 bytes, flags, the command's document, and for writes a sequence of documents behind it.

use super::bson::{ARRAY, DOCUMENT, begin, end, four_bytes, open};
use crate::{Decoded, Malformed};

const OP_MSG: u32 = 2013;
/// Length, number, the number answered to, and the kind, each of 4 bytes; then the flags.
const HEADER_SIZE_BYTES: usize = 16;
const BODY_AT: usize = HEADER_SIZE_BYTES + 4 + 1;
/// A header, flags, one section with the shortest document.
const LEAST_SIZE_BYTES: usize = BODY_AT + 5;
/// The largest message a server takes.
const MAX_SIZE_BYTES: usize = 48_000_000;
/// The flag of a checksum behind the last section.
const CHECKSUM_PRESENT: u32 = 1;
/// The flag of a message that is not to be answered.
pub const MORE_TO_COME: u32 = 2;
/// Flags that a reader may pass over lie above these.
const REQUIRED_FLAGS: u32 = 0xffff;

/// A message in place: its sections are `bytes[start..end]`, and the next message begins at `next`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    pub number: u32,
    pub answers: u32,
    pub flags: u32,
    pub start: usize,
    pub end: usize,
    pub next: usize,
}

/// Decodes the message that begins at `at`.
///
/// # Errors
/// The bytes are no OP_MSG.
#[inline]
pub fn message(bytes: &[u8], at: usize) -> Decoded<Message> {
    let wrong = || Malformed::expected("a message of the MongoDB protocol", &bytes[at..]);
    let Some(size_bytes) = four_bytes(bytes, at).map(|n| n as usize) else { return Ok(None) };
    if !(LEAST_SIZE_BYTES..=MAX_SIZE_BYTES).contains(&size_bytes) {
        return Err(wrong());
    }
    let Some(kind) = four_bytes(bytes, at + 12) else { return Ok(None) };
    if kind != OP_MSG {
        return Err(wrong());
    }
    let next = at + size_bytes;
    if bytes.len() < next {
        return Ok(None);
    }
    let four = |i: usize| four_bytes(bytes, at + i).unwrap_or_default();
    let (number, answers, flags) = (four(4), four(8), four(HEADER_SIZE_BYTES));
    if flags & REQUIRED_FLAGS & !(CHECKSUM_PRESENT | MORE_TO_COME) != 0 {
        return Err(wrong());
    }
    let checksum_size_bytes = if flags & CHECKSUM_PRESENT == 0 { 0 } else { 4 };
    Ok(Some(Message { number, answers, flags, start: at + BODY_AT - 1, end: next - checksum_size_bytes, next }))
}

/// A command, written once up to where it varies: there it is left open.
#[derive(Clone, Debug, Default)]
pub struct Command {
    bytes: Vec<u8>,
    open: Vec<Open>,
}

/// The position of the length of something open.
#[derive(Clone, Copy, Debug)]
enum Open {
    Document(usize),
    Sequence(usize),
}

impl Command {
    /// A command whose document, left open, begins with what `write` appends.
    pub fn new(flags: u32, write: impl FnOnce(&mut Vec<u8>)) -> Self {
        let mut bytes = vec![0; HEADER_SIZE_BYTES];
        bytes[12..].copy_from_slice(&OP_MSG.to_le_bytes());
        bytes.extend_from_slice(&flags.to_le_bytes());
        bytes.push(0);
        let at = begin(&mut bytes);
        write(&mut bytes);
        Self { bytes, open: vec![Open::Document(at)] }
    }

    /// The following elements are in a document of this name.
    #[must_use]
    pub fn document(mut self, name: &str) -> Self {
        self.open.push(Open::Document(open(&mut self.bytes, DOCUMENT, name)));
        self
    }

    /// The following elements are in an array of this name.
    #[must_use]
    pub fn array(mut self, name: &str) -> Self {
        self.open.push(Open::Document(open(&mut self.bytes, ARRAY, name)));
        self
    }

    /// The documents of this name follow: they are a separate section, which is cheaper than an array.
    #[must_use]
    pub fn sequence(mut self, name: &str) -> Self {
        close(&mut self.bytes, &self.open);
        self.bytes.push(1);
        let at = begin(&mut self.bytes);
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.push(0);
        self.open = vec![Open::Sequence(at)];
        self
    }

    /// Replaces `out` by the whole message with this number, `write` appending what varies.
    #[inline]
    pub fn write(&self, out: &mut Vec<u8>, number: u32, write: impl FnOnce(&mut Vec<u8>)) {
        out.clear();
        out.extend_from_slice(&self.bytes);
        write(out);
        close(out, &self.open);
        end(out, 0);
        out[4..8].copy_from_slice(&number.to_le_bytes());
    }
}

#[inline]
fn close(out: &mut Vec<u8>, open: &[Open]) {
    for open in open.iter().rev() {
        match *open {
            Open::Document(at) => {
                out.push(0);
                end(out, at);
            }
            Open::Sequence(at) => end(out, at),
        }
    }
}

/// Appends a message that answers the one with the number `answers`, its document written by `write`.
pub(super) fn answering(out: &mut Vec<u8>, answers: u32, write: impl FnOnce(&mut Vec<u8>)) {
    let at = begin(out);
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&answers.to_le_bytes());
    out.extend_from_slice(&OP_MSG.to_le_bytes());
    out.extend_from_slice(&[0; 5]);
    super::bson::elements(out, write);
    end(out, at);
}

#[cfg(test)]
mod tests {
    use super::super::bson::{int, text};
    use super::*;

    #[test]
    fn golden_command() {
        let find = Command::new(0, |out| text(out, "find", b"t")).document("filter");
        let mut out = vec![];
        find.write(&mut out, 7, |out| int(out, "_id", 5));
        let expected: &[u8] = b"\x3c\0\0\0\x07\0\0\0\0\0\0\0\xdd\x07\0\0\0\0\0\0\0\
            \x27\0\0\0\x02find\0\x02\0\0\0t\0\x03filter\0\x0e\0\0\0\x10_id\0\x05\0\0\0\0\0";
        assert_eq!(out.escape_ascii().to_string(), expected.escape_ascii().to_string());
        let whole = Message { number: 7, answers: 0, flags: 0, start: 20, end: 60, next: 60 };
        assert_eq!(message(&out, 0), Ok(Some(whole)));
        for cut in 0..out.len() {
            assert_eq!(message(&out[..cut], 0), Ok(None), "cut at {cut}");
        }
    }

    #[test]
    fn golden_sequence() {
        let insert = Command::new(MORE_TO_COME, |out| text(out, "insert", b"t")).sequence("documents");
        let mut out = vec![];
        insert.write(&mut out, 1, |out| super::super::bson::elements(out, |out| int(out, "_id", 5)));
        let expected: &[u8] =
            b"\x45\0\0\0\x01\0\0\0\0\0\0\0\xdd\x07\0\0\x02\0\0\0\0\x13\0\0\0\x02insert\0\x02\0\0\0t\0\0\
            \x01\x1c\0\0\0documents\0\x0e\0\0\0\x10_id\0\x05\0\0\0\0";
        assert_eq!(out.escape_ascii().to_string(), expected.escape_ascii().to_string());
    }

    #[test]
    fn what_is_no_message_is_malformed() {
        for wrong in
            [&b"HTTP/1.1 400 Bad Request"[..], b"\x10\0\0\0", &[0x7f; 20], b"\x30\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0"]
        {
            assert!(message(wrong, 0).is_err(), "{}", wrong.escape_ascii());
        }
    }
}
