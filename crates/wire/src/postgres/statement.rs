//! Prepared statements, in the extended query protocol and the binary format.

use super::message::{
    Message, ServerMessage, c_string, end_frame, four_bytes, frame, is_aside, message, server_error, sized, two_bytes,
};
use super::number::{put_numeric, put_sized, put_timestamp, read_numeric, read_timestamp};
use crate::{Cell, Decoded, Malformed, Param, decimal};

const BIND: u8 = b'B';
/// Formats of the parameters, and later of the results: one for all of them, binary.
const ALL_BINARY: &[u8] = b"\0\x01\0\x01";
/// Execute the unnamed portal, all rows.
const EXECUTE: &[u8] = b"E\0\0\0\x09\0\0\0\0\0";
/// `jsonb_send` writes the text of a document in this version, the only one.
const JSONB_VERSION: u8 = 1;
/// In the place of a length.
const NULL: [u8; 4] = [0xff; 4];
const SYNC: &[u8] = b"S\0\0\0\x04";

/// How values of a type are encoded in the binary format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarType {
    Int2,
    Int4,
    Int8,
    /// A decimal number, read at this scale.
    Numeric(u8),
    Float8,
    Timestamp,
    Text,
    /// A document that the server takes apart: a byte with the format's version, and its text.
    Jsonb,
}

impl ScalarType {
    /// The type with this number in the catalogue; `None` for those no table of dbdyno has.
    fn of_oid(oid: u32) -> Option<Self> {
        match oid {
            20 => Some(Self::Int8),
            21 => Some(Self::Int2),
            23 => Some(Self::Int4),
            // bytea too: in the binary format it is its bytes, as text is.
            17 | 25 | 1042 | 1043 => Some(Self::Text),
            701 => Some(Self::Float8),
            1114 => Some(Self::Timestamp),
            1700 => Some(Self::Numeric(0)),
            3802 => Some(Self::Jsonb),
            _ => None,
        }
    }

    /// The type's number in the catalogue.
    pub(super) fn oid(self) -> u32 {
        match self {
            Self::Int8 => 20,
            Self::Int2 => 21,
            Self::Int4 => 23,
            Self::Text => 25,
            Self::Float8 => 701,
            Self::Timestamp => 1114,
            Self::Numeric(_) => 1700,
            Self::Jsonb => 3802,
        }
    }

    #[inline]
    fn cell(self, bytes: &[u8], start: usize, end: usize) -> Option<Cell> {
        let value = &bytes[start..end];
        Some(match self {
            Self::Int4 => Cell::Int(i64::from(i32::from_be_bytes(value.try_into().ok()?))),
            Self::Text => Cell::Text { start, end },
            Self::Int8 | Self::Float8 => Cell::Int(i64::from_be_bytes(value.try_into().ok()?)),
            Self::Int2 => Cell::Int(i64::from(i16::from_be_bytes(value.try_into().ok()?))),
            Self::Numeric(scale) => Cell::Int(read_numeric(value, scale)?),
            Self::Timestamp => Cell::Int(read_timestamp(value)?),
            Self::Jsonb => (value.first() == Some(&JSONB_VERSION)).then_some(Cell::Text { start: start + 1, end })?,
        })
    }

    #[inline]
    pub(super) fn put(self, out: &mut Vec<u8>, param: Param<'_>) {
        match (self, param) {
            (Self::Int4, Param::Int(n)) => put_sized(out, &(n as i32).to_be_bytes()),
            (Self::Int8, Param::Int(n)) => put_sized(out, &n.to_be_bytes()),
            (Self::Int2, Param::Int(n)) => put_sized(out, &(n as i16).to_be_bytes()),
            (Self::Text, Param::Int(n)) => put_sized(out, n.to_string().as_bytes()),
            (Self::Jsonb, Param::Text(text)) => {
                out.extend_from_slice(&(text.len() as u32 + 1).to_be_bytes());
                out.push(JSONB_VERSION);
                out.extend_from_slice(text);
            }
            (_, Param::Text(text)) => put_sized(out, text),
            (_, Param::Null) => out.extend_from_slice(&NULL),
            (Self::Timestamp, Param::Int(digits)) => put_timestamp(out, digits),
            (Self::Numeric(_), Param::Int(n)) => put_numeric(out, n, 0),
            (Self::Float8, Param::Int(n)) => put_sized(out, &(n as f64).to_be_bytes()),
            (Self::Jsonb, Param::Int(n)) => put_sized(out, format!("\u{1}{n}").as_bytes()),
            (_, Param::Double(bits)) => put_sized(out, &bits.to_be_bytes()),
            (_, Param::Decimal { unscaled, scale }) => put_numeric(out, unscaled, scale),
        }
    }
}

/// A prepared statement as the server described it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prepared {
    /// Bind up to its first parameter, with a length of 0.
    head: Vec<u8>,
    params: Vec<ScalarType>,
    pub columns: Vec<ScalarType>,
}

impl Prepared {
    fn new(name: &str, params: Vec<ScalarType>, columns: Vec<ScalarType>) -> Self {
        let head = [&[BIND, 0, 0, 0, 0, 0], name.as_bytes(), b"\0", ALL_BINARY, &(params.len() as u16).to_be_bytes()];
        Self { head: head.concat(), params, columns }
    }

    /// How many parameters it has.
    pub fn parameters(&self) -> usize {
        self.params.len()
    }
}

/// The answer to an executed statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Affected(u64),
    Rows(u64),
    Error(ServerMessage),
}

/// Appends a request to prepare `sql` under `name` and to describe it.
pub fn prepare(out: &mut Vec<u8>, name: &str, sql: &str) {
    frame(out, b'P', |out| {
        for text in [name, sql] {
            out.extend_from_slice(text.as_bytes());
            out.push(0);
        }
        out.extend_from_slice(&[0, 0]);
    });
    frame(out, b'D', |out| {
        out.push(b'S');
        out.extend_from_slice(name.as_bytes());
        out.push(0);
    });
    sync(out);
}

/// Appends the execution of a statement, to be followed by others or by [`sync`].
#[inline]
pub fn execute<'a>(out: &mut Vec<u8>, statement: &Prepared, params: impl ExactSizeIterator<Item = Param<'a>>) {
    debug_assert_eq!(params.len(), statement.params.len());
    let length = out.len() + 1;
    out.extend_from_slice(&statement.head);
    for (param, kind) in params.zip(&statement.params) {
        kind.put(out, param);
    }
    out.extend_from_slice(ALL_BINARY);
    end_frame(out, length);
    out.extend_from_slice(EXECUTE);
}

/// Appends the end of a series of requests: the server answers, commits, and after an error goes on from here.
#[inline]
pub fn sync(out: &mut Vec<u8>) {
    out.extend_from_slice(SYNC);
}

/// Decodes the answer to [`prepare`] under `name`.
///
/// # Errors
/// The bytes are no such answer, or a parameter or column has a type that no table of dbdyno has.
pub fn prepared(bytes: &[u8], name: &str) -> Decoded<(Result<Prepared, ServerMessage>, usize)> {
    let (mut at, mut params, mut columns, mut refused) = (0, vec![], vec![], None);
    loop {
        let Some(Message { kind, start, end }) = message(bytes, at)? else { return Ok(None) };
        let payload = &bytes[start..end];
        at = end;
        match kind {
            b'1' | b'n' => {}
            b't' => {
                params = parameter_types(payload).ok_or_else(|| Malformed::expected("known parameters", payload))?
            }
            b'T' => columns = column_types(payload).ok_or_else(|| Malformed::expected("known columns", payload))?,
            b'E' => match server_error(payload)? {
                fatal @ ServerMessage { is_fatal: true, .. } => return Ok(Some((Err(fatal), end))),
                error => refused = Some(error),
            },
            b'Z' => {
                let statement = Prepared::new(name, params, columns);
                return Ok(Some((refused.map_or(Ok(statement), Err), end)));
            }
            _ if is_aside(kind) => {}
            _ => return Err(Malformed::expected("a prepared statement", &bytes[start - 5..end])),
        }
    }
}

fn parameter_types(payload: &[u8]) -> Option<Vec<ScalarType>> {
    let (count, mut at) = two_bytes(payload, 0)?;
    let mut types = vec![];
    for _ in 0..count {
        let (oid, next) = four_bytes(payload, at)?;
        types.push(ScalarType::of_oid(oid as u32)?);
        at = next;
    }
    Some(types)
}

/// Each column: name, table (4 bytes), number (2), type (4), size (2), modifier (4), format (2).
fn column_types(payload: &[u8]) -> Option<Vec<ScalarType>> {
    let (count, mut at) = two_bytes(payload, 0)?;
    let mut types = vec![];
    for _ in 0..count {
        let (_, fixed) = c_string(payload, at)?;
        let (oid, rest) = four_bytes(payload, fixed + 6)?;
        types.push(ScalarType::of_oid(oid as u32)?);
        at = rest + 8;
    }
    Some(types)
}

/// Decodes the answer that begins at `at` to one statement and its [`sync`], and where it ends. `cell` is given every value of every row,
/// also of an answer that turns out to be incomplete.
///
/// # Errors
/// The bytes are no such answer.
#[inline]
pub fn answer(bytes: &[u8], at: usize, columns: &[ScalarType], cell: impl FnMut(Cell)) -> Decoded<(Answer, usize)> {
    match executed(bytes, at, columns, cell)? {
        None => Ok(None),
        Some((Answer::Error(error), end)) if error.is_fatal => Ok(Some((Answer::Error(error), end))),
        Some((answer, end)) => Ok(ready(bytes, end)?.map(|end| (answer, end))),
    }
}

/// Decodes the answer that begins at `at` to one statement of a series, and where it ends. After an error come no answers to the
/// statements behind it, but what [`ready`] decodes.
///
/// # Errors
/// The bytes are no such answer.
#[inline]
pub fn executed(
    bytes: &[u8],
    at: usize,
    columns: &[ScalarType],
    mut cell: impl FnMut(Cell),
) -> Decoded<(Answer, usize)> {
    let (mut at, mut rows) = (at, 0);
    loop {
        let Some(Message { kind, start, end }) = message(bytes, at)? else { return Ok(None) };
        at = end;
        match kind {
            b'2' => {}
            b'D' => {
                row(&bytes[..end], start, columns, &mut cell)
                    .ok_or_else(|| Malformed::expected("a row of these columns", &bytes[start..end]))?;
                rows += 1;
            }
            b'C' if !columns.is_empty() => return Ok(Some((Answer::Rows(rows), end))),
            b'C' => return Ok(Some((Answer::Affected(affected(&bytes[start..end])?), end))),
            b'E' => return Ok(Some((Answer::Error(server_error(&bytes[start..end])?), end))),
            _ if is_aside(kind) => {}
            _ => return Err(Malformed::expected("an answer to a statement", &bytes[start - 5..end])),
        }
    }
}

/// Decodes that the server is ready for more, at `at`, and where that ends.
///
/// # Errors
/// Something else is there.
#[inline]
pub fn ready(bytes: &[u8], at: usize) -> Decoded<usize> {
    let mut at = at;
    loop {
        let Some(Message { kind, start, end }) = message(bytes, at)? else { return Ok(None) };
        match kind {
            b'Z' => return Ok(Some(end)),
            _ if is_aside(kind) => at = end,
            _ => return Err(Malformed::expected("the end of an answer", &bytes[start - 5..end])),
        }
    }
}

/// A row that fills `bytes` from `at` on: a count, then each value with its length.
#[inline]
fn row(bytes: &[u8], at: usize, columns: &[ScalarType], cell: &mut impl FnMut(Cell)) -> Option<()> {
    let (count, mut at) = two_bytes(bytes, at)?;
    if usize::try_from(count) != Ok(columns.len()) {
        return None;
    }
    for column in columns {
        let (value, next) = sized(bytes, at)?;
        cell(match value {
            Some((start, end)) => column.cell(bytes, start, end)?,
            None => Cell::Null,
        });
        at = next;
    }
    (at == bytes.len()).then_some(())
}

/// The number that ends a command's tag: `UPDATE 1`.
#[inline]
fn affected(payload: &[u8]) -> Result<u64, Malformed> {
    let tag = payload.strip_suffix(b"\0").unwrap_or(payload);
    let number = tag.rsplit(|&b| b == b' ').next().and_then(decimal);
    number.and_then(|n| u64::try_from(n).ok()).ok_or_else(|| Malformed::expected("a number of rows", payload))
}

#[cfg(test)]
mod tests {
    use super::super::server::{write_bound, write_complete, write_description, write_error, write_ready, write_row};
    use super::*;

    const COLUMNS: [ScalarType; 2] = [ScalarType::Int4, ScalarType::Text];

    fn statement() -> Prepared {
        Prepared::new("s0", vec![ScalarType::Int4, ScalarType::Text], COLUMNS.to_vec())
    }

    #[test]
    fn golden_execute() {
        let mut out = Vec::new();
        execute(&mut out, &statement(), [Param::Int(258), Param::Text(b"ab")].into_iter());
        sync(&mut out);
        let mut expected =
            b"B\0\0\0\x20\0s0\0\0\x01\0\x01\0\x02\0\0\0\x04\0\0\x01\x02\0\0\0\x02ab\0\x01\0\x01".to_vec();
        expected.extend_from_slice(b"E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04");
        assert_eq!(out, expected);
    }

    #[test]
    fn a_prepared_statement() {
        let mut bytes = b"1\0\0\0\x04".to_vec();
        write_description(&mut bytes, &[ScalarType::Int4, ScalarType::Text], &[("id", COLUMNS[0]), ("c", COLUMNS[1])]);
        write_ready(&mut bytes);
        assert_eq!(prepared(&bytes, "s0"), Ok(Some((Ok(statement()), bytes.len()))));
        for cut in 0..bytes.len() {
            assert_eq!(prepared(&bytes[..cut], "s0"), Ok(None), "cut at {cut}");
        }
        let numeric = bytes.iter().position(|&b| b == 23).unwrap();
        bytes[numeric - 1..=numeric].copy_from_slice(&600u16.to_be_bytes());
        assert!(prepared(&bytes, "s0").unwrap_err().0.contains("known parameters"));
    }

    #[test]
    fn a_statement_that_is_refused() {
        let mut bytes = Vec::new();
        write_error(&mut bytes, "42P01", "there is no such table");
        assert_eq!(prepared(&bytes, "s0"), Ok(None));
        write_ready(&mut bytes);
        let (refused, end) = prepared(&bytes, "s0").unwrap().unwrap();
        assert_eq!((refused.unwrap_err().code.as_str(), end), ("42P01", bytes.len()));
    }

    fn answered() -> Vec<u8> {
        let mut bytes = Vec::new();
        write_bound(&mut bytes);
        bytes.extend_from_slice(b"N\0\0\0\x05\0");
        write_row(&mut bytes, COLUMNS.into_iter().zip([Param::Int(-5), Param::Text(b"hello")]));
        write_complete(&mut bytes, "SELECT 1");
        write_ready(&mut bytes);
        bytes
    }

    #[test]
    fn a_row_in_place() {
        let bytes = answered();
        let mut cells = vec![];
        let decoded = answer(&bytes, 0, &COLUMNS, |cell| cells.push(cell));
        assert_eq!(decoded, Ok(Some((Answer::Rows(1), bytes.len()))));
        let [Cell::Int(-5), Cell::Text { start, end }] = cells[..] else { panic!("{cells:?}") };
        assert_eq!(&bytes[start..end], b"hello");
        for cut in 0..bytes.len() {
            assert_eq!(answer(&bytes[..cut], 0, &COLUMNS, |_| {}), Ok(None), "cut at {cut}");
        }
    }

    #[test]
    fn a_row_that_does_not_fit_its_columns_is_malformed() {
        assert!(answer(&answered(), 0, &COLUMNS[..1], |_| {}).is_err());
        assert!(answer(&answered(), 0, &[ScalarType::Int8, ScalarType::Text], |_| {}).is_err());
        let mut bytes = answered();
        let length = bytes.windows(5).position(|w| w == b"hello").unwrap() - 1;
        bytes[length] = 6;
        assert!(answer(&bytes, 0, &COLUMNS, |_| {}).is_err());
    }

    #[test]
    fn changed_rows_are_counted_and_a_fatal_error_needs_no_end() {
        let mut bytes = Vec::new();
        write_bound(&mut bytes);
        write_complete(&mut bytes, "UPDATE 3");
        write_ready(&mut bytes);
        assert_eq!(answer(&bytes, 0, &[], |_| {}), Ok(Some((Answer::Affected(3), bytes.len()))));
        let mut fatal = Vec::new();
        frame(&mut fatal, b'E', |out| out.extend_from_slice(b"VFATAL\0C57P01\0Mgoing down\0\0"));
        let (Answer::Error(error), end) = answer(&fatal, 0, &[], |_| {}).unwrap().unwrap() else { panic!() };
        assert_eq!((error.text.as_str(), end), ("going down", fatal.len()));
    }
}
