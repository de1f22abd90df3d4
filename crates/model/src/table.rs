//! Tables: their columns, their indexes, and the check of a row against its generator.

use std::ops::Range;
use std::sync::Arc;

use crate::{Column, Population, Row, RowBuffer, Source, Value, Variant};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    pub columns: Vec<usize>,
    pub unique: bool,
}

impl Index {
    pub fn new(columns: &[usize]) -> Self {
        Self { columns: columns.into(), unique: false }
    }

    pub fn unique(columns: &[usize]) -> Self {
        Self { columns: columns.into(), unique: true }
    }
}

/// A table. Its rows are numbered from 1. Without a population, column 0 is the primary key, its source is [`Source::Key`], and it is the
/// row's number.
#[derive(Clone, Debug)]
pub struct Table {
    pub name: String,
    pub columns: Vec<Column>,
    pub indexes: Vec<Index>,
    /// So many leading columns are the primary key; 0: there is none.
    pub primary_key: usize,
    /// The column under whose value a key-value store files the row: the primary key, unless rows are only ever looked up by another unique one.
    pub filed_under: usize,
    /// Numbers of rows, if they are not as many as the workload's rows.
    pub rows: Option<u64>,
    pub population: Option<Arc<dyn Population>>,
    /// True if rows may be missing: transactions delete them, or they expire.
    pub is_volatile: bool,
    /// The text after the closing parenthesis in a dialect, such as the table's partitions.
    pub options: Vec<Variant>,
}

/// A row differs from its generator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub column: String,
    pub expected: String,
    pub actual: String,
}

impl Difference {
    pub fn new(column: &str, expected: impl ToString, actual: impl ToString) -> Box<Self> {
        Box::new(Self { column: column.into(), expected: expected.to_string(), actual: actual.to_string() })
    }

    /// In words.
    pub fn of_row(&self, key: u64) -> String {
        format!("row {key}, {self}")
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: expected {}, found {}", self.column, self.expected, self.actual)
    }
}

impl Table {
    /// A table with a primary key of one column, and nothing else.
    pub fn new(name: &str, columns: Vec<Column>) -> Self {
        Self {
            name: name.into(),
            columns,
            indexes: vec![],
            primary_key: 1,
            filed_under: 0,
            rows: None,
            population: None,
            is_volatile: false,
            options: vec![],
        }
    }

    /// Returns whether a row is its key and a number that is counted up. A cache keeps the number alone, in words, so that it can count.
    #[inline]
    pub fn is_counter(&self) -> bool {
        let [key, number] = &self.columns[..] else { return false };
        key.source == Source::Key
            && number.source == Source::Counter
            && self.filed_under == 0
            && self.indexes.is_empty()
    }

    /// How many bytes the values of a row have at most.
    pub fn most_row_bytes(&self) -> usize {
        self.columns.iter().map(Column::most_bytes).sum()
    }

    /// Returns whether which rows are there can be asked by ranges of their numbers.
    pub fn is_keyed_by_number(&self) -> bool {
        self.primary_key == 1 && self.population.is_none()
    }

    /// The numbers of its rows, in a workload of so many.
    pub fn numbers(&self, workload_rows: u64) -> Range<u64> {
        1..self.rows.unwrap_or(workload_rows) + 1
    }

    /// How many rows have a number among these.
    pub fn count(&self, numbers: Range<u64>) -> u64 {
        match &self.population {
            Some(population) => numbers.filter(|&number| population.has(number)).count() as u64,
            None => numbers.end - numbers.start,
        }
    }

    /// Replaces `out` by the row as it is loaded; false if there is none with this number.
    #[inline]
    pub fn make(&self, number: u64, out: &mut RowBuffer) -> bool {
        let Some(population) = &self.population else {
            self.generate(number, 0, out);
            return true;
        };
        let is_there = population.has(number);
        if is_there {
            out.clear();
            population.make(number, out);
        }
        is_there
    }

    /// Replaces `out` by row `key` at `version`, of a table without a population.
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
            actual: format!("{} columns", row.len()),
        })
    }

    #[cold]
    fn difference(&self, i: usize, key: u64, version: u64, row: Row<'_>) -> Box<Difference> {
        let mut expected = RowBuffer::default();
        self.columns[i].generate(key, version, &mut expected);
        Box::new(Difference {
            column: self.columns[i].name.clone(),
            expected: self.columns[i].in_words(expected.row().value(0)),
            actual: self.columns[i].in_words(row.value(i)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    fn table() -> Table {
        let columns = vec![
            Column::new("id", Kind::Int, Source::Key),
            Column::new("version", Kind::Int, Source::Version),
            Column::new("note", Kind::Varchar(10), Source::VersionedLetters { salt: 1 }),
        ];
        Table::new("t", columns)
    }

    #[test]
    fn a_counter_is_a_key_and_a_number_without_an_index() {
        let column = |name: &str, source| Column::new(name, Kind::Int, source);
        let counter = Table::new("c", vec![column("id", Source::Key), column("n", Source::Counter)]);
        assert!(counter.is_counter() && !table().is_counter());
        let indexed = Table { indexes: vec![Index::new(&[1])], ..counter.clone() };
        let wider = Table { columns: [&counter.columns[..], &[column("v", Source::Version)]].concat(), ..counter };
        assert!(!indexed.is_counter() && !wider.is_counter());
    }

    /// Lines 1 and 2 of three of every order.
    #[derive(Debug)]
    struct Lines;

    impl Population for Lines {
        fn has(&self, number: u64) -> bool {
            !number.is_multiple_of(3)
        }
        fn make(&self, number: u64, out: &mut RowBuffer) {
            out.push(Value::Int(number as i64 / 3));
            out.push(Value::Int(number as i64 % 3));
        }
    }

    #[test]
    fn a_population_makes_the_rows_and_says_which_are_not_there() {
        let mut table = Table::new("lines", vec![]);
        table.population = Some(Arc::new(Lines));
        let mut row = RowBuffer::default();
        let made: Vec<_> = table.numbers(7).filter(|&n| table.make(n, &mut row)).collect();
        assert_eq!(made, [1, 2, 4, 5, 7]);
        assert_eq!(table.count(table.numbers(7)), 5);
        assert_eq!((row.row().value(0), row.row().value(1)), (Value::Int(2), Value::Int(1)));
        table.rows = Some(2);
        assert_eq!(table.numbers(7), 1..3);
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
            (difference.column.as_str(), difference.expected.as_str(), difference.actual.as_str()),
            ("id", "6", "5")
        );
        row.bytes[3] ^= 1;
        assert_eq!(table.check(row.row(), 5, &mut scratch).unwrap_err().column, "note");
        row.fields.pop();
        assert_eq!(table.check(row.row(), 5, &mut scratch).unwrap_err().actual, "2 columns");
    }
}
