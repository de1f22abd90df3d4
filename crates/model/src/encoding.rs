//! The bytes of a row in stores that know only values: every column in order, integers as 8 bytes little-endian, text as a 2-byte
//! little-endian length and its bytes.

use crate::{Field, Row, Table, Value};

/// Appends the encoded row. Text longer than 65,535 bytes cannot be declared, so cannot occur.
#[inline]
pub fn encode_row(row: Row<'_>, out: &mut Vec<u8>) {
    for i in 0..row.len() {
        match row.value(i) {
            Value::Int(n) => out.extend_from_slice(&n.to_le_bytes()),
            Value::Text(text) => {
                out.extend_from_slice(&(text.len() as u16).to_le_bytes());
                out.extend_from_slice(text);
            }
            Value::Null => out.extend_from_slice(&0u16.to_le_bytes()),
        }
    }
}

/// Reads the fields of an encoded row of `table` that lies in `bytes[start..end]`; false where it is none.
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
            let Some(n) = bytes.get(at..).and_then(|b| b.first_chunk::<2>()) else { return false };
            let text = at + 2;
            at = text + usize::from(u16::from_le_bytes(*n));
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
