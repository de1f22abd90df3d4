//! The server's side, as far as a server needs it that lets everybody in and knows a few statements.

use super::frame::{Frame, frame_of, opcode, put_answer, put_string, sized, string, two_bytes};
use super::types::CqlType;
use crate::{Decoded, Param};

const NO_METADATA: &[u8] = b"\0\0\0\x04";

/// Decodes a request's frame.
///
/// # Errors
/// It is none of version 4.
#[inline]
pub fn request(bytes: &[u8]) -> Decoded<Frame> {
    frame_of(4, bytes, 0)
}

/// The statement in the body of a request to prepare or to query.
pub fn text(body: &[u8]) -> Option<&[u8]> {
    let (start, end) = sized(body, 0)?.0?;
    Some(&body[start..end])
}

/// A client's request to execute: the statement, the first parameter, and all of them, each behind its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Executed<'a> {
    pub id: &'a [u8],
    pub param: &'a [u8],
    pub params: &'a [u8],
}

/// Decodes the body of EXECUTE: statement, consistency, flags, the parameters.
#[inline]
pub fn executed(body: &[u8]) -> Option<Executed<'_>> {
    const CONSISTENCY_AND_FLAGS_SIZE_BYTES: usize = 3;
    let (id, at) = string(body, 0)?;
    let (1.., at) = two_bytes(body, at + CONSISTENCY_AND_FLAGS_SIZE_BYTES)? else { return None };
    let (start, end) = sized(body, at)?.0?;
    Some(Executed { id, param: &body[start..end], params: &body[at..] })
}

/// Appends that the client is let in.
pub fn write_ready(out: &mut Vec<u8>, stream: u16) {
    put_answer(out, opcode::READY, stream, |_| {});
}

/// Appends that a statement was done.
#[inline]
pub fn write_void(out: &mut Vec<u8>, stream: u16) {
    put_answer(out, opcode::RESULT, stream, |out| out.extend_from_slice(b"\0\0\0\x01"));
}

/// Appends a prepared statement: its number, the types of its parameters, its columns.
pub fn write_prepared(out: &mut Vec<u8>, stream: u16, id: &[u8], params: &[CqlType], columns: &[(&str, CqlType)]) {
    put_answer(out, opcode::RESULT, stream, |out| {
        out.extend_from_slice(b"\0\0\0\x04");
        put_string(out, id);
        let params: Vec<(&str, CqlType)> = params.iter().map(|&kind| ("p", kind)).collect();
        put_columns(out, &params, true);
        if columns.is_empty() {
            out.extend_from_slice(NO_METADATA);
            out.extend_from_slice(&[0; 4]);
        } else {
            put_columns(out, columns, false);
        }
    });
}

fn put_columns(out: &mut Vec<u8>, columns: &[(&str, CqlType)], keyed: bool) {
    out.extend_from_slice(b"\0\0\0\x01");
    out.extend_from_slice(&(columns.len() as u32).to_be_bytes());
    if keyed {
        out.extend_from_slice(&[0; 4]);
    }
    if !columns.is_empty() {
        put_string(out, b"k");
        put_string(out, b"t");
    }
    for (name, kind) in columns {
        put_string(out, name.as_bytes());
        out.extend_from_slice(&kind.number().to_be_bytes());
    }
}

/// Appends rows of so many columns, without a word about these.
#[inline]
pub fn write_rows<'a>(
    out: &mut Vec<u8>,
    stream: u16,
    columns: usize,
    cells: impl Iterator<Item = (CqlType, Param<'a>)>,
) {
    put_answer(out, opcode::RESULT, stream, |out| {
        out.extend_from_slice(b"\0\0\0\x02");
        out.extend_from_slice(NO_METADATA);
        out.extend_from_slice(&(columns as u32).to_be_bytes());
        let count_at = out.len();
        out.extend_from_slice(&[0; 4]);
        let mut count = 0;
        for (kind, cell) in cells {
            kind.put(out, cell);
            count += 1;
        }
        let rows = (count / columns.max(1)) as u32;
        out[count_at..count_at + 4].copy_from_slice(&rows.to_be_bytes());
    });
}

/// Appends an error.
pub fn write_error(out: &mut Vec<u8>, stream: u16, code: u32, text: &str) {
    put_answer(out, opcode::ERROR, stream, |out| {
        out.extend_from_slice(&code.to_be_bytes());
        put_string(out, text.as_bytes());
    });
}

#[cfg(test)]
mod tests {
    use super::super::query::query;
    use super::super::statement::{Consistency, execute, prepare, prepared};
    use super::*;

    #[test]
    fn what_a_client_sends_is_understood() {
        let mut bytes = Vec::new();
        for write in [|out: &mut _| prepare(out, "SELECT 1"), |out: &mut _| query(out, "SELECT 1", Consistency::One)] {
            bytes.clear();
            write(&mut bytes);
            let frame = request(&bytes).unwrap().unwrap();
            assert_eq!(text(&bytes[frame.start..frame.end]), Some(&b"SELECT 1"[..]));
        }
        let mut described = Vec::new();
        write_prepared(&mut described, 0, b"s7", &[CqlType::Int], &[("id", CqlType::Int)]);
        let statement = prepared(&described, Consistency::One).unwrap().unwrap().0.unwrap();
        bytes.clear();
        execute(&mut bytes, &statement, 9, [Param::Int(7)].into_iter());
        let frame = request(&bytes).unwrap().unwrap();
        let body = &bytes[frame.start..frame.end];
        let execution = executed(body).unwrap();
        assert_eq!((frame.stream, execution.id, execution.param), (9, &b"s7"[..], &7u32.to_be_bytes()[..]));
        assert_eq!(execution.params, b"\0\0\0\x04\0\0\0\x07");
        for cut in 0..body.len() {
            assert_eq!(executed(&body[..cut]), None, "cut at {cut}");
        }
        assert!(request(b"GET / HTTP/1.1").is_err());
    }
}
