//! Rows as embedded libraries keep them: encoded as values, filed under a key, and changed in place.

use std::ops::Range;

use dbdyno_model::{Field, Row, RowBuffer, Table, Value, decode_row, encode_row};

/// Rows to load, encoded one after the other into the same memory.
pub struct Rows<'a> {
    pub(super) table: &'a Table,
    pub(super) keys: Range<u64>,
    pub(super) generated: &'a mut RowBuffer,
    pub(super) value: &'a mut Vec<u8>,
    pub(super) number: [u8; 8],
}

impl Rows<'_> {
    /// The next row: what it is filed under, and its value.
    pub fn next_row(&mut self) -> Option<(&[u8], &[u8])> {
        let key = self.keys.next()?;
        encode(self.table, key, 0, self.generated, self.value);
        let filed = self.generated.row().value(self.table.filed_under);
        Some((key_of(filed, &mut self.number), self.value))
    }

    /// The key of the first row if keys rise from row to row and from load to load.
    pub fn first_of_rising(&self) -> Option<[u8; 8]> {
        (self.table.filed_under == 0).then(|| self.keys.start.to_be_bytes())
    }
}

/// A number to add to a column.
pub struct Addition<'a> {
    pub(super) table: &'a Table,
    pub(super) column: usize,
    pub(super) delta: i64,
    pub(super) fields: &'a mut Vec<Field>,
    pub(super) value: &'a mut Vec<u8>,
}

impl Addition<'_> {
    /// The value of a row after the addition; `None` if `bytes` are no row.
    pub fn apply(&mut self, bytes: &[u8]) -> Option<&[u8]> {
        if !decode_row(self.table, bytes, 0, bytes.len(), self.fields) {
            return None;
        }
        if let Field::Int(n) = &mut self.fields[self.column] {
            *n += self.delta;
        }
        self.value.clear();
        encode_row(Row::new(bytes, self.fields), self.value);
        Some(self.value)
    }
}

/// Replaces `value` by the encoded row `key`.
pub fn encode(table: &Table, key: u64, version: u64, generated: &mut RowBuffer, value: &mut Vec<u8>) {
    table.generate(key, version, generated);
    value.clear();
    encode_row(generated.row(), value);
}

/// The key that a row is filed under: numbers in big-endian order, so that they sort; text as it is. `number` is where one is put.
#[inline]
pub fn key_of<'a>(filed: Value<'a>, number: &'a mut [u8; 8]) -> &'a [u8] {
    match filed {
        Value::Int(n) => {
            *number = (n as u64).to_be_bytes();
            number
        }
        Value::Text(text) => text,
        Value::Null => &[],
    }
}
