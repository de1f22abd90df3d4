//! The memcached text protocol (memcached's `doc/protocol.txt`), the dialect that every server of that family speaks.

use crate::{Decoded, Malformed, decimal, put_decimal};

/// The server's answer to a `get` of one key. Texts are ranges of the bytes given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Got {
    Hit { start: usize, end: usize },
    Miss,
    Error { start: usize, end: usize },
}

/// Longest line that is no value: an error text.
const MAX_LINE_SIZE_BYTES: usize = 2048;

/// Decodes the answer to a `get` of one key, and where it ends.
///
/// # Errors
/// The bytes are no such answer.
#[inline]
pub fn got(bytes: &[u8]) -> Decoded<(Got, usize)> {
    let Some((first, value_end)) = next_value(bytes)? else { return Ok(None) };
    let Got::Hit { .. } = first else { return Ok(Some((first, value_end))) };
    let tail = b"END\r\n";
    match bytes.get(value_end..value_end + tail.len()) {
        Some(ending) if ending == tail => Ok(Some((first, value_end + tail.len()))),
        Some(ending) => Err(Malformed::expected("the end of an answer", ending)),
        None => Ok(None),
    }
}

/// Decodes the next value in the answer to a `get` of several keys, which has only those that are there; [`Got::Miss`] is its end.
///
/// # Errors
/// The bytes are no such answer.
#[inline]
pub fn next_value(bytes: &[u8]) -> Decoded<(Got, usize)> {
    let Some((end, next)) = line(bytes, 0)? else { return Ok(None) };
    let head = &bytes[..end];
    if head == b"END" {
        return Ok(Some((Got::Miss, next)));
    }
    let Some(fields) = head.strip_prefix(b"VALUE ") else {
        return error_line(head, next);
    };
    let size = fields.split(|&b| b == b' ').nth(2).and_then(decimal);
    let Some(size) = size.and_then(|n| usize::try_from(n).ok()).filter(|&n| n <= 1 << 30) else {
        return Err(Malformed::expected("VALUE key flags size", head));
    };
    let (value_end, tail) = (next + size, b"\r\n");
    match bytes.get(value_end..value_end + tail.len()) {
        Some(ending) if ending == tail => Ok(Some((Got::Hit { start: next, end: value_end }, value_end + tail.len()))),
        Some(ending) => Err(Malformed::expected("the end of a value", ending)),
        None => Ok(None),
    }
}

fn error_line(head: &[u8], next: usize) -> Decoded<(Got, usize)> {
    if is_error(head) {
        Ok(Some((Got::Error { start: 0, end: head.len() }, next)))
    } else {
        Err(Malformed::expected("VALUE or END", head))
    }
}

/// Returns whether a line is one of the protocol's three error answers.
pub fn is_error(line: &[u8]) -> bool {
    line == b"ERROR" || line.starts_with(b"CLIENT_ERROR") || line.starts_with(b"SERVER_ERROR")
}

/// Decodes one line: where it ends without CRLF, and where the next begins.
///
/// # Errors
/// There is no end of line where one must be.
#[inline]
pub fn line(bytes: &[u8], at: usize) -> Decoded<(usize, usize)> {
    let begun = &bytes[at.min(bytes.len())..];
    match begun.iter().take(MAX_LINE_SIZE_BYTES).position(|&b| b == b'\n') {
        Some(newline) if newline > 0 && begun[newline - 1] == b'\r' => Ok(Some((at + newline - 1, at + newline + 1))),
        None if begun.len() < MAX_LINE_SIZE_BYTES => Ok(None),
        _ => Err(Malformed::expected("a line", begun)),
    }
}

/// Appends `get key`.
#[inline]
pub fn get(out: &mut Vec<u8>, key: &[u8]) {
    out.extend_from_slice(b"get ");
    out.extend_from_slice(key);
    out.extend_from_slice(b"\r\n");
}

/// Appends ` key`, after `get`.
#[inline]
pub fn one_more_key(out: &mut Vec<u8>, key: &[u8]) {
    out.push(b' ');
    out.extend_from_slice(key);
}

/// Appends `gets key`.
pub fn gets(out: &mut Vec<u8>, key: &[u8]) {
    out.extend_from_slice(b"gets ");
    out.extend_from_slice(key);
    out.extend_from_slice(b"\r\n");
}

/// The number for `cas` in the answer to a `gets`, a hit; 0 of a server that keeps none.
pub fn unique(bytes: &[u8]) -> u64 {
    let head = bytes.split(|&byte| byte == b'\r').next().unwrap_or_default();
    let number = head.split(|&byte| byte == b' ').nth(4).and_then(|digits| std::str::from_utf8(digits).ok());
    number.and_then(|digits| digits.parse().ok()).unwrap_or_default()
}

/// Appends `add key 0 0 size` and the value, which is stored if there is no such key.
#[inline]
pub fn add(out: &mut Vec<u8>, key: &[u8], value: &[u8]) {
    with_value(out, b"add ", key, b" 0 0 ", value);
}

/// Appends `cas key`, flags and time to live as ` 0 60 `, size, `unique` and the value, which is stored if the key is as it was then.
pub fn cas(out: &mut Vec<u8>, key: &[u8], expiry: &[u8], value: &[u8], unique: u64) {
    out.extend_from_slice(b"cas ");
    out.extend_from_slice(key);
    out.extend_from_slice(expiry);
    put_decimal(out, value.len());
    out.push(b' ');
    out.extend_from_slice(unique.to_string().as_bytes());
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

/// Appends `set key 0 0 size` and the value.
#[inline]
pub fn set(out: &mut Vec<u8>, key: &[u8], value: &[u8]) {
    with_value(out, b"set ", key, b" 0 0 ", value);
}

/// Appends `set key`, flags and time to live as ` 0 60 `, size and the value.
#[inline]
pub fn set_until(out: &mut Vec<u8>, key: &[u8], expiry: &[u8], value: &[u8]) {
    with_value(out, b"set ", key, expiry, value);
}

/// Appends `incr key amount`, or `decr` if the amount is negative: the server adds to a number in words, and never goes below 0.
pub fn add_to(out: &mut Vec<u8>, key: &[u8], amount: i64) {
    out.extend_from_slice(if amount < 0 { b"decr " } else { b"incr " });
    out.extend_from_slice(key);
    out.push(b' ');
    put_decimal(out, amount.unsigned_abs() as usize);
    out.extend_from_slice(b"\r\n");
}

/// The server's answer to `incr`: the number that it is now, or where its error lies in the bytes given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counted {
    Number(i64),
    Missing,
    Error { start: usize, end: usize },
}

/// Decodes the answer to `incr`.
///
/// # Errors
/// The bytes are no such answer.
pub fn number_after(bytes: &[u8]) -> Decoded<(Counted, usize)> {
    let Some((end, next)) = line(bytes, 0)? else { return Ok(None) };
    let said = match (&bytes[..end], decimal(&bytes[..end])) {
        (b"NOT_FOUND", _) => Counted::Missing,
        (_, Some(number)) => Counted::Number(number),
        (error, None) if is_error(error) => Counted::Error { start: 0, end },
        (other, None) => return Err(Malformed::expected("a number", other)),
    };
    Ok(Some((said, next)))
}

/// Appends `VALUE key 0 size` and the value (the server's side).
#[inline]
pub fn value(out: &mut Vec<u8>, key: &[u8], value: &[u8]) {
    with_value(out, b"VALUE ", key, b" 0 ", value);
}

#[inline]
fn with_value(out: &mut Vec<u8>, word: &[u8], key: &[u8], between: &[u8], value: &[u8]) {
    out.extend_from_slice(word);
    out.extend_from_slice(key);
    out.extend_from_slice(between);
    put_decimal(out, value.len());
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

/// Appends `delete key`.
#[inline]
pub fn delete(out: &mut Vec<u8>, key: &[u8]) {
    out.extend_from_slice(b"delete ");
    out.extend_from_slice(key);
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_added_to_and_answered() {
        let mut out = Vec::new();
        add_to(&mut out, b"k", 3);
        add_to(&mut out, b"k", -20);
        assert_eq!(out, b"incr k 3\r\ndecr k 20\r\n");
        assert_eq!(number_after(b"43\r\n"), Ok(Some((Counted::Number(43), 4))));
        assert_eq!(number_after(b"NOT_FOUND\r\n"), Ok(Some((Counted::Missing, 11))));
        assert_eq!(number_after(b"4"), Ok(None));
        let refusal = b"CLIENT_ERROR cannot increment or decrement non-numeric value\r\n";
        let error = Counted::Error { start: 0, end: refusal.len() - 2 };
        assert_eq!(number_after(refusal), Ok(Some((error, refusal.len()))));
        assert!(number_after(b"STORED\r\n").is_err());
    }

    #[test]
    fn golden_requests() {
        let mut out = Vec::new();
        get(&mut out, b"dbdyno:bm:1");
        set(&mut out, b"k", b"a\r\nb");
        delete(&mut out, b"k");
        set_until(&mut out, b"k", b" 0 60 ", b"c");
        let expected = b"get dbdyno:bm:1\r\nset k 0 0 4\r\na\r\nb\r\ndelete k\r\nset k 0 60 1\r\nc\r\n";
        assert_eq!(out, expected);
    }

    #[test]
    fn golden_answers() {
        let cases: [(&[u8], Got); 5] = [
            (b"VALUE k 0 4\r\na\r\nb\r\nEND\r\n", Got::Hit { start: 13, end: 17 }),
            (b"VALUE k 0 0\r\n\r\nEND\r\n", Got::Hit { start: 13, end: 13 }),
            (b"END\r\n", Got::Miss),
            (b"ERROR\r\n", Got::Error { start: 0, end: 5 }),
            (b"SERVER_ERROR out of memory\r\n", Got::Error { start: 0, end: 26 }),
        ];
        for (bytes, expected) in cases {
            assert_eq!(got(bytes), Ok(Some((expected, bytes.len()))), "{}", bytes.escape_ascii());
            for cut in 0..bytes.len() {
                assert_eq!(got(&bytes[..cut]), Ok(None), "{} cut at {cut}", bytes.escape_ascii());
            }
        }
    }

    #[test]
    fn what_is_stored_only_if_nothing_changed() {
        let mut out = Vec::new();
        gets(&mut out, b"k");
        add(&mut out, b"k", b"a");
        cas(&mut out, b"k", b" 0 -1 ", b"", u64::MAX);
        assert_eq!(out, b"gets k\r\nadd k 0 0 1\r\na\r\ncas k 0 -1 0 18446744073709551615\r\n\r\n");
        let answer = b"VALUE k 0 1 18446744073709551615\r\na\r\nEND\r\n";
        assert_eq!((got(answer).unwrap().unwrap().1, unique(answer)), (answer.len(), u64::MAX));
        assert_eq!(unique(b"VALUE k 0 1\r\na\r\nEND\r\n"), 0);
    }

    #[test]
    fn several_values_end_with_a_miss() {
        let bytes = b"VALUE a 0 1\r\nx\r\nVALUE b 0 2\r\nEN\r\nEND\r\n";
        assert_eq!(next_value(bytes), Ok(Some((Got::Hit { start: 13, end: 14 }, 16))));
        assert_eq!(next_value(&bytes[16..]), Ok(Some((Got::Hit { start: 13, end: 15 }, 17))));
        assert_eq!(next_value(&bytes[33..]), Ok(Some((Got::Miss, 5))));
    }

    #[test]
    fn garbage_is_malformed() {
        for wrong in ["STORED\r\n", "VALUE k 0\r\n", "VALUE k 0 -1\r\n", "VALUE k 0 2\r\nabcdefghijk", "\n", "x\n"] {
            assert!(got(wrong.as_bytes()).is_err(), "{wrong:?}");
        }
        assert!(got(&[b'x'; 4000]).is_err());
    }
}
