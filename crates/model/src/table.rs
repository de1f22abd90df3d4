//! Tables: their columns, their indexes, and the check of a row against its generator.

use crate::{Column, Row, RowBuffer, Source, Value};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    pub column: usize,
    pub unique: bool,
}

/// A table. Column 0 is the primary key and its source is [`Source::Key`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    pub name: String,
    pub columns: Vec<Column>,
    pub indexes: Vec<Index>,
    /// The column under whose value a key-value store files the row: the primary key, unless rows are only ever looked up by another unique one.
    pub filed_under: usize,
}

/// A row differs from its generator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub column: String,
    pub expected: String,
    pub found: String,
}

impl Difference {
    /// In words.
    pub fn of_row(&self, key: u64) -> String {
        format!("row {key}, {}: expected {}, found {}", self.column, self.expected, self.found)
    }
}

impl Table {
    /// Replaces `out` by row `key` at `version`.
    #[inline]
    pub fn generate(&self, key: u64, version: u64, out: &mut RowBuffer) {
        out.clear();
        for column in &self.columns {
            column.generate(key, version, out);
        }
    }

    /// The version a row says it has; 0 for tables whose rows have none.
    #[inline]
    pub fn version_of(&self, row: Row<'_>) -> u64 {
        let column = self.columns.iter().position(|c| matches!(c.source, Source::Version));
        match column.map(|i| row.value(i)) {
            Some(Value::Int(n)) if n >= 0 => n as u64,
            _ => 0,
        }
    }

    /// Checks that `row` is row `key` in the version it says it has; `scratch` is overwritten.
    #[inline]
    pub fn check(&self, row: Row<'_>, key: u64, scratch: &mut Vec<u8>) -> Result<(), Box<Difference>> {
        if row.len() != self.columns.len() {
            return Err(self.wrong_width(row));
        }
        let version = self.version_of(row);
        for (i, column) in self.columns.iter().enumerate() {
            if !column.matches(key, version, row.value(i), scratch) {
                return Err(self.difference(i, key, version, row));
            }
        }
        Ok(())
    }

    #[cold]
    fn wrong_width(&self, row: Row<'_>) -> Box<Difference> {
        Box::new(Difference {
            column: "*".into(),
            expected: format!("{} columns", self.columns.len()),
            found: format!("{} columns", row.len()),
        })
    }

    #[cold]
    fn difference(&self, i: usize, key: u64, version: u64, row: Row<'_>) -> Box<Difference> {
        let mut expected = RowBuffer::default();
        self.columns[i].generate(key, version, &mut expected);
        Box::new(Difference {
            column: self.columns[i].name.clone(),
            expected: expected.row().value(0).to_string(),
            found: row.value(i).to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    fn table() -> Table {
        Table {
            name: "t".into(),
            columns: vec![
                Column::new("id", Kind::Int, Source::Key),
                Column::new("version", Kind::Int, Source::Version),
                Column::new("note", Kind::Varchar(10), Source::VersionedLetters { salt: 1 }),
            ],
            indexes: vec![],
            filed_under: 0,
        }
    }

    #[test]
    fn a_generated_row_checks_in_every_version() {
        let (table, mut row, mut scratch) = (table(), RowBuffer::default(), Vec::new());
        for version in [0, 1, 77] {
            table.generate(5, version, &mut row);
            assert_eq!(table.check(row.row(), 5, &mut scratch), Ok(()));
            assert_eq!(table.version_of(row.row()), version);
        }
    }

    #[test]
    fn a_wrong_row_names_the_column_and_both_values() {
        let (table, mut row, mut scratch) = (table(), RowBuffer::default(), Vec::new());
        table.generate(5, 0, &mut row);
        let difference = table.check(row.row(), 6, &mut scratch).unwrap_err();
        assert_eq!(
            (difference.column.as_str(), difference.expected.as_str(), difference.found.as_str()),
            ("id", "6", "5")
        );
        row.bytes[3] ^= 1;
        assert_eq!(table.check(row.row(), 5, &mut scratch).unwrap_err().column, "note");
        row.fields.pop();
        assert_eq!(table.check(row.row(), 5, &mut scratch).unwrap_err().found, "2 columns");
    }
}
