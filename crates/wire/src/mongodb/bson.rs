//! BSON documents: a length, elements (a type, a name that ends with a zero byte, a value), a zero byte.

use crate::{Cell, Malformed};

pub(super) const DOUBLE: u8 = 0x01;
pub(super) const STRING: u8 = 0x02;
pub(super) const DOCUMENT: u8 = 0x03;
pub(super) const ARRAY: u8 = 0x04;
pub(super) const BINARY: u8 = 0x05;
pub(super) const BOOLEAN: u8 = 0x08;
pub(super) const INT32: u8 = 0x10;
pub(super) const INT64: u8 = 0x12;

const LENGTH_SIZE_BYTES: usize = 4;
/// A length and the zero byte at the end.
const LEAST_DOCUMENT_SIZE_BYTES: usize = 5;

#[inline]
fn head(out: &mut Vec<u8>, kind: u8, name: &str) {
    out.push(kind);
    out.extend_from_slice(name.as_bytes());
    out.push(0);
}

/// Appends a whole number, in 32 bits if it fits, as client libraries do.
#[inline]
pub fn int(out: &mut Vec<u8>, name: &str, n: i64) {
    match i32::try_from(n) {
        Ok(n) => {
            head(out, INT32, name);
            out.extend_from_slice(&n.to_le_bytes());
        }
        Err(_) => {
            head(out, INT64, name);
            out.extend_from_slice(&n.to_le_bytes());
        }
    }
}

/// Appends a number in double precision, given by its bits.
pub fn double(out: &mut Vec<u8>, name: &str, bits: u64) {
    head(out, DOUBLE, name);
    out.extend_from_slice(&bits.to_le_bytes());
}

/// Appends a text.
#[inline]
pub fn text(out: &mut Vec<u8>, name: &str, text: &[u8]) {
    head(out, STRING, name);
    out.extend_from_slice(&(text.len() as u32 + 1).to_le_bytes());
    out.extend_from_slice(text);
    out.push(0);
}

/// Appends true or false.
pub fn boolean(out: &mut Vec<u8>, name: &str, value: bool) {
    head(out, BOOLEAN, name);
    out.push(u8::from(value));
}

/// Appends bytes of no certain kind.
pub fn binary(out: &mut Vec<u8>, name: &str, bytes: &[u8]) {
    head(out, BINARY, name);
    out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    out.push(0);
    out.extend_from_slice(bytes);
}

/// Appends a document whose elements `write` appends.
#[inline]
pub fn document(out: &mut Vec<u8>, name: &str, write: impl FnOnce(&mut Vec<u8>)) {
    head(out, DOCUMENT, name);
    elements(out, write);
}

/// Appends an array whose elements, named "0", "1" … , `write` appends.
#[inline]
pub fn array(out: &mut Vec<u8>, name: &str, write: impl FnOnce(&mut Vec<u8>)) {
    head(out, ARRAY, name);
    elements(out, write);
}

/// Appends a document without a name: an answer's, or one of a sequence.
#[inline]
pub fn elements(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let at = begin(out);
    write(out);
    out.push(0);
    end(out, at);
}

/// Appends room for a length and says where it is.
#[inline]
pub(super) fn begin(out: &mut Vec<u8>) -> usize {
    out.extend_from_slice(&[0; LENGTH_SIZE_BYTES]);
    out.len() - LENGTH_SIZE_BYTES
}

/// Writes the length of what began at `at`, itself included, and ends `out`.
#[inline]
pub(super) fn end(out: &mut [u8], at: usize) {
    let size_bytes = (out.len() - at) as u32;
    out[at..at + LENGTH_SIZE_BYTES].copy_from_slice(&size_bytes.to_le_bytes());
}

/// Appends the head of a document or array that is left open: [`begin`] follows.
pub(super) fn open(out: &mut Vec<u8>, kind: u8, name: &str) -> usize {
    head(out, kind, name);
    begin(out)
}

/// The elements of a document that have not been read: from `at` to its last byte, at `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Elements {
    pub at: usize,
    pub end: usize,
}

/// An element in place: its value is `bytes[value..next]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Element<'b> {
    pub kind: u8,
    pub name: &'b [u8],
    pub value: usize,
    pub next: usize,
}

#[cold]
fn malformed(bytes: &[u8], at: usize) -> Malformed {
    Malformed::expected("a BSON document", &bytes[at.min(bytes.len())..])
}

#[inline]
pub(super) fn four_bytes(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The document that begins at `at` and ends at or before `limit`.
#[inline]
pub(super) fn read(bytes: &[u8], at: usize, limit: usize) -> Result<Elements, Malformed> {
    let size_bytes = four_bytes(bytes, at).ok_or_else(|| malformed(bytes, at))? as usize;
    let end = at + size_bytes;
    if size_bytes < LEAST_DOCUMENT_SIZE_BYTES || end > limit || bytes.get(end - 1) != Some(&0) {
        return Err(malformed(bytes, at));
    }
    Ok(Elements { at: at + LENGTH_SIZE_BYTES, end: end - 1 })
}

impl Elements {
    /// The next element; `None` at the end.
    #[inline]
    pub fn next<'b>(&mut self, bytes: &'b [u8]) -> Result<Option<Element<'b>>, Malformed> {
        if self.at >= self.end {
            return Ok(None);
        }
        let (kind, start) = (bytes[self.at], self.at + 1);
        let name = bytes[start..self.end].iter().position(|&b| b == 0).ok_or_else(|| malformed(bytes, self.at))?;
        let value = start + name + 1;
        let next = self.value_end(bytes, kind, value)?;
        self.at = next;
        Ok(Some(Element { kind, name: &bytes[start..start + name], value, next }))
    }

    /// The next element's value if it is a number or a text of this name, which ends with its zero byte, in the fewest steps.
    #[inline]
    pub fn next_named(&mut self, bytes: &[u8], name: &[u8]) -> Option<Cell> {
        let value = self.at + 1 + name.len();
        if value > self.end || &bytes[self.at + 1..value] != name {
            return None;
        }
        let number = four_bytes(&bytes[..self.end], value)?;
        let (cell, next) = match bytes[self.at] {
            INT32 => (Cell::Int(i64::from(number as i32)), value + 4),
            STRING => {
                let (start, next) = (value + 4, value + 4 + number as usize);
                if number == 0 || next > self.end || bytes[next - 1] != 0 {
                    return None;
                }
                (Cell::Text { start, end: next - 1 }, next)
            }
            _ => return None,
        };
        self.at = next;
        Some(cell)
    }

    /// The end of a value of this type that begins at `at`.
    #[inline]
    fn value_end(&self, bytes: &[u8], kind: u8, at: usize) -> Result<usize, Malformed> {
        let sized = |more: usize| four_bytes(&bytes[..self.end], at).map(|size_bytes| at + size_bytes as usize + more);
        let end = match kind {
            // Undefined, null, the least and the greatest key.
            0x06 | 0x0a | 0xff | 0x7f => Some(at),
            BOOLEAN => Some(at + 1),
            INT32 => Some(at + 4),
            // Numbers of 64 bits, points in time.
            DOUBLE | 0x09 | 0x11 | INT64 => Some(at + 8),
            // An object's identifier, a decimal number.
            0x07 => Some(at + 12),
            0x13 => Some(at + 16),
            // Texts, also code and symbols.
            STRING | 0x0d | 0x0e => sized(4).filter(|&end| end > at + 4 && bytes.get(end - 1) == Some(&0)),
            BINARY => sized(5),
            DOCUMENT | ARRAY => Some(read(bytes, at, self.end)?.end + 1),
            _ => None,
        };
        end.filter(|&end| end <= self.end).ok_or_else(|| malformed(bytes, at))
    }
}

impl Element<'_> {
    /// The value if it is a number or a text, which is what rows are made of, or a document, as its bytes; anything else counts as NULL.
    #[inline]
    pub fn cell(&self, bytes: &[u8]) -> Cell {
        match self.kind {
            STRING => Cell::Text { start: self.value + 4, end: self.next - 1 },
            BINARY => Cell::Text { start: self.value + 5, end: self.next },
            INT32 | INT64 | DOUBLE => self.number(bytes).map_or(Cell::Null, Cell::Int),
            DOCUMENT => Cell::Text { start: self.value, end: self.next },
            _ => Cell::Null,
        }
    }

    /// A whole number of any type.
    #[inline]
    pub fn number(&self, bytes: &[u8]) -> Option<i64> {
        let eight = || bytes[self.value..].first_chunk().copied();
        match self.kind {
            INT32 => four_bytes(bytes, self.value).map(|n| i64::from(n as i32)),
            INT64 => eight().map(i64::from_le_bytes),
            DOUBLE => eight()
                .map(f64::from_le_bytes)
                .filter(|n| n.fract() == 0.0 && n.abs() < 2f64.powi(63))
                .map(|n| n as i64),
            BOOLEAN => Some(i64::from(bytes[self.value] != 0)),
            _ => None,
        }
    }

    /// The bits of a number of any type in double precision.
    pub fn double(&self, bytes: &[u8]) -> Cell {
        let bits = match self.kind {
            DOUBLE => bytes[self.value..].first_chunk().copied().map(u64::from_le_bytes),
            _ => self.number(bytes).map(|n| (n as f64).to_bits()),
        };
        bits.map_or(Cell::Null, |bits| Cell::Int(bits as i64))
    }

    /// The text, or the bytes of a binary value.
    pub fn bytes<'b>(&self, bytes: &'b [u8]) -> Option<&'b [u8]> {
        match self.kind {
            STRING => Some(&bytes[self.value + 4..self.next - 1]),
            BINARY => Some(&bytes[self.value + 5..self.next]),
            _ => None,
        }
    }

    /// The elements of a document or array.
    pub fn inside(&self, bytes: &[u8]) -> Option<Elements> {
        matches!(self.kind, DOCUMENT | ARRAY).then(|| read(bytes, self.value, self.next).ok()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `{"hello": "world"}` of the specification, and `{"BSON": ["awesome", 5.05, 1986]}`.
    const HELLO: &[u8] = b"\x16\0\0\0\x02hello\0\x06\0\0\0world\0\0";
    const AWESOME: &[u8] = b"\x31\0\0\0\x04BSON\0\x26\0\0\0\x02\x30\0\x08\0\0\0awesome\0\x01\x31\0\x33\x33\x33\x33\x33\x33\x14\x40\x10\x32\0\xc2\x07\0\0\0\0";

    #[test]
    fn golden_documents() {
        let mut out = Vec::new();
        elements(&mut out, |out| text(out, "hello", b"world"));
        assert_eq!(out, HELLO);
        let mut all = read(HELLO, 0, HELLO.len()).unwrap();
        assert_eq!(all.next_named(HELLO, b"hello\0"), Some(Cell::Text { start: 15, end: 20 }));
        assert_eq!(all.next(HELLO), Ok(None));
        let bson = read(AWESOME, 0, AWESOME.len()).unwrap().next(AWESOME).unwrap().unwrap();
        let mut inside = bson.inside(AWESOME).unwrap();
        let mut values = vec![];
        while let Some(element) = inside.next(AWESOME).unwrap() {
            values.push(element.cell(AWESOME));
        }
        assert_eq!((bson.name, values.len()), (&b"BSON"[..], 3));
        assert_eq!(values[1..], [Cell::Null, Cell::Int(1986)]);
    }

    #[test]
    fn bytes_that_are_no_text_come_back() {
        let mut out = Vec::new();
        elements(&mut out, |out| binary(out, "b", b"\xff\0\xfe"));
        let element = read(&out, 0, out.len()).unwrap().next(&out).unwrap().unwrap();
        let Cell::Text { start, end } = element.cell(&out) else { panic!("{element:?}") };
        assert_eq!(out[start..end], *b"\xff\0\xfe");
    }

    #[test]
    fn numbers_of_any_type_are_read_alike() {
        let mut out = Vec::new();
        elements(&mut out, |out| {
            int(out, "a", -7);
            int(out, "b", 1 << 40);
            head(out, DOUBLE, "c");
            out.extend_from_slice(&12f64.to_le_bytes());
        });
        let mut all = read(&out, 0, out.len()).unwrap();
        let mut numbers = vec![];
        while let Some(element) = all.next(&out).unwrap() {
            numbers.push(element.number(&out));
        }
        assert_eq!(numbers, [Some(-7), Some(1 << 40), Some(12)]);
    }

    #[test]
    fn what_leads_out_of_a_document_is_malformed() {
        for (at, byte) in [(0, 0x17), (0, 4), (0, 0xff), (11, 0x07), (11, 0), (4, 0x77), (21, 1)] {
            let mut bytes = HELLO.to_vec();
            bytes[at] = byte;
            let walked = read(&bytes, 0, bytes.len()).and_then(|mut all| {
                assert_eq!(all.next_named(&bytes, b"hello\0"), None);
                all.next(&bytes)
            });
            assert!(walked.is_err(), "{at} {byte}");
        }
    }
}
