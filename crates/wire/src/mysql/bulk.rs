//! Many rows in one request: COM_STMT_BULK_EXECUTE, which MariaDB has, and the client's side of LOAD DATA LOCAL.

use super::Param;
use super::packet::{Packet, ServerMessage, frame, ok_affected_rows, packet, put_lenenc, server_error};
use super::statement::put_decimal;
use crate::decimal::write_scaled;
use crate::double::write_double;
use crate::{Decoded, Malformed};

const SEND_TYPES: u16 = 128;
const TYPE_LONG: u8 = 0x03;
const TYPE_DOUBLE: u8 = 0x05;
/// Bytes without a character set: stored in a text column as they are. Text (0xfd) the server converts character by character from the
/// connection's character set, which is a third of its work for a row.
const TYPE_BLOB: u8 = 0xfc;
const TYPE_LONGLONG: u8 = 0x08;
const TYPE_NEWDECIMAL: u8 = 0xf6;
const IS_VALUE: u8 = 0;
const IS_NULL: u8 = 1;

/// The type of a parameter in all rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkType {
    Int32,
    Int64,
    Decimal,
    Double,
    Text,
}

impl BulkType {
    pub(super) fn code(self) -> u8 {
        match self {
            BulkType::Int32 => TYPE_LONG,
            BulkType::Int64 => TYPE_LONGLONG,
            BulkType::Decimal => TYPE_NEWDECIMAL,
            BulkType::Double => TYPE_DOUBLE,
            BulkType::Text => TYPE_BLOB,
        }
    }
}

/// Appends COM_STMT_BULK_EXECUTE; `rows` appends rows with [`bulk_row`], of parameters of these types.
pub fn bulk_execute(
    out: &mut Vec<u8>,
    id: u32,
    types: impl Iterator<Item = BulkType>,
    rows: impl FnOnce(&mut Vec<u8>),
) {
    frame(out, 0, |out| {
        out.push(0xfa);
        out.extend_from_slice(&id.to_le_bytes());
        out.extend_from_slice(&SEND_TYPES.to_le_bytes());
        for of in types {
            out.extend_from_slice(&[of.code(), 0]);
        }
        rows(out);
    });
}

/// Appends a row of COM_STMT_BULK_EXECUTE.
#[inline]
pub fn bulk_row<'a>(out: &mut Vec<u8>, values: impl Iterator<Item = (BulkType, Param<'a>)>) {
    for (of, value) in values {
        out.push(if value == Param::Null { IS_NULL } else { IS_VALUE });
        match value {
            Param::Int(n) if of == BulkType::Int32 => out.extend_from_slice(&(n as i32).to_le_bytes()),
            Param::Int(n) => out.extend_from_slice(&n.to_le_bytes()),
            Param::Decimal { unscaled, scale } => put_decimal(out, unscaled, scale),
            Param::Double(bits) => out.extend_from_slice(&bits.to_le_bytes()),
            Param::Text(text) => {
                put_lenenc(out, text.len() as u64);
                out.extend_from_slice(text);
            }
            Param::Null => {}
        }
    }
}

/// Appends a line of LOAD DATA as it is by default: columns end with a tab, lines with a newline, and `\` takes a byte as it is.
#[inline]
pub fn load_line<'a>(out: &mut Vec<u8>, values: impl Iterator<Item = Param<'a>>) {
    for (i, value) in values.enumerate() {
        if i > 0 {
            out.push(b'\t');
        }
        match value {
            Param::Int(n) => out.extend_from_slice(n.to_string().as_bytes()),
            Param::Decimal { unscaled, scale } => write_scaled(unscaled, scale, out),
            Param::Double(bits) => write_double(bits, out),
            Param::Null => out.extend_from_slice(b"\\N"),
            Param::Text(text) => {
                for &byte in text {
                    if matches!(byte, b'\t' | b'\n' | b'\\') {
                        out.push(b'\\');
                    }
                    out.push(byte);
                }
            }
        }
    }
    out.push(b'\n');
}

/// The server's answer to LOAD DATA LOCAL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadAnswer {
    /// It waits for the lines, in packets from this sequence number on, and an empty one. The file that it names is not looked at.
    Send {
        sequence: u8,
    },
    /// So many rows were added.
    Added(u64),
    Error(ServerMessage),
}

/// Decodes an answer to LOAD DATA LOCAL: to the statement, or to its lines.
///
/// # Errors
/// The bytes are no such answer.
pub fn load_answer(bytes: &[u8]) -> Decoded<(LoadAnswer, usize)> {
    let Some(Packet { sequence, start, end }) = packet(bytes, 0)? else { return Ok(None) };
    let payload = &bytes[start..end];
    let answer = match (payload.first(), ok_affected_rows(payload)) {
        (Some(0xfb), _) => LoadAnswer::Send { sequence: sequence.wrapping_add(1) },
        (_, Some(rows)) => LoadAnswer::Added(rows),
        _ => match server_error(payload)? {
            Some(error) => LoadAnswer::Error(error),
            None => return Err(Malformed::expected("an answer to LOAD DATA", payload)),
        },
    };
    Ok(Some((answer, end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_bulk_execute() {
        let mut out = Vec::new();
        let types = [BulkType::Int32, BulkType::Text];
        bulk_execute(&mut out, 7, types.into_iter(), |out| {
            bulk_row(out, types.into_iter().zip([Param::Int(258), Param::Text(b"ab")]));
            bulk_row(out, types.into_iter().zip([Param::Int(-1), Param::Text(b"")]));
        });
        let head = b"\x1b\x00\x00\x00\xfa\x07\x00\x00\x00\x80\x00\x03\x00\xfc\x00";
        let rows = b"\x00\x02\x01\x00\x00\x00\x02ab\x00\xff\xff\xff\xff\x00\x00";
        assert_eq!(out, [&head[..], rows].concat());
    }

    #[test]
    fn wide_numbers_decimals_and_nulls_in_bulk() {
        let mut out = Vec::new();
        let params = [Param::Int(1), Param::Decimal { unscaled: 5, scale: 1 }, Param::Null];
        bulk_row(&mut out, [BulkType::Int64, BulkType::Decimal, BulkType::Text].into_iter().zip(params));
        assert_eq!(out, b"\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x030.5\x01");
        out.clear();
        load_line(&mut out, params.into_iter());
        assert_eq!(out, b"1\t0.5\t\\N\n");
    }

    #[test]
    fn a_line_keeps_what_would_end_it() {
        let mut out = Vec::new();
        load_line(&mut out, [Param::Int(-1), Param::Text(b"a\tb\\\n")].into_iter());
        assert_eq!(out, b"-1\ta\\\tb\\\\\\\n\n");
    }

    #[test]
    fn answers_to_load_data() {
        let answer = |payload: &[u8]| {
            let mut bytes = Vec::new();
            frame(&mut bytes, 1, |out| out.extend_from_slice(payload));
            assert_eq!(load_answer(&bytes[..bytes.len() - 1]), Ok(None));
            load_answer(&bytes).map(|decoded| decoded.unwrap().0)
        };
        assert_eq!(answer(b"\xfbrows"), Ok(LoadAnswer::Send { sequence: 2 }));
        assert_eq!(answer(b"\x00\x05\x00\x02\x00\x00\x00"), Ok(LoadAnswer::Added(5)));
        let Ok(LoadAnswer::Error(error)) = answer(b"\xff\x6c\x0f#42000off") else { panic!() };
        assert_eq!(error.code, 3948);
        assert!(answer(b"\x07").is_err());
    }
}
