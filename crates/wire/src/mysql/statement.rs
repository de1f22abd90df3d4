//! Prepared statements and their answers, in the binary protocol.

use super::bulk::BulkType;
use super::packet::{Packet, ServerMessage, frame, lenenc, ok_affected_rows, packet, put_lenenc, server_error};
use crate::calendar::digits;
use crate::decimal::{read_scaled, write_scaled};
use crate::{Cell, Decoded, Malformed, Param};

/// How a column's values are encoded in a binary row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnType {
    code: u8,
    unsigned: bool,
    /// At which scale a decimal number is read.
    pub scale: u8,
}

const TYPE_LONGLONG: u8 = 0x08;
const TYPE_VAR_STRING: u8 = 0xfd;
const TYPE_LONG: u8 = 0x03;
const TYPE_DOUBLE: u8 = 0x05;
const TYPE_NEWDECIMAL: u8 = 0xf6;
/// TIMESTAMP, DATE, DATETIME.
const TYPES_OF_DATES: [u8; 3] = [0x07, 0x0a, 0x0c];

/// A prepared statement as the server described it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prepared {
    pub id: u32,
    pub params: usize,
    pub columns: Vec<ColumnType>,
}

/// The agreement of the two sides when the connection was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// No EOF packet between column definitions and rows.
    pub deprecate_eof: bool,
    /// The column count is followed by a byte that says whether column definitions follow.
    pub cached_metadata: bool,
}

/// The answer to an executed statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Affected(u64),
    Rows(u64),
    Error(ServerMessage),
}

/// Appends COM_STMT_PREPARE.
pub fn prepare(out: &mut Vec<u8>, sql: &str) {
    command(out, 0x16, sql.as_bytes());
}

pub(super) fn command(out: &mut Vec<u8>, code: u8, body: &[u8]) {
    frame(out, 0, |out| {
        out.push(code);
        out.extend_from_slice(body);
    });
}

/// Appends COM_STMT_EXECUTE. `types` must be true the first time, and if a parameter is NULL, and the next time after that: the server
/// remembers the parameters' types.
#[inline]
pub fn execute<'a>(out: &mut Vec<u8>, id: u32, params: impl ExactSizeIterator<Item = Param<'a>> + Clone, types: bool) {
    frame(out, 0, |out| {
        out.push(0x17);
        out.extend_from_slice(&id.to_le_bytes());
        out.extend_from_slice(&[0, 1, 0, 0, 0]);
        if params.len() == 0 {
            return;
        }
        let nulls = out.len();
        out.resize(nulls + params.len().div_ceil(8), 0);
        out.push(u8::from(types));
        if types {
            for param in params.clone() {
                let code = match param {
                    Param::Int(_) => TYPE_LONGLONG,
                    Param::Decimal { .. } => TYPE_NEWDECIMAL,
                    Param::Double(_) => TYPE_DOUBLE,
                    Param::Text(_) | Param::Null => TYPE_VAR_STRING,
                };
                out.extend_from_slice(&[code, 0]);
            }
        }
        for (i, param) in params.enumerate() {
            match param {
                Param::Int(n) => out.extend_from_slice(&n.to_le_bytes()),
                Param::Text(text) => put_text(out, text),
                Param::Decimal { unscaled, scale } => put_decimal(out, unscaled, scale),
                Param::Double(bits) => out.extend_from_slice(&bits.to_le_bytes()),
                Param::Null => out[nulls + i / 8] |= 1 << (i % 8),
            }
        }
    });
}

#[inline]
fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    put_lenenc(out, text.len() as u64);
    out.extend_from_slice(text);
}

/// A decimal number goes as text; the longest of 64 bits is far below the 251 bytes whose length needs more than one.
pub(super) fn put_decimal(out: &mut Vec<u8>, unscaled: i64, scale: u8) {
    let length = out.len();
    out.push(0);
    write_scaled(unscaled, scale, out);
    out[length] = (out.len() - length - 1) as u8;
}

/// Decodes the answer to COM_STMT_PREPARE.
///
/// # Errors
/// The bytes are no such answer.
pub fn prepared(bytes: &[u8], dialect: Dialect) -> Decoded<(Result<Prepared, ServerMessage>, usize)> {
    let Some(first) = packet(bytes, 0)? else { return Ok(None) };
    let payload = &bytes[first.start..first.end];
    if let Some(error) = server_error(payload)? {
        return Ok(Some((Err(error), first.end)));
    }
    let [0, a, b, c, d, columns_low, columns_high, params_low, params_high, ..] = *payload else {
        return Err(Malformed::expected("a prepared statement", payload));
    };
    let params = usize::from(u16::from_le_bytes([params_low, params_high]));
    let count = usize::from(u16::from_le_bytes([columns_low, columns_high]));
    let Some(at) = skip_definitions(bytes, first.end, params, dialect)? else { return Ok(None) };
    let mut columns = Vec::with_capacity(count);
    let Some(end) = definitions(bytes, at, count, dialect, |column| columns.push(column))? else { return Ok(None) };
    Ok(Some((Ok(Prepared { id: u32::from_le_bytes([a, b, c, d]), params, columns }), end)))
}

fn skip_definitions(bytes: &[u8], at: usize, count: usize, dialect: Dialect) -> Decoded<usize> {
    let packets = if count == 0 { 0 } else { count + usize::from(!dialect.deprecate_eof) };
    let mut at = at;
    for _ in 0..packets {
        let Some(Packet { end, .. }) = packet(bytes, at)? else { return Ok(None) };
        at = end;
    }
    Ok(Some(at))
}

fn definitions(
    bytes: &[u8],
    at: usize,
    count: usize,
    dialect: Dialect,
    mut column: impl FnMut(ColumnType),
) -> Decoded<usize> {
    let mut next = at;
    for _ in 0..count {
        let Some(Packet { start, end, .. }) = packet(bytes, next)? else { return Ok(None) };
        let payload = &bytes[start..end];
        column(definition(payload).ok_or_else(|| Malformed::expected("a column definition", payload))?);
        next = end;
    }
    skip_definitions(bytes, at, count, dialect)
}

/// Six names, the length of the rest, character set, length, type, flags.
fn definition(payload: &[u8]) -> Option<ColumnType> {
    let mut at = 0;
    for _ in 0..6 {
        let (len, next) = lenenc(payload, at)?;
        at = next.checked_add(usize::try_from(len).ok()?)?;
    }
    let rest = payload.get(at..)?;
    Some(ColumnType { code: *rest.get(7)?, unsigned: rest.get(8)? & 0x20 != 0, scale: 0 })
}

/// Decodes the answer that begins at `at` to an executed statement whose columns are `columns`, and where it ends. `cell` is given every
/// value of every row, also of an answer that turns out to be incomplete.
///
/// # Errors
/// The bytes are no such answer.
#[inline]
pub fn answer(
    bytes: &[u8],
    at: usize,
    columns: &[ColumnType],
    dialect: Dialect,
    mut cell: impl FnMut(Cell),
) -> Decoded<(Answer, usize)> {
    let Some(first) = packet(bytes, at)? else { return Ok(None) };
    let payload = &bytes[first.start..first.end];
    if let Some(affected) = ok_affected_rows(payload) {
        return Ok(Some((Answer::Affected(affected), first.end)));
    }
    if let Some(error) = server_error(payload)? {
        return Ok(Some((Answer::Error(error), first.end)));
    }
    let Some(mut at) = skip_header(bytes, first, columns.len(), dialect)? else { return Ok(None) };
    let mut rows = 0;
    loop {
        let Some(Packet { start, end, .. }) = packet(bytes, at)? else { return Ok(None) };
        at = end;
        match bytes.get(start) {
            Some(0x00) if end > start => {
                binary_row(bytes, start, end, columns, &mut cell)
                    .ok_or_else(|| Malformed::expected("a binary row", &bytes[start..end]))?;
                rows += 1;
            }
            Some(0xfe) if end > start => return Ok(Some((Answer::Rows(rows), end))),
            _ => match server_error(&bytes[start..end])? {
                Some(error) => return Ok(Some((Answer::Error(error), end))),
                None => return Err(Malformed::expected("a row", &bytes[start..end])),
            },
        }
    }
}

/// Skips the column count and the definitions, if the server sends them.
#[inline]
pub(super) fn skip_header(bytes: &[u8], first: Packet, columns: usize, dialect: Dialect) -> Decoded<usize> {
    let payload = &bytes[first.start..first.end];
    let expected = || Malformed::expected("a number of columns", payload);
    let (count, at) = lenenc(payload, 0).ok_or_else(expected)?;
    if count != columns as u64 {
        return Err(expected());
    }
    let definitions_follow = !dialect.cached_metadata || payload.get(at) != Some(&0);
    if definitions_follow {
        skip_definitions(bytes, first.end, columns, dialect)
    } else {
        skip_eof(bytes, first, dialect)
    }
}

/// Without the definitions the EOF packet that ends them still comes, if the dialect has it.
#[inline]
fn skip_eof(bytes: &[u8], first: Packet, dialect: Dialect) -> Decoded<usize> {
    if dialect.deprecate_eof {
        return Ok(Some(first.end));
    }
    Ok(packet(bytes, first.end)?.map(|p| p.end))
}

/// A row in the binary protocol: 0x00, a bitmap of NULLs from bit 2 on, the values.
#[inline]
fn binary_row(
    bytes: &[u8],
    start: usize,
    end: usize,
    columns: &[ColumnType],
    cell: &mut impl FnMut(Cell),
) -> Option<()> {
    let bytes = bytes.get(..end)?;
    let nulls = start + 1;
    let mut at = nulls + (columns.len() + 9) / 8;
    for (i, column) in columns.iter().enumerate() {
        let bit = i + 2;
        if bytes.get(nulls + bit / 8)? & (1 << (bit % 8)) != 0 {
            cell(Cell::Null);
            continue;
        }
        match column.code {
            TYPE_LONG | 0x09 => {
                let n = i32::from_le_bytes(*bytes.get(at..)?.first_chunk()?);
                cell(Cell::Int(if column.unsigned { i64::from(n as u32) } else { i64::from(n) }));
                at += 4;
            }
            TYPE_LONGLONG | TYPE_DOUBLE => {
                cell(Cell::Int(i64::from_le_bytes(*bytes.get(at..)?.first_chunk()?)));
                at += 8;
            }
            0x01 => {
                let n = *bytes.get(at)?;
                cell(Cell::Int(if column.unsigned { i64::from(n) } else { i64::from(n as i8) }));
                at += 1;
            }
            0x02 | 0x0d => {
                let n = i16::from_le_bytes(*bytes.get(at..)?.first_chunk()?);
                cell(Cell::Int(if column.unsigned { i64::from(n as u16) } else { i64::from(n) }));
                at += 2;
            }
            code => {
                let (len, text) = lenenc(bytes, at)?;
                at = text.checked_add(usize::try_from(len).ok()?)?;
                if at > end {
                    return None;
                }
                cell(match code {
                    TYPE_NEWDECIMAL => Cell::Int(read_scaled(&bytes[text..at], column.scale)?),
                    code if TYPES_OF_DATES.contains(&code) => Cell::Int(date_time(&bytes[text..at])?),
                    _ => Cell::Text { start: text, end: at },
                });
            }
        }
    }
    (at == end).then_some(())
}

/// A date and a time, as short as their zeros at the end allow.
fn date_time(bytes: &[u8]) -> Option<i64> {
    let mut parts = [0; 7];
    parts.get_mut(..bytes.len().min(7))?.copy_from_slice(&bytes[..bytes.len().min(7)]);
    let [year_low, year_high, rest @ ..] = parts;
    let [month, day, hour, minute, second] = rest.map(i64::from);
    let date = [i64::from(u16::from_le_bytes([year_low, year_high])), month, day];
    matches!(bytes.len(), 0 | 4 | 7 | 11).then(|| digits(date, [hour, minute, second]))
}

/// Appends the payload of a binary row (the server's side), without NULLs.
pub fn write_binary_row<'a>(out: &mut Vec<u8>, cells: impl ExactSizeIterator<Item = (BulkType, Param<'a>)>) {
    out.push(0);
    let nulls = out.len() + (cells.len() + 9) / 8;
    out.resize(nulls, 0);
    for (of, cell) in cells {
        match cell {
            Param::Int(n) if of == BulkType::Int32 => out.extend_from_slice(&(n as i32).to_le_bytes()),
            Param::Int(n) => out.extend_from_slice(&n.to_le_bytes()),
            Param::Text(text) => put_text(out, text),
            Param::Decimal { unscaled, scale } => put_decimal(out, unscaled, scale),
            Param::Double(bits) => out.extend_from_slice(&bits.to_le_bytes()),
            Param::Null => out.push(0),
        }
    }
}

/// Appends the payload of a column definition (the server's side).
pub fn write_definition(out: &mut Vec<u8>, name: &str, of: BulkType) {
    for text in ["def", "", "", "", name, name] {
        put_lenenc(out, text.len() as u64);
        out.extend_from_slice(text.as_bytes());
    }
    let code = if of == BulkType::Text { TYPE_VAR_STRING } else { of.code() };
    out.extend_from_slice(&[0x0c, 45, 0, 0, 4, 0, 0, code, 0, 0, 0, 0, 0]);
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODERN: Dialect = Dialect { deprecate_eof: true, cached_metadata: true };
    const OLD: Dialect = Dialect { deprecate_eof: false, cached_metadata: false };
    const EOF: &[u8] = b"\x05\x00\x00\x09\xfe\x00\x00\x02\x00";

    fn definitions_packets(out: &mut Vec<u8>, dialect: Dialect) {
        frame(out, 2, |out| write_definition(out, "id", BulkType::Int32));
        frame(out, 3, |out| write_definition(out, "c", BulkType::Text));
        if !dialect.deprecate_eof {
            out.extend_from_slice(EOF);
        }
    }

    fn columns() -> Vec<ColumnType> {
        [TYPE_LONG, TYPE_VAR_STRING].map(|code| ColumnType { code, unsigned: false, scale: 0 }).to_vec()
    }

    #[test]
    fn golden_execute() {
        let mut out = Vec::new();
        execute(&mut out, 7, [Param::Int(258), Param::Text(b"ab")].into_iter(), true);
        let mut expected = b"\x1b\x00\x00\x00\x17\x07\x00\x00\x00\x00\x01\x00\x00\x00\x00\x01\x08\x00\xfd\x00".to_vec();
        expected.extend_from_slice(b"\x02\x01\x00\x00\x00\x00\x00\x00\x02ab");
        assert_eq!(out, expected);
        out.clear();
        execute(&mut out, 7, [Param::Int(1)].into_iter(), false);
        assert_eq!(out.len(), 4 + 10 + 2 + 8);
    }

    #[test]
    fn null_and_decimal_parameters() {
        let mut out = Vec::new();
        let params = [Param::Null, Param::Decimal { unscaled: -1234, scale: 2 }];
        execute(&mut out, 7, params.into_iter(), true);
        assert_eq!(out[14..], *b"\x01\x01\xfd\x00\xf6\x00\x06-12.34");
    }

    #[test]
    fn decimals_and_dates_are_numbers() {
        let codes = [(TYPE_NEWDECIMAL, 2), (0x0c, 0), (0x0a, 0), (0x0c, 0)];
        let columns = codes.map(|(code, scale)| ColumnType { code, unsigned: false, scale });
        let row = b"\0\0\x04-1.5\x07\xe8\x07\x02\x1d\x17\x3b\x3a\x04\xe8\x07\x01\x02\0";
        let mut cells = vec![];
        binary_row(row, 0, row.len(), &columns, &mut |cell| cells.push(cell)).unwrap();
        let expected = [-150, 20240229235958, 20240102000000, 0].map(Cell::Int);
        assert_eq!(cells, expected);
        assert_eq!(date_time(b"\xe8\x07"), None);
    }

    #[test]
    fn wide_numbers_and_those_in_double_precision() {
        let kinds = [BulkType::Int64, BulkType::Double];
        let columns: Vec<ColumnType> =
            [TYPE_LONGLONG, TYPE_DOUBLE].map(|code| ColumnType { code, unsigned: false, scale: 0 }).to_vec();
        for (of, column) in kinds.iter().zip(&columns) {
            let mut payload = Vec::new();
            write_definition(&mut payload, "x", *of);
            assert_eq!(definition(&payload), Some(*column));
        }
        let bits = 0.1f64.to_bits();
        let mut row = Vec::new();
        write_binary_row(
            &mut row,
            kinds.into_iter().zip([Param::Int(1 << 40), Param::Double(bits)]).collect::<Vec<_>>().into_iter(),
        );
        let mut cells = vec![];
        binary_row(&row, 0, row.len(), &columns, &mut |cell| cells.push(cell)).unwrap();
        assert_eq!(cells, [Cell::Int(1 << 40), Cell::Int(bits as i64)]);
        let mut executed = Vec::new();
        execute(&mut executed, 7, [Param::Double(bits)].into_iter(), true);
        assert_eq!(executed[16..], [&[TYPE_DOUBLE, 0][..], &bits.to_le_bytes()].concat());
    }

    #[test]
    fn a_prepared_statement_in_both_dialects() {
        for dialect in [MODERN, OLD] {
            let mut bytes = Vec::new();
            frame(&mut bytes, 1, |out| out.extend_from_slice(b"\x00\x09\x00\x00\x00\x02\x00\x01\x00\x00\x00\x00"));
            frame(&mut bytes, 2, |out| write_definition(out, "?", BulkType::Int32));
            if !dialect.deprecate_eof {
                bytes.extend_from_slice(EOF);
            }
            definitions_packets(&mut bytes, dialect);
            let expected = Prepared { id: 9, params: 1, columns: columns() };
            assert_eq!(prepared(&bytes, dialect), Ok(Some((Ok(expected), bytes.len()))));
            for cut in 0..bytes.len() {
                assert_eq!(prepared(&bytes[..cut], dialect), Ok(None), "cut at {cut}");
            }
        }
    }

    fn binary_answer(dialect: Dialect) -> Vec<u8> {
        let mut bytes = Vec::new();
        frame(&mut bytes, 1, |out| out.extend_from_slice(if dialect.cached_metadata { b"\x02\x00" } else { b"\x02" }));
        if !dialect.cached_metadata {
            definitions_packets(&mut bytes, dialect);
        }
        let row = [(BulkType::Int32, Param::Int(-5)), (BulkType::Text, Param::Text(b"hello"))];
        frame(&mut bytes, 4, |out| write_binary_row(out, row.into_iter()));
        bytes.extend_from_slice(EOF);
        bytes
    }

    #[test]
    fn a_row_in_place_in_both_dialects() {
        for dialect in [MODERN, OLD] {
            let bytes = binary_answer(dialect);
            let mut cells = vec![];
            let decoded = answer(&bytes, 0, &columns(), dialect, |cell| cells.push(cell));
            assert_eq!(decoded, Ok(Some((Answer::Rows(1), bytes.len()))));
            let [Cell::Int(-5), Cell::Text { start, end }] = cells[..] else { panic!("{cells:?}") };
            assert_eq!(&bytes[start..end], b"hello");
            for cut in 0..bytes.len() {
                assert_eq!(answer(&bytes[..cut], 0, &columns(), dialect, |_| {}), Ok(None), "cut at {cut}");
            }
        }
    }

    #[test]
    fn a_row_that_does_not_fit_its_columns_is_malformed() {
        let mut bytes = binary_answer(MODERN);
        let row = bytes.len() - EOF.len() - 5;
        bytes[row - 1] = 6;
        assert!(answer(&bytes, 0, &columns(), MODERN, |_| {}).is_err());
        assert!(answer(&binary_answer(MODERN), 0, &columns()[..1], MODERN, |_| {}).is_err());
    }
}
