//! The bytes of a row in stores that know only values: every column in order, integers as 8 bytes little-endian, text as its length and its
//! bytes. A length takes 2 bytes, little-endian; from 65,535 on these are all ones, and 4 bytes with the length follow.

use crate::{Field, Row, Table, Value};

/// In the place of a length: it follows in 4 bytes.
const IS_LONG: u16 = u16::MAX;

/// Appends the encoded row.
///
/// # Panics
/// A text is 4 GiB or longer, which no column can be declared to be.
#[inline]
pub fn encode_row(row: Row<'_>, out: &mut Vec<u8>) {
    for i in 0..row.len() {
        match row.value(i) {
            Value::Int(n) => out.extend_from_slice(&n.to_le_bytes()),
            Value::Text(text) => {
                encode_len(text.len(), out);
                out.extend_from_slice(text);
            }
            Value::Null => out.extend_from_slice(&0u16.to_le_bytes()),
        }
    }
}

#[inline]
fn encode_len(len: usize, out: &mut Vec<u8>) {
    match u16::try_from(len) {
        Ok(short) if short != IS_LONG => out.extend_from_slice(&short.to_le_bytes()),
        _ => encode_long_len(len, out),
    }
}

#[cold]
fn encode_long_len(len: usize, out: &mut Vec<u8>) {
    let len = u32::try_from(len).expect("a text of 4 GiB");
    out.extend_from_slice(&IS_LONG.to_le_bytes());
    out.extend_from_slice(&len.to_le_bytes());
}

/// The length that is encoded at `at`, and where its text begins.
#[inline]
fn decode_len(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let short = u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?);
    if short != IS_LONG {
        return Some((usize::from(short), at + 2));
    }
    let long = u32::from_le_bytes(*bytes.get(at + 2..)?.first_chunk()?);
    Some((usize::try_from(long).ok()?, at + 6))
}

/// Reads the fields of an encoded row of `table` that lies in `bytes[start..end]`; false if it is none.
#[inline]
pub fn decode_row(table: &Table, bytes: &[u8], start: usize, end: usize, fields: &mut Vec<Field>) -> bool {
    fields.clear();
    let Some(bytes) = bytes.get(..end) else { return false };
    let mut at = start;
    for column in &table.columns {
        if column.is_number() {
            let Some(n) = bytes.get(at..).and_then(|b| b.first_chunk::<8>()) else { return false };
            fields.push(Field::Int(i64::from_le_bytes(*n)));
            at += 8;
        } else {
            let Some((len, text)) = decode_len(bytes, at) else { return false };
            at = text + len;
            if at > end {
                return false;
            }
            fields.push(Field::text(text, at));
        }
    }
    at == end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Column, Kind, RowBuffer, Source};

    fn table() -> Table {
        let columns = vec![
            Column::new("id", Kind::Int, Source::Key),
            Column::new("email", Kind::Varchar(64), Source::Email),
            Column::new("k", Kind::Int, Source::Counter),
        ];
        Table::new("t", columns)
    }

    #[test]
    fn what_was_encoded_is_decoded_in_place() {
        let (table, mut row) = (table(), RowBuffer::default());
        table.generate(9, 0, &mut row);
        let mut bytes = b"VALUE ".to_vec();
        encode_row(row.row(), &mut bytes);
        let end = bytes.len();
        bytes.extend_from_slice(b"\r\nEND");
        let mut fields = Vec::new();
        assert!(decode_row(&table, &bytes, 6, end, &mut fields));
        let decoded = Row::new(&bytes, &fields);
        assert!((0..3).all(|i| decoded.value(i) == row.row().value(i)));
    }

    #[test]
    fn texts_around_the_largest_short_length_are_decoded_as_they_were() {
        for width in [65_534, 65_535, 65_536, 70_000] {
            let bytes = Column::new("bytes", Kind::Binary(width), Source::Bytes { salt: 1 });
            let table = Table::new("t", vec![Column::new("id", Kind::Int, Source::Key), bytes]);
            let (mut row, mut encoded, mut fields) = (RowBuffer::default(), vec![], vec![]);
            table.generate(9, 0, &mut row);
            encode_row(row.row(), &mut encoded);
            assert!(decode_row(&table, &encoded, 0, encoded.len(), &mut fields), "{width}");
            assert_eq!(Row::new(&encoded, &fields).value(1), row.row().value(1), "{width}");
            for end in [9, 10, 13, encoded.len() - 1] {
                assert!(!decode_row(&table, &encoded, 0, end, &mut fields), "{width} cut at {end}");
            }
        }
    }

    #[test]
    fn cut_or_overlong_bytes_are_no_row() {
        let (table, mut row, mut bytes, mut fields) = (table(), RowBuffer::default(), Vec::new(), Vec::new());
        table.generate(9, 0, &mut row);
        encode_row(row.row(), &mut bytes);
        for end in 0..bytes.len() {
            assert!(!decode_row(&table, &bytes, 0, end, &mut fields), "cut at {end}");
        }
        bytes.push(0);
        assert!(!decode_row(&table, &bytes, 0, bytes.len(), &mut fields));
        assert!(!decode_row(&table, &bytes, 0, bytes.len() + 1, &mut fields));
    }
}
