//! The server's side, as far as a server needs it that lets everybody in and knows a few statements.

use super::copy::put_row;
use super::message::{c_string, frame, sized, two_bytes};
use super::statement::ScalarType;
use crate::{Decoded, Malformed, Param};

/// Decodes where the client's first message ends.
///
/// # Errors
/// It is no first message of version 3 of the protocol.
pub fn startup_message(bytes: &[u8]) -> Decoded<usize> {
    let Some(&[a, b, c, d, 0, 3, _, _]) = bytes.first_chunk() else {
        return if bytes.len() < 8 { Ok(None) } else { Err(Malformed::expected("a first message", bytes)) };
    };
    let len = u32::from_be_bytes([a, b, c, d]) as usize;
    Ok((bytes.len() >= len).then_some(len.max(8)))
}

/// The name and the SQL in the payload of a request to prepare.
pub fn parse_message(payload: &[u8]) -> Option<(&[u8], &[u8])> {
    let (name, at) = c_string(payload, 0)?;
    Some((name, c_string(payload, at)?.0))
}

/// A client's request to execute: the statement's name, the first parameter, and all of them, each behind its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound<'a> {
    pub statement: &'a [u8],
    pub param: &'a [u8],
    pub params: &'a [u8],
}

/// Decodes the payload of Bind: portal, statement, formats of the parameters, the parameters.
#[inline]
pub fn bound(payload: &[u8]) -> Option<Bound<'_>> {
    let (_, at) = c_string(payload, 0)?;
    let (statement, at) = c_string(payload, at)?;
    let (formats, at) = two_bytes(payload, at)?;
    let (count, at) = two_bytes(payload, at + 2 * usize::try_from(formats).ok()?)?;
    if count < 1 {
        return None;
    }
    let (start, end) = sized(payload, at)?.0?;
    Some(Bound { statement, param: &payload[start..end], params: &payload[at..] })
}

/// Appends that the client is let in, and may begin.
pub fn write_welcome(out: &mut Vec<u8>) {
    frame(out, b'R', |out| out.extend_from_slice(&[0; 4]));
    write_ready(out);
}

/// Appends the types of a statement's parameters and its columns.
pub fn write_description(out: &mut Vec<u8>, params: &[ScalarType], columns: &[(&str, ScalarType)]) {
    frame(out, b't', |out| {
        out.extend_from_slice(&(params.len() as u16).to_be_bytes());
        params.iter().for_each(|param| out.extend_from_slice(&param.oid().to_be_bytes()));
    });
    if columns.is_empty() {
        return frame(out, b'n', |_| {});
    }
    frame(out, b'T', |out| {
        out.extend_from_slice(&(columns.len() as u16).to_be_bytes());
        for (name, kind) in columns {
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(&[0; 1 + 4 + 2]);
            out.extend_from_slice(&kind.oid().to_be_bytes());
            out.extend_from_slice(&[0; 2 + 4 + 2]);
        }
    });
}

/// Appends that parameters were understood.
#[inline]
pub fn write_bound(out: &mut Vec<u8>) {
    out.extend_from_slice(b"2\0\0\0\x04");
}

/// Appends a row in the binary format.
#[inline]
pub fn write_row<'a>(out: &mut Vec<u8>, cells: impl ExactSizeIterator<Item = (ScalarType, Param<'a>)>) {
    frame(out, b'D', |out| put_row(out, cells));
}

/// Appends the end of a statement's answer; tag: such as `SELECT 1`.
#[inline]
pub fn write_complete(out: &mut Vec<u8>, tag: &str) {
    frame(out, b'C', |out| {
        out.extend_from_slice(tag.as_bytes());
        out.push(0);
    });
}

/// Appends that the server is ready for more, outside a transaction.
#[inline]
pub fn write_ready(out: &mut Vec<u8>) {
    out.extend_from_slice(b"Z\0\0\0\x05I");
}

/// Appends an error.
pub fn write_error(out: &mut Vec<u8>, code: &str, text: &str) {
    frame(out, b'E', |out| out.extend_from_slice(format!("SERROR\0VERROR\0C{code}\0M{text}\0\0").as_bytes()));
}

#[cfg(test)]
mod tests {
    use super::super::login::startup;
    use super::super::message::message;
    use super::super::statement::{execute, prepare, prepared};
    use super::*;

    #[test]
    fn what_a_client_sends_is_understood() {
        let mut bytes = Vec::new();
        startup(&mut bytes, "u", "d");
        assert_eq!(startup_message(&bytes), Ok(Some(bytes.len())));
        for cut in 0..bytes.len() {
            assert_eq!(startup_message(&bytes[..cut]), Ok(None), "cut at {cut}");
        }
        assert!(startup_message(b"GET / HTTP/1.1").is_err());

        bytes.clear();
        prepare(&mut bytes, "s0", "SELECT 1");
        let first = message(&bytes, 0).unwrap().unwrap();
        assert_eq!(parse_message(&bytes[first.start..first.end]), Some((&b"s0"[..], &b"SELECT 1"[..])));

        let mut described = Vec::new();
        write_description(&mut described, &[ScalarType::Int8], &[("id", ScalarType::Int8)]);
        write_ready(&mut described);
        let statement = prepared(&described, "s0").unwrap().unwrap().0.unwrap();
        bytes.clear();
        execute(&mut bytes, &statement, [Param::Int(7)].into_iter());
        let bind = message(&bytes, 0).unwrap().unwrap();
        let payload = &bytes[bind.start..bind.end];
        let request = bound(payload).unwrap();
        assert_eq!((request.statement, request.param), (&b"s0"[..], &7u64.to_be_bytes()[..]));
        assert!(request.params.starts_with(b"\0\0\0\x08\0\0\0\0\0\0\0\x07"));
        for cut in 0..payload.len() - 4 {
            assert_eq!(bound(&payload[..cut]), None, "cut at {cut}");
        }
    }
}
