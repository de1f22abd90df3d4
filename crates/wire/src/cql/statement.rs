//! Prepared statements. The server described their results when it prepared them, and need not do so again.

use super::frame::{
    Frame, ServerError, end_frame, four_bytes, frame, head, opcode, put_request, server_error, set_stream, sized,
    string,
};
use super::types::{CqlType, columns};
use crate::{Cell, Decoded, Malformed, Param};

const VOID: i32 = 1;
const ROWS: i32 = 2;
const PREPARED: i32 = 4;
const SCHEMA_CHANGE: i32 = 5;
const SET_KEYSPACE: i32 = 3;

const WITH_VALUES: u8 = 0x01;
const WITHOUT_METADATA: u8 = 0x02;

/// How many replicas must have answered before the coordinator does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consistency {
    One = 1,
    Two = 2,
    Three = 3,
    Quorum = 4,
    All = 5,
    LocalQuorum = 6,
    EachQuorum = 7,
    LocalOne = 10,
}

/// A prepared statement as the server described it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prepared {
    /// EXECUTE up to its first parameter, with a stream and a length of 0.
    head: Vec<u8>,
    params: Vec<CqlType>,
    pub columns: Vec<CqlType>,
}

/// The answer to an executed statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It was done; of how many rows there were nothing is known, as a write does not read.
    Done,
    Rows(u64),
    Error(ServerError),
}

/// Appends a request to prepare a statement.
pub fn prepare(out: &mut Vec<u8>, cql: &str) {
    put_request(out, opcode::PREPARE, 0, |out| super::frame::put_sized(out, cql.as_bytes()));
}

/// Decodes the answer to [`prepare`]; the statement is then executed with `consistency`.
///
/// # Errors
/// The bytes are no such answer, or a parameter or column has a type that no table of dbdyno has.
pub fn prepared(bytes: &[u8], consistency: Consistency) -> Decoded<(Result<Prepared, ServerError>, usize)> {
    let Some(frame) = frame(bytes, 0)? else { return Ok(None) };
    let statement = match frame.opcode {
        opcode::ERROR => Err(server_error(bytes, frame)?),
        _ => {
            let body = &bytes[..frame.end];
            let wrong = || Malformed::expected("a prepared statement of known columns", &body[frame.start..]);
            Ok(description(body, frame, consistency).ok_or_else(wrong)?)
        }
    };
    Ok(Some((statement, frame.end)))
}

fn description(body: &[u8], frame: Frame, consistency: Consistency) -> Option<Prepared> {
    let (PREPARED, at) = four_bytes(body, frame.start)? else { return None };
    if frame.opcode != opcode::RESULT {
        return None;
    }
    let (id, at) = string(body, at)?;
    let params = columns(body, at, true)?;
    let results = columns(body, params.end, false)?;
    let (types, count) = (params.types.unwrap_or_default(), (params.count as u16).to_be_bytes());
    if types.len() != params.count {
        return None;
    }
    let (length, consistency) = ((id.len() as u16).to_be_bytes(), (consistency as u16).to_be_bytes());
    let start = [&length[..], id, &consistency, &[WITH_VALUES | WITHOUT_METADATA], &count].concat();
    Some(Prepared { head: head(opcode::EXECUTE, &start), params: types, columns: results.types.unwrap_or_default() })
}

/// Appends the execution of a statement; its answer will name `stream`.
#[inline]
pub fn execute<'a>(
    out: &mut Vec<u8>,
    statement: &Prepared,
    stream: u16,
    params: impl ExactSizeIterator<Item = Param<'a>>,
) {
    debug_assert_eq!(params.len(), statement.params.len());
    let header = out.len();
    out.extend_from_slice(&statement.head);
    for (param, kind) in params.zip(&statement.params) {
        kind.put(out, param);
    }
    end_frame(out, header);
    set_stream(out, header, stream);
}

/// Decodes the answer that begins at `at` to one statement, and where it ends. `cell` is given every value of every row.
///
/// # Errors
/// The bytes are no such answer.
#[inline]
pub fn answer(bytes: &[u8], at: usize, columns: &[CqlType], cell: impl FnMut(Cell)) -> Decoded<(Answer, usize)> {
    let Some(frame) = frame(bytes, at)? else { return Ok(None) };
    Ok(Some((answer_in(bytes, frame, columns, cell)?, frame.end)))
}

/// Decodes the answer in a frame.
///
/// # Errors
/// It is no answer to a statement.
#[inline]
pub fn answer_in(bytes: &[u8], frame: Frame, columns: &[CqlType], cell: impl FnMut(Cell)) -> Result<Answer, Malformed> {
    let body = &bytes[..frame.end];
    let kind = if frame.opcode == opcode::RESULT { four_bytes(body, frame.start) } else { None };
    let answer = match kind {
        Some((ROWS, at)) => rows(body, at, columns, cell).map(Answer::Rows),
        Some((VOID, _)) if columns.is_empty() => Some(Answer::Done),
        _ if frame.opcode == opcode::ERROR => Some(Answer::Error(server_error(bytes, frame)?)),
        _ => None,
    };
    answer.ok_or_else(|| Malformed::expected("an answer to a statement", &body[frame.start..]))
}

/// Reads all rows and returns how many they are.
#[inline]
fn rows(body: &[u8], at: usize, types: &[CqlType], mut cell: impl FnMut(Cell)) -> Option<u64> {
    let described = columns(body, at, false)?;
    let (count, mut at) = four_bytes(body, described.end)?;
    let count = u64::try_from(count).ok()?;
    // Rows without columns would be any number of them in no bytes.
    if described.count != types.len() || (count > 0 && types.is_empty()) {
        return None;
    }
    for _ in 0..count {
        for kind in types {
            let (cell_range, next) = sized(body, at)?;
            cell(match cell_range {
                None => Cell::Null,
                Some((start, end)) => kind.cell(body, start, end)?,
            });
            at = next;
        }
    }
    (at == body.len()).then_some(count)
}

/// The rows of any result in words; none of what changed the schema or the keyspace.
pub(super) fn rows_in_words(body: &[u8], frame: Frame) -> Option<crate::TextRows> {
    let (kind, at) = four_bytes(body, frame.start)?;
    match kind {
        ROWS => {}
        VOID | SET_KEYSPACE | SCHEMA_CHANGE => return Some(vec![]),
        _ => return None,
    }
    let types = columns(body, at, false)?.types?;
    let (mut values, mut is_sound) = (vec![], true);
    let count = rows(body, at, &types, |_| {})?;
    let (_, mut at) = four_bytes(body, columns(body, at, false)?.end)?;
    for _ in 0..count {
        let mut row = vec![];
        for kind in &types {
            let (cell_range, next) = sized(body, at)?;
            let words = cell_range.map(|(start, end)| kind.in_words(&body[start..end]));
            is_sound &= words != Some(None);
            row.push(words.flatten());
            at = next;
        }
        values.push(row);
    }
    is_sound.then_some(values)
}

#[cfg(test)]
mod tests {
    use super::super::server::{write_prepared, write_rows, write_void};
    use super::*;

    fn statement(params: &[CqlType], columns: &[(&str, CqlType)]) -> Prepared {
        let mut bytes = Vec::new();
        write_prepared(&mut bytes, 0, b"\x07\x08", params, columns);
        let (prepared, end) = prepared(&bytes, Consistency::Quorum).unwrap().unwrap();
        assert_eq!(end, bytes.len());
        for cut in 0..end {
            assert_eq!(super::prepared(&bytes[..cut], Consistency::Quorum), Ok(None), "cut at {cut}");
        }
        prepared.unwrap()
    }

    #[test]
    fn golden_execution() {
        let update = statement(&[CqlType::Text, CqlType::Int], &[]);
        let mut bytes = vec![0xee];
        execute(&mut bytes, &update, 0x0305, [Param::Text(b"ab"), Param::Int(-2)].into_iter());
        let expected =
            b"\xee\x04\0\x03\x05\x0a\0\0\0\x17\0\x02\x07\x08\0\x04\x03\0\x02\0\0\0\x02ab\0\0\0\x04\xff\xff\xff\xfe";
        assert_eq!(bytes, expected);
    }

    #[test]
    fn rows_are_decoded_in_place_with_and_without_their_description() {
        let types = [CqlType::Int, CqlType::Text];
        let mut bytes = vec![1];
        write_rows(&mut bytes, 0, 2, [(CqlType::Int, Param::Int(7)), (CqlType::Text, Param::Text(b"abc"))].into_iter());
        let mut cells = vec![];
        let decoded = answer(&bytes, 1, &types, |cell| cells.push(cell));
        assert_eq!(decoded, Ok(Some((Answer::Rows(1), bytes.len()))));
        assert_eq!(cells[0], Cell::Int(7));
        assert!(matches!(cells[1], Cell::Text { start, end } if &bytes[start..end] == b"abc"));
        assert!(answer(&bytes, 1, &types[..1], |_| {}).is_err(), "another number of columns");
        assert!(answer(&bytes, 1, &[CqlType::Bigint, CqlType::Text], |_| {}).is_err(), "a number of another size");
        let described = b"\x84\0\0\0\x08\0\0\0\x24\0\0\0\x02\0\0\0\x01\0\0\0\x01\0\x01k\0\x01t\0\x02id\0\x09\0\0\0\x01\0\0\0\x04\0\0\0\x05";
        let decoded = answer(described, 0, &[CqlType::Int], |cell| assert_eq!(cell, Cell::Int(5)));
        assert_eq!(decoded, Ok(Some((Answer::Rows(1), described.len()))));
    }

    #[test]
    fn what_is_done_has_no_rows() {
        let mut bytes = Vec::new();
        write_void(&mut bytes, 3);
        assert_eq!(answer(&bytes, 0, &[], |_| {}), Ok(Some((Answer::Done, bytes.len()))));
        assert!(answer(&bytes, 0, &[CqlType::Int], |_| {}).is_err(), "a read that has no rows at all");
        let endless = b"\x84\0\0\0\x08\0\0\0\x10\0\0\0\x02\0\0\0\x04\0\0\0\0\x7f\xff\xff\xff";
        assert!(answer(endless, 0, &[], |_| {}).is_err());
    }

    #[test]
    fn what_is_no_prepared_statement_is_refused() {
        let mut bytes = Vec::new();
        write_void(&mut bytes, 0);
        assert!(prepared(&bytes, Consistency::One).is_err());
    }
}
