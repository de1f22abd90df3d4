//! The keys that a claim names: those of a table's rows, or of a query's results, each by its number.

use dbdyno_model::{Field, RowBuffer, Table};

use crate::claim::is_encoded_row;
use crate::keys::{prefix, write_key_of_row};
use crate::result_query::ResultQuery;

/// The most that an encoded value has beside its text, for each column.
const LENGTH_SIZE_BYTES: usize = 16;

pub enum KeySet<'a> {
    Rows { table: &'a Table, prefix: Vec<u8> },
    Results(&'a ResultQuery),
}

impl<'a> KeySet<'a> {
    pub fn rows(table: &'a Table) -> Self {
        Self::Rows { table, prefix: prefix(table) }
    }

    /// Replaces `key` by the key of this number; `row` is overwritten.
    pub fn write_key(&self, number: u64, row: &mut RowBuffer, key: &mut Vec<u8>) {
        match self {
            Self::Rows { table, prefix } => write_key_of_row(table, prefix, number, row, key),
            Self::Results(query) => query.write_key_of(number, row, key),
        }
    }

    pub fn key(&self, number: u64) -> Vec<u8> {
        let mut key = Vec::new();
        self.write_key(number, &mut RowBuffer::default(), &mut key);
        key
    }

    /// The columns of its values.
    pub fn columns(&self) -> &Table {
        match self {
            Self::Rows { table, .. } => table,
            Self::Results(query) => &query.answer,
        }
    }

    /// No encoded value is longer.
    pub fn most_bytes(&self) -> usize {
        let columns = self.columns();
        columns.most_row_bytes() + columns.columns.len() * LENGTH_SIZE_BYTES
    }

    /// Returns whether a value is what dbdyno files under this number; `fields` and `scratch` are overwritten.
    pub fn is_encoded(
        &self,
        number: u64,
        bytes: &[u8],
        range: (usize, usize),
        fields: &mut Vec<Field>,
        scratch: &mut Vec<u8>,
    ) -> bool {
        match self {
            Self::Rows { table, .. } => is_encoded_row(table, number, bytes, range, fields, scratch),
            Self::Results(query) => query.is_encoded(number, bytes, range, fields, scratch),
        }
    }
}
