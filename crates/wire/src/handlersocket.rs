//! The HandlerSocket protocol (the plugin's `protocol.en.txt`): lines of values between tabs. Below 16 a byte of a value is escaped, so
//! that values lie in an answer as they are unless they hold such bytes.

use crate::decimal::write_scaled;
use crate::double::write_double;
use crate::{Cell, Decoded, Malformed, Param, TextKind, decimal, put_decimal};

const NULL: u8 = 0x00;
const ESCAPE: u8 = 0x01;
const TAB: u8 = b'\t';
const NEWLINE: u8 = b'\n';
/// Bytes below this one are escaped, by adding [`SHIFT`].
const FIRST_PLAIN: u8 = 0x10;
const SHIFT: u8 = 0x40;

/// How an answer begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// 0, or what went wrong; in words it is then the first value, if there is one.
    pub code: i64,
    /// Values per row.
    pub columns: usize,
    /// True if some text must be unescaped.
    pub has_escapes: bool,
}

/// Decodes one answer, and where it ends. `cell` is given every value of every row, also if the answer turns out to be incomplete; text as it
/// lies there. `kind` says what the value of a number is.
///
/// # Errors
/// The bytes are no such answer.
#[inline]
pub fn answer(bytes: &[u8], kind: impl Fn(usize) -> TextKind, mut cell: impl FnMut(Cell)) -> Decoded<(Answer, usize)> {
    let (mut begin, mut known, mut is_sound) = ([0; 2], 0, true);
    let read = |start: usize, end: usize| {
        let number = || decimal(&bytes[start..end]).filter(|n| *n >= 0);
        match known {
            0 | 1 => number().map_or_else(|| is_sound = false, |n| begin[known] = n),
            _ if bytes[start..end] == [NULL] => cell(Cell::Null),
            _ if begin[0] != 0 => cell(Cell::Text { start, end }),
            _ => kind(known - 2).cell(bytes, start, end).map_or_else(|| is_sound = false, &mut cell),
        }
        known += 1;
    };
    let Some((has_escapes, end)) = line(bytes, read)? else { return Ok(None) };
    if !is_sound || known < 2 {
        return Err(Malformed::expected("an answer", bytes));
    }
    Ok(Some((Answer { code: begin[0], columns: begin[1] as usize, has_escapes }, end)))
}

/// Splits one line into its values: whether one of them has escapes, and where the line ends.
///
/// # Errors
/// A byte stands there that no value can have.
#[inline]
pub fn line(bytes: &[u8], mut value: impl FnMut(usize, usize)) -> Decoded<(bool, usize)> {
    let (mut start, mut at, mut has_escapes) = (0, 0, false);
    while let Some(special) = next_special(bytes, at) {
        at = special + 1;
        match bytes[special] {
            TAB | NEWLINE if special - start <= 1 || bytes[start] != NULL => {
                value(start, special);
                start = at;
                if bytes[special] == NEWLINE {
                    return Ok(Some((has_escapes, at)));
                }
            }
            NULL if special == start => {}
            ESCAPE => {
                has_escapes = true;
                match bytes.get(at) {
                    None => return Ok(None),
                    Some(SHIFT..0x50) => at += 1,
                    Some(_) => return Err(Malformed::expected("an answer", &bytes[start..])),
                }
            }
            _ => return Err(Malformed::expected("an answer", &bytes[start..])),
        }
    }
    Ok(None)
}

/// The position of the next byte below [`FIRST_PLAIN`]. Eight at a time: a row has hundreds of bytes between two of them.
#[inline]
fn next_special(bytes: &[u8], from: usize) -> Option<usize> {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let mut at = from;
    while let Some(eight) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        let eight = u64::from_le_bytes(*eight);
        // A byte borrows, and so gets its highest bit, if it is smaller; a later one may then get it wrongly, the first never does.
        let below = eight.wrapping_sub(EACH * u64::from(FIRST_PLAIN)) & !eight & (EACH * 0x80);
        if below != 0 {
            return Some(at + below.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    bytes.get(at..)?.iter().position(|&byte| byte < FIRST_PLAIN).map(|i| at + i)
}

/// Appends a text without its escapes.
pub fn unescape(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text.iter();
    while let Some(&byte) = rest.next() {
        let escaped = if byte == ESCAPE { rest.next() } else { None };
        out.push(escaped.map_or(byte, |escaped| escaped.wrapping_sub(SHIFT)));
    }
}

fn escape(text: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    while let Some(special) = next_special(text, at) {
        out.extend_from_slice(&text[at..special]);
        out.extend_from_slice(&[ESCAPE, text[special] + SHIFT]);
        at = special + 1;
    }
    out.extend_from_slice(&text[at..]);
}

#[inline]
fn put(out: &mut Vec<u8>, value: Param<'_>) {
    match value {
        Param::Text(text) => escape(text, out),
        Param::Null => out.push(NULL),
        Param::Decimal { unscaled, scale } => write_scaled(unscaled, scale, out),
        Param::Double(bits) => write_double(bits, out),
        Param::Int(n) => {
            out.extend_from_slice(if n < 0 { b"-" } else { b"" });
            put_decimal(out, n.unsigned_abs() as usize);
        }
    }
}

#[inline]
fn put_all<'a>(out: &mut Vec<u8>, values: impl Iterator<Item = Param<'a>>) {
    for value in values {
        out.push(TAB);
        put(out, value);
    }
}

/// Appends the request that must come first if the server has a secret.
pub fn authenticate(out: &mut Vec<u8>, secret: &str) {
    out.extend_from_slice(b"A\t1\t");
    escape(secret.as_bytes(), out);
    out.push(NEWLINE);
}

/// Appends the request that makes `id` stand for an index of a table and for these columns, which commas separate.
pub fn open_index(out: &mut Vec<u8>, id: usize, database: &str, table: &str, index: &str, columns: &str) {
    out.extend_from_slice(b"P\t");
    put_decimal(out, id);
    put_all(out, [database, table, index, columns].iter().map(|name| Param::Text(name.as_bytes())));
    out.push(NEWLINE);
}

/// Appends the request for the row whose first column of the index has this value.
#[inline]
pub fn find(out: &mut Vec<u8>, id: usize, value: Param<'_>) {
    put_decimal(out, id);
    out.extend_from_slice(b"\t=\t1\t");
    put(out, value);
    out.push(NEWLINE);
}

/// Appends the request for the rows whose first column of the index has one of these values.
pub fn find_many<'a>(out: &mut Vec<u8>, id: usize, values: impl ExactSizeIterator<Item = Param<'a>>) {
    let count = values.len() as i64;
    put_decimal(out, id);
    // The value that the list replaces is given too, and ignored.
    out.extend_from_slice(b"\t=\t1\t");
    put_all(out, [Param::Int(count), Param::Int(0), Param::Text(b"@"), Param::Int(0), Param::Int(count)].into_iter());
    put_all(out, values);
    out.push(NEWLINE);
}

/// Appends the request for `most` rows in the index's order, from the first on that has this value or a greater one.
pub fn scan(out: &mut Vec<u8>, id: usize, first: Param<'_>, most: i64) {
    put_decimal(out, id);
    out.extend_from_slice(b"\t>=\t1");
    put_all(out, [first, Param::Int(most), Param::Int(0)].into_iter());
    out.push(NEWLINE);
}

/// The change of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Set,
    Add,
    Delete,
}

/// Appends the request that changes the opened columns of, or deletes, the row whose first column of the index has this value.
#[inline]
pub fn change<'a>(out: &mut Vec<u8>, id: usize, row: Param<'_>, how: Change, values: impl Iterator<Item = Param<'a>>) {
    put_decimal(out, id);
    out.extend_from_slice(b"\t=\t1\t");
    put(out, row);
    out.extend_from_slice(b"\t1\t0\t");
    out.push(match how {
        Change::Set => b'U',
        Change::Add => b'+',
        Change::Delete => b'D',
    });
    put_all(out, values);
    out.push(NEWLINE);
}

/// Appends the request that adds a row with these values in the opened columns.
#[inline]
pub fn insert<'a>(out: &mut Vec<u8>, id: usize, values: impl ExactSizeIterator<Item = Param<'a>>) {
    put_decimal(out, id);
    out.extend_from_slice(b"\t+\t");
    put_decimal(out, values.len());
    put_all(out, values);
    out.push(NEWLINE);
}

/// Appends an answer that everything is well (the server's side).
pub fn values<'a>(out: &mut Vec<u8>, columns: usize, values: impl Iterator<Item = Param<'a>>) {
    out.extend_from_slice(b"0\t");
    put_decimal(out, columns);
    put_all(out, values);
    out.push(NEWLINE);
}

/// Adds values to the answer that was appended last (the server's side).
pub fn more_values<'a>(out: &mut Vec<u8>, values: impl Iterator<Item = Param<'a>>) {
    out.pop();
    put_all(out, values);
    out.push(NEWLINE);
}

#[cfg(test)]
mod tests {
    use super::*;

    type Text = Option<Vec<u8>>;

    fn decoded(bytes: &[u8]) -> Decoded<(Answer, Vec<Text>, usize)> {
        let mut cells = vec![];
        let kind = |i| if i == 0 { TextKind::Int } else { TextKind::Text };
        let answer = answer(bytes, kind, |cell| cells.push(cell))?;
        let text = |cell: &Cell| match *cell {
            Cell::Null => None,
            Cell::Int(n) => Some(n.to_string().into_bytes()),
            Cell::Text { start, end } => {
                let mut text = vec![];
                unescape(&bytes[start..end], &mut text);
                Some(text)
            }
        };
        Ok(answer.map(|(answer, end)| (answer, cells.iter().map(text).collect(), end)))
    }

    #[test]
    fn golden_requests() {
        let mut out = Vec::new();
        authenticate(&mut out, "abc");
        open_index(&mut out, 3, "d", "dbdyno_bm", "PRIMARY", "id,c");
        find(&mut out, 3, Param::Int(42));
        find(&mut out, 3, Param::Text(b"a\tb\0"));
        find_many(&mut out, 3, [Param::Int(1), Param::Int(20)].into_iter());
        change(&mut out, 3, Param::Int(7), Change::Set, [Param::Text(b""), Param::Int(-1)].into_iter());
        change(&mut out, 3, Param::Int(7), Change::Add, [Param::Int(1)].into_iter());
        change(&mut out, 3, Param::Int(7), Change::Delete, std::iter::empty());
        insert(&mut out, 3, [Param::Int(7), Param::Text(b"x")].into_iter());
        scan(&mut out, 3, Param::Int(7), 100);
        let expected = "A\t1\tabc\nP\t3\td\tdbdyno_bm\tPRIMARY\tid,c\n3\t=\t1\t42\n3\t=\t1\ta\x01Ib\x01@\n\
            3\t=\t1\t\t2\t0\t@\t0\t2\t1\t20\n3\t=\t1\t7\t1\t0\tU\t\t-1\n3\t=\t1\t7\t1\t0\t+\t1\n\
            3\t=\t1\t7\t1\t0\tD\n3\t+\t2\t7\tx\n3\t>=\t1\t7\t100\t0\n";
        assert_eq!(out.escape_ascii().to_string(), expected.as_bytes().escape_ascii().to_string());
    }

    #[test]
    fn golden_answers() {
        let every_byte: Vec<u8> = (0..=255).collect();
        let mut escaped = Vec::new();
        values(&mut escaped, 2, [Param::Int(-3), Param::Text(&every_byte)].into_iter());
        let cases = [
            (b"0\t2\n".to_vec(), 0, 2, vec![]),
            (
                b"0\t2\t7\thello world, this is long\n".to_vec(),
                0,
                2,
                vec![Some("7"), Some("hello world, this is long")],
            ),
            (b"0\t2\t7\t\x00\n".to_vec(), 0, 2, vec![Some("7"), None]),
            (b"0\t2\t7\t\n".to_vec(), 0, 2, vec![Some("7"), Some("")]),
            (b"3\t1\tunauth\n".to_vec(), 3, 1, vec![Some("unauth")]),
        ];
        let mut cases: Vec<_> = cases
            .map(|(bytes, code, columns, cells)| {
                let cells: Vec<_> = cells.into_iter().map(|cell| cell.map(|text| text.as_bytes().to_vec())).collect();
                (bytes, code, columns, cells)
            })
            .to_vec();
        cases.push((escaped, 0, 2, vec![Some(b"-3".to_vec()), Some(every_byte)]));
        for (bytes, code, columns, cells) in cases {
            let has_escapes = bytes.contains(&ESCAPE);
            let expected = (Answer { code, columns, has_escapes }, cells, bytes.len());
            assert_eq!(decoded(&bytes), Ok(Some(expected)), "{}", bytes.escape_ascii());
            for cut in 0..bytes.len() {
                assert_eq!(decoded(&bytes[..cut]), Ok(None), "{} cut at {cut}", bytes.escape_ascii());
            }
        }
    }

    #[test]
    fn garbage_is_malformed() {
        let wrong: [&[u8]; 8] = [
            b"HTTP/1.1 400 Bad Request\r\n",
            b"\n",
            b"0\n",
            b"x\t1\n",
            b"0\t-1\n",
            b"0\t1\tnumber\n",
            b"0\t2\t1\tx\x00\n",
            b"0\t2\t1\t\x01\x01\n",
        ];
        for bytes in wrong {
            assert!(decoded(bytes).is_err(), "{}", bytes.escape_ascii());
        }
        assert!(decoded(b"0\t2\t1\t\x00x\n").is_err());
    }
}
