//! Plain queries and their answers, in the text protocol.

use super::packet::{Packet, ServerMessage, frame, lenenc, ok_affected_rows, packet, put_lenenc, server_error};
use super::statement::{Answer, Dialect, command, put_decimal as put_scaled, skip_header};
use crate::decimal::write_scaled;
use crate::double::write_double;
use crate::{Cell, Decoded, Malformed, Param, TextKind, TextRows, put_decimal};

const COM_QUIT: u8 = 0x01;
const COM_QUERY: u8 = 0x03;
const NULL: u8 = 0xfb;
const MAX_COLUMNS: usize = 4096;

/// Appends COM_QUERY.
pub fn query(out: &mut Vec<u8>, sql: &[u8]) {
    command(out, COM_QUERY, sql);
}

/// Appends COM_QUIT, which has no answer.
pub fn quit(out: &mut Vec<u8>) {
    command(out, COM_QUIT, b"");
}

/// Appends COM_QUERY with a statement in parts, a parameter between each and the next, text quoted.
#[inline]
pub fn query_with<'a>(out: &mut Vec<u8>, parts: &[Vec<u8>], params: impl Iterator<Item = Param<'a>>) {
    frame(out, 0, |out| {
        out.push(COM_QUERY);
        let mut parts = parts.iter();
        out.extend_from_slice(parts.next().map_or(&[], Vec::as_slice));
        for (param, part) in params.zip(parts) {
            literal(param, out);
            out.extend_from_slice(part);
        }
    });
}

/// Appends a value as SQL has it.
pub fn literal(value: Param<'_>, out: &mut Vec<u8>) {
    match value {
        Param::Int(n) => {
            out.extend_from_slice(if n < 0 { b"-" } else { b"" });
            put_decimal(out, n.unsigned_abs() as usize);
        }
        Param::Decimal { unscaled, scale } => write_scaled(unscaled, scale, out),
        Param::Double(bits) => write_double(bits, out),
        Param::Null => out.extend_from_slice(b"NULL"),
        Param::Text(text) => quote(text, out),
    }
}

fn quote(text: &[u8], out: &mut Vec<u8>) {
    // Bytes that are no text are refused in a literal that does not say so. Said of text, it would keep an index from being used.
    out.extend_from_slice(if std::str::from_utf8(text).is_ok() { b"'" } else { b"_binary'" });
    for &byte in text {
        if matches!(byte, b'\'' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out.push(b'\'');
}

/// Decodes the answer to COM_QUERY, and where it ends. `cell` is given every value of every row, also of an answer that turns out to be
/// incomplete; `kind` says of the number of a column what its values are.
///
/// # Errors
/// The bytes are no such answer.
#[inline]
pub fn text_cells(
    bytes: &[u8],
    dialect: Dialect,
    kind: impl Fn(usize) -> TextKind,
    mut cell: impl FnMut(Cell),
) -> Decoded<(Answer, usize)> {
    let Some(first) = packet(bytes, 0)? else { return Ok(None) };
    let payload = &bytes[first.start..first.end];
    if let Some(affected) = ok_affected_rows(payload) {
        return Ok(Some((Answer::Affected(affected), first.end)));
    }
    if let Some(error) = server_error(payload)? {
        return Ok(Some((Answer::Error(error), first.end)));
    }
    let count = lenenc(payload, 0).and_then(|(n, _)| usize::try_from(n).ok()).filter(|&n| n < MAX_COLUMNS);
    let count = count.ok_or_else(|| Malformed::expected("a number of columns", payload))?;
    let Some(mut at) = skip_header(bytes, first, count, dialect)? else { return Ok(None) };
    let mut rows = 0;
    loop {
        let Some(Packet { start, end, .. }) = packet(bytes, at)? else { return Ok(None) };
        let payload = &bytes[start..end];
        at = end;
        // A row can begin with 0xfe only as the length of a value beyond 16 MiB.
        if payload.first() == Some(&0xfe) {
            return Ok(Some((Answer::Rows(rows), end)));
        }
        if let Some(error) = server_error(payload)? {
            return Ok(Some((Answer::Error(error), end)));
        }
        text_row(bytes, start, end, count, &kind, &mut cell).ok_or_else(|| Malformed::expected("a row", payload))?;
        rows += 1;
    }
}

/// A row in the text protocol: each value a length and its text, or NULL.
#[inline]
fn text_row(
    bytes: &[u8],
    start: usize,
    end: usize,
    columns: usize,
    kind: &impl Fn(usize) -> TextKind,
    cell: &mut impl FnMut(Cell),
) -> Option<()> {
    let (bytes, mut at) = (bytes.get(..end)?, start);
    for column in 0..columns {
        if bytes.get(at) == Some(&NULL) {
            cell(Cell::Null);
            at += 1;
            continue;
        }
        let (len, text) = lenenc(bytes, at)?;
        at = text.checked_add(usize::try_from(len).ok()?)?;
        cell(kind(column).cell(bytes, text, at)?);
    }
    (at == end).then_some(())
}

/// Decodes the answer to COM_QUERY: the rows (none for a statement that has none).
///
/// # Errors
/// The bytes are no such answer.
pub fn text_answer(bytes: &[u8], dialect: Dialect) -> Decoded<(Result<TextRows, ServerMessage>, usize)> {
    let mut values = vec![];
    let value = |cell| match cell {
        Cell::Text { start, end } => Some(String::from_utf8_lossy(&bytes[start..end]).into_owned()),
        Cell::Null | Cell::Int(_) => None,
    };
    let Some((answer, end)) = text_cells(bytes, dialect, |_| TextKind::Text, |cell| values.push(value(cell)))? else {
        return Ok(None);
    };
    let rows = match answer {
        Answer::Error(error) => Err(error),
        Answer::Affected(_) | Answer::Rows(0) => Ok(vec![]),
        Answer::Rows(rows) => {
            let columns = values.len() / rows as usize;
            Ok((0..rows).map(|_| values.drain(..columns).collect()).collect())
        }
    };
    Ok(Some((rows, end)))
}

/// Appends the payload of a text row (the server's side).
pub fn write_text_row<'a>(out: &mut Vec<u8>, cells: impl Iterator<Item = Param<'a>>) {
    for cell in cells {
        match cell {
            Param::Int(n) => put_scaled(out, n, 0),
            Param::Decimal { unscaled, scale } => put_scaled(out, unscaled, scale),
            Param::Double(bits) => {
                let at = out.len();
                out.push(0);
                write_double(bits, out);
                out[at] = (out.len() - at - 1) as u8;
            }
            Param::Null => out.push(NULL),
            Param::Text(text) => {
                put_lenenc(out, text.len() as u64);
                out.extend_from_slice(text);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::bulk::BulkType;
    use super::super::statement::write_definition;
    use super::*;

    const OLD: Dialect = Dialect { deprecate_eof: false, cached_metadata: false };
    const EOF: &[u8] = b"\x05\x00\x00\x09\xfe\x00\x00\x02\x00";

    #[test]
    fn parameters_go_between_the_parts() {
        let parts = [b"SELECT ".to_vec(), b", ".to_vec(), b" FROM t".to_vec()];
        let mut out = Vec::new();
        query_with(&mut out, &parts, [Param::Int(-12), Param::Text(br"it's \")].into_iter());
        assert_eq!(&out[5..], br"SELECT -12, 'it\'s \\' FROM t");
        assert_eq!(out[..5], [30, 0, 0, 0, COM_QUERY]);
    }

    fn answer() -> Vec<u8> {
        let mut bytes = Vec::new();
        frame(&mut bytes, 1, |out| out.extend_from_slice(b"\x02"));
        frame(&mut bytes, 2, |out| write_definition(out, "id", BulkType::Int32));
        frame(&mut bytes, 3, |out| write_definition(out, "c", BulkType::Text));
        bytes.extend_from_slice(EOF);
        frame(&mut bytes, 5, |out| out.extend_from_slice(b"\x0212\xfb"));
        frame(&mut bytes, 6, |out| write_text_row(out, [Param::Int(-3), Param::Text(b"abc")].into_iter()));
        bytes.extend_from_slice(EOF);
        bytes
    }

    #[test]
    fn text_rows() {
        let bytes = answer();
        let text = |text: &str| Some(text.to_string());
        let rows = vec![vec![text("12"), None], vec![text("-3"), text("abc")]];
        assert_eq!(text_answer(&bytes, OLD), Ok(Some((Ok(rows), bytes.len()))));
        for cut in 0..bytes.len() {
            assert_eq!(text_answer(&bytes[..cut], OLD), Ok(None), "cut at {cut}");
        }
    }

    #[test]
    fn numbers_in_a_row_are_read_and_text_stays_where_it_is() {
        let (bytes, mut cells) = (answer(), vec![]);
        let kind = |column| if column == 0 { TextKind::Int } else { TextKind::Text };
        let decoded = text_cells(&bytes, OLD, kind, |cell| cells.push(cell));
        assert_eq!(decoded, Ok(Some((Answer::Rows(2), bytes.len()))));
        let [Cell::Int(12), Cell::Null, Cell::Int(-3), Cell::Text { start, end }] = cells[..] else {
            panic!("{cells:?}")
        };
        assert_eq!(&bytes[start..end], b"abc");
        assert!(text_cells(&bytes, OLD, |_| TextKind::Int, |_| {}).is_err());
    }
}
