//! From the name under which a key-value store files a row back to the row.

use std::sync::Arc;

use dbdyno_model::RowBuffer;
use dbdyno_stores::{MARKER, Schema, encode};

/// Makes the row that a key such as `dbdyno:bm:42` or `dbdyno:account:player42@mail7.example` names.
pub struct Rows {
    schema: Arc<Schema>,
    pub row: RowBuffer,
    table: usize,
    value: Vec<u8>,
}

impl Rows {
    pub fn new(schema: Arc<Schema>) -> Self {
        Self { schema, row: RowBuffer::default(), table: 0, value: Vec::new() }
    }

    /// Generates the row into `self.row`; false if the key names none.
    pub fn find(&mut self, key: &[u8]) -> bool {
        let Some(rest) = key.strip_prefix(MARKER.as_bytes()) else { return false };
        let Some(colon) = rest.iter().position(|&b| b == b':') else { return false };
        let table = self.schema.tables.iter().position(|t| t.name.as_bytes() == &rest[..colon]);
        match (table, first_number(&rest[colon + 1..])) {
            (Some(table), Some(key)) if (1..=self.schema.rows).contains(&key) => {
                self.table = table;
                self.schema.tables[table].generate(key, 0, &mut self.row);
                true
            }
            _ => false,
        }
    }

    /// The row that was found, as a cache keeps it.
    pub fn value(&mut self) -> &[u8] {
        encode(&self.schema.tables[self.table], self.row.row(), &mut self.value);
        &self.value
    }
}

/// The first number in a text: every generated text that rows are filed under begins, after letters, with the key.
pub fn first_number(text: &[u8]) -> Option<u64> {
    let start = text.iter().position(u8::is_ascii_digit)?;
    let digits = text[start..].iter().take_while(|b| b.is_ascii_digit()).take(18);
    Some(digits.fold(0, |n, b| n * 10 + u64::from(b - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_number() {
        assert_eq!(first_number(b"player42@mail7.example"), Some(42));
        assert_eq!(first_number(b"7"), Some(7));
        assert_eq!(first_number(b"marker"), None);
    }
}
