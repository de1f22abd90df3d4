//! RESP2, the Redis serialization protocol (<https://redis.io/docs/latest/develop/reference/protocol-spec/>).

use crate::{Decoded, Malformed, decimal, put_decimal};

/// One reply, or the head of an array whose elements follow. Texts are ranges of the bytes given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    Simple { start: usize, end: usize },
    Error { start: usize, end: usize },
    Integer(i64),
    Bulk { start: usize, end: usize },
    Nil,
    Array { len: usize },
}

/// No header line is longer than a type, a sign, 19 digits and CRLF; a status or error text is.
const MAX_HEADER_SIZE_BYTES: usize = 32;
/// Longer than any text a server words. An endless one would be searched again from its beginning with every piece that comes.
const MAX_TEXT_SIZE_BYTES: usize = 64 << 10;

/// Decodes the reply that begins at `at`, and where it ends.
///
/// # Errors
/// The bytes are not a reply.
#[inline]
pub fn reply(bytes: &[u8], at: usize) -> Decoded<(Reply, usize)> {
    let begun = &bytes[at.min(bytes.len())..];
    let is_text = matches!(begun.first(), None | Some(b'+' | b'-'));
    let most = if is_text { MAX_TEXT_SIZE_BYTES } else { MAX_HEADER_SIZE_BYTES };
    let Some(newline) = begun.iter().take(most).position(|&b| b == b'\n').map(|i| at + i) else {
        return if begun.len() < most { Ok(None) } else { Err(Malformed::expected("a reply", begun)) };
    };
    let (Some(&kind), Some(b"\r")) = (bytes.get(at), bytes.get(newline.saturating_sub(1)..newline)) else {
        return Err(Malformed::expected("a reply", &bytes[at..]));
    };
    let (start, end, next) = (at + 1, newline - 1, newline + 1);
    let number = || decimal(&bytes[start.min(end)..end]).ok_or_else(|| Malformed::expected("a number", &bytes[at..]));
    match kind {
        b'+' => Ok(Some((Reply::Simple { start, end }, next))),
        b'-' => Ok(Some((Reply::Error { start, end }, next))),
        b':' => Ok(Some((Reply::Integer(number()?), next))),
        b'$' => bulk(bytes, next, number()?),
        b'*' => match number()? {
            -1 => Ok(Some((Reply::Nil, next))),
            len @ 0..=0x7fff_ffff => Ok(Some((Reply::Array { len: len as usize }, next))),
            _ => Err(Malformed::expected("the length of an array", &bytes[at..])),
        },
        _ => Err(Malformed::expected("a reply", &bytes[at..])),
    }
}

#[inline]
fn bulk(bytes: &[u8], start: usize, len: i64) -> Decoded<(Reply, usize)> {
    if len == -1 {
        return Ok(Some((Reply::Nil, start)));
    }
    // The protocol's limit for a string.
    if !(0..=512 << 20).contains(&len) {
        return Err(Malformed(format!("expected the length of a string, got {len}")));
    }
    let end = start + len as usize;
    match bytes.get(end..end + 2) {
        None => Ok(None),
        Some(b"\r\n") => Ok(Some((Reply::Bulk { start, end }, end + 2))),
        Some(_) => Err(Malformed::expected("the end of a string", &bytes[end..])),
    }
}

/// Appends the head of a command of `parts` parts.
#[inline]
pub fn command(out: &mut Vec<u8>, parts: usize) {
    head(out, b'*', parts);
}

/// Appends one part of a command.
#[inline]
pub fn part(out: &mut Vec<u8>, bytes: &[u8]) {
    head(out, b'$', bytes.len());
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

#[inline]
fn head(out: &mut Vec<u8>, kind: u8, n: usize) {
    out.push(kind);
    put_decimal(out, n);
    out.extend_from_slice(b"\r\n");
}

/// Appends a whole command.
pub fn whole_command(out: &mut Vec<u8>, parts: &[&[u8]]) {
    command(out, parts.len());
    for bytes in parts {
        part(out, bytes);
    }
}

/// Decodes the command that begins at `at` (the server's side): its parts, and where it ends.
///
/// # Errors
/// The bytes are not a command.
pub fn parse_command(bytes: &[u8], at: usize, parts: &mut Vec<(usize, usize)>) -> Decoded<usize> {
    parts.clear();
    let Some((head, mut next)) = reply(bytes, at)? else { return Ok(None) };
    let Reply::Array { len } = head else { return Err(Malformed::expected("a command", &bytes[at..])) };
    for _ in 0..len {
        let Some((part, after)) = reply(bytes, next)? else { return Ok(None) };
        let Reply::Bulk { start, end } = part else { return Err(Malformed::expected("a string", &bytes[next..])) };
        parts.push((start, end));
        next = after;
    }
    Ok(Some(next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_command() {
        let mut out = Vec::new();
        whole_command(&mut out, &[b"SET", b"dbdyno:bm:10", b"0123456789ab"]);
        assert_eq!(out, b"*3\r\n$3\r\nSET\r\n$12\r\ndbdyno:bm:10\r\n$12\r\n0123456789ab\r\n");
        let mut parts = Vec::new();
        assert_eq!(parse_command(&out, 0, &mut parts), Ok(Some(out.len())));
        assert_eq!(&out[parts[1].0..parts[1].1], b"dbdyno:bm:10");
    }

    #[test]
    fn golden_replies() {
        let cases: [(&[u8], Reply); 8] = [
            (b"+OK\r\n", Reply::Simple { start: 1, end: 3 }),
            (b"-ERR no\r\n", Reply::Error { start: 1, end: 7 }),
            (b":-42\r\n", Reply::Integer(-42)),
            (b"$3\r\na\r\n\r\n", Reply::Bulk { start: 4, end: 7 }),
            (b"$0\r\n\r\n", Reply::Bulk { start: 4, end: 4 }),
            (b"$-1\r\n", Reply::Nil),
            (b"*2\r\n", Reply::Array { len: 2 }),
            (b"*-1\r\n", Reply::Nil),
        ];
        for (bytes, expected) in cases {
            assert_eq!(reply(bytes, 0), Ok(Some((expected, bytes.len()))), "{}", bytes.escape_ascii());
            for cut in 0..bytes.len() {
                assert_eq!(reply(&bytes[..cut], 0), Ok(None), "{} cut at {cut}", bytes.escape_ascii());
            }
        }
    }

    #[test]
    fn garbage_is_malformed() {
        for wrong in
            ["HTTP/1.1 400 Bad\r\n", "$abc\r\n", "$3\r\nabcde\r\n", ":\r\n", "*-7\r\n", "\n", "$99999999999\r\n"]
        {
            assert!(reply(wrong.as_bytes(), 0).is_err(), "{wrong:?}");
        }
        assert!(reply(&[b'$'; 40], 0).is_err());
    }
}
