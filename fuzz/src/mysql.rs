//! The MySQL protocol: packets, logging in, and the answers to statements.
//!
//! The first bytes of an input are what a session knows already: the dialect, and the columns of its statement.

use dbdyno_wire::TextKind;
use dbdyno_wire::mysql::{
    self as wire, Answer, Cell, ColumnType, Dialect, Login, LoginStep, Transport, greeting, lenenc, ok_affected_rows,
    server_error,
};

use crate::{holds_anywhere, verdict_is_final};

const PASSWORD: &str = "open sesame";
/// Type codes of columns: integers of 1, 2, 4 and 8 bytes, a text, and a floating-point number, which `wire` does not know.
const TYPES: [u8; 6] = [0x01, 0x02, 0x03, 0x08, 0xfd, 0x05];

pub fn packet(bytes: &[u8]) {
    holds_anywhere(bytes, |bytes, at| {
        Ok(wire::packet(bytes, at)?.map(|p| ((p.sequence, bytes[p.start..p.end].to_vec()), p.end - at)))
    });
    if let Some((number, end)) = lenenc(bytes, 0) {
        let mut written = vec![];
        wire::put_lenenc(&mut written, number);
        assert!(end <= bytes.len() && lenenc(&written, 0) == Some((number, written.len())));
    }
    let is_error = bytes.first() == Some(&0xff);
    assert!(is_error || server_error(bytes) == Ok(None));
    assert!(!is_error || ok_affected_rows(bytes).is_none());
}

/// The packets of a server that a client logs in to: a greeting, and what it says after each answer.
pub fn login(bytes: &[u8]) {
    let Some((&flags, bytes)) = bytes.split_first() else { return };
    let mut payloads = Payloads { bytes, at: 0 };
    let Some(Ok(greeting)) = payloads.next().map(greeting) else { return };
    let transport = [Transport::Tcp, Transport::Unix, Transport::Tls, Transport::Unix][usize::from(flags & 3)];
    let Ok((mut login, response)) = Login::begin(&greeting, "u", PASSWORD, Some("d"), transport) else { return };
    let is_readable = |sent: &[u8]| sent.windows(PASSWORD.len()).any(|window| window == PASSWORD.as_bytes());
    assert!(!is_readable(&response));
    for payload in payloads {
        match login.next(payload) {
            Ok(LoginStep::Send(sent)) => {
                assert!(transport != Transport::Tcp || !is_readable(&sent), "the password, readable")
            }
            Ok(LoginStep::Read) => {}
            Ok(LoginStep::Done | LoginStep::Refused { .. }) | Err(_) => return,
        }
    }
}

struct Payloads<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Payloads<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let packet = wire::packet(self.bytes, self.at).ok().flatten()?;
        self.at = packet.end;
        Some(&self.bytes[packet.start..packet.end])
    }
}

fn dialect(flags: u8) -> Dialect {
    Dialect { deprecate_eof: flags & 1 != 0, cached_metadata: flags & 2 != 0 }
}

pub fn prepared(bytes: &[u8]) {
    let Some((&flags, bytes)) = bytes.split_first() else { return };
    verdict_is_final(bytes, |bytes| wire::prepared(bytes, dialect(flags)));
}

pub fn text_answer(bytes: &[u8]) {
    let Some((&flags, bytes)) = bytes.split_first() else { return };
    verdict_is_final(bytes, |bytes| wire::text_answer(bytes, dialect(flags)));
    let kind = |column| [TextKind::Int, TextKind::Decimal(2), TextKind::DateTime, TextKind::Text][column % 4];
    verdict_is_final(bytes, |bytes| {
        let mut cells = vec![];
        let answer = wire::text_cells(bytes, dialect(flags), kind, |cell| cells.push(cell))?;
        Ok(answer.map(|(answer, end)| ((answer, cells), end)))
    });
}

pub fn load_answer(bytes: &[u8]) {
    verdict_is_final(bytes, wire::load_answer);
}

/// Flags, how many columns, a byte for each column's type, the answer.
pub fn answer(bytes: &[u8]) {
    let [flags, count, bytes @ ..] = bytes else { return };
    let Some((types, bytes)) = bytes.split_at_checked(usize::from(*count)) else { return };
    let (dialect, columns) = (dialect(*flags), columns(types));
    holds_anywhere(bytes, |bytes, at| {
        let mut cells = vec![];
        let answer = wire::answer(bytes, at, &columns, dialect, |cell| match cell {
            Cell::Text { start, end } => cells.push((cell_kind(cell), bytes[start..end].to_vec())),
            Cell::Null | Cell::Int(_) => cells.push((cell_kind(cell), vec![])),
        })?;
        Ok(answer.map(|(answer, end)| {
            if let Answer::Rows(rows) = answer {
                assert_eq!(rows * columns.len() as u64, cells.len() as u64, "a cell for each row and column");
            }
            ((answer, cells), end - at)
        }))
    });
}

fn cell_kind(cell: Cell) -> Option<i64> {
    if let Cell::Int(number) = cell { Some(number) } else { None }
}

/// Columns as a server would have described them: only so can they be had.
fn columns(types: &[u8]) -> Vec<ColumnType> {
    let mut bytes = vec![];
    let count = types.len() as u8;
    wire::frame(&mut bytes, 1, |out| out.extend_from_slice(&[0, 1, 0, 0, 0, count, 0, 0, 0, 0, 0, 0]));
    for byte in types {
        let (code, unsigned) = (TYPES[usize::from(byte & 0x7f) % TYPES.len()], (byte & 0x80) >> 2);
        let definition = [0, 0, 0, 0, 0, 0, 0x0c, 45, 0, 0, 4, 0, 0, code, unsigned, 0, 0, 0, 0];
        wire::frame(&mut bytes, 2, |out| out.extend_from_slice(&definition));
    }
    let modern = Dialect { deprecate_eof: true, cached_metadata: true };
    match wire::prepared(&bytes, modern) {
        Ok(Some((Ok(prepared), _))) => prepared.columns,
        other => panic!("our own description of {count} columns: {other:?}"),
    }
}
