//! Claims: the markers of a key-value store, which has no tables that could carry one.
//!
//! A claim names a run, a table and the numbers of its rows. It is written before the first row, so whatever a killed run leaves is named.
//! It says where to look and proves nothing: a key is dbdyno's if a claim names it and it holds the row that dbdyno files under it.

use dbdyno_model::{Field, Row, Table, Value};

use crate::MARKER;
use crate::keys::RESULT_PREFIX;
use crate::result_query::ResultQuery;
use crate::values::decode;

/// A claim as the store has it, with the tables of the schema that it is about, or the queries whose results it names.
#[derive(Clone, Debug)]
pub struct Claim {
    pub text: String,
    pub tables: Vec<Claimed>,
    pub results: Vec<ResultQuery>,
}

/// The rows of a table from the first on, to the last; `None`: to whichever a run has added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claimed {
    pub table: usize,
    pub last: Option<u64>,
}

/// The outcome for the keys that a claim named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Withdrawn {
    /// The names of what was removed.
    pub removed: Vec<String>,
    /// Sentences about keys that a claim names and that hold no row of dbdyno's.
    pub left: Vec<String>,
}

/// The content of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held<T = ()> {
    Nothing,
    /// The row that dbdyno files there, in any version.
    Row(T),
    Other,
}

impl Withdrawn {
    /// Adds a table whose rows were removed but for the keys `left`.
    pub fn add(&mut self, table: &Table, left: &[Vec<u8>]) {
        self.add_keys(format!("{MARKER}{}:*", table.name), "row", left);
    }

    /// Adds results of queries, in the same way.
    pub fn add_results(&mut self, left: &[Vec<u8>]) {
        self.add_keys(format!("{}*", String::from_utf8_lossy(RESULT_PREFIX)), "result", left);
    }

    fn add_keys(&mut self, names: String, what: &str, left: &[Vec<u8>]) {
        self.removed.push(names);
        let Some(first) = left.first() else { return };
        let first = first.escape_ascii();
        self.left.push(match left.len() {
            1 => format!("{first} does not hold a {what} of dbdyno, so it is kept"),
            count => format!("{first} and {} more keys do not hold {what}s of dbdyno, so they are kept", count - 1),
        });
    }

    /// Adds what another part of the store says.
    pub fn extend(&mut self, other: Withdrawn) {
        self.removed.extend(other.removed);
        self.left.extend(other.left);
    }
}

/// Refuses keys that no claim names; `todo` tells a person what they can do.
pub fn unmarked(names: &str, todo: &str) -> crate::Trouble {
    crate::Trouble::Refused(format!(
        "keys {names} exist without dbdyno's marker, and dbdyno does not overwrite them. {todo}"
    ))
}

/// Refuses a key that is somebody else's.
pub fn foreign_key(key: &[u8]) -> crate::Trouble {
    crate::Trouble::Refused(format!(
        "another program wrote the key {} after dbdyno had found it free, and dbdyno does not overwrite it",
        key.escape_ascii()
    ))
}

/// Returns whether the value is row `number` of the table, as dbdyno encodes it; `fields` and `scratch` are overwritten.
pub fn is_encoded_row(
    table: &Table,
    number: u64,
    bytes: &[u8],
    range: (usize, usize),
    fields: &mut Vec<Field>,
    scratch: &mut Vec<u8>,
) -> bool {
    // What else a table is filed under is in the row.
    let filed = Value::Int(number as i64);
    decode(table, filed, bytes, range, fields) && is_row(table, number, bytes, fields, scratch)
}

/// Returns whether the fields are row `number` of the table; `scratch` is overwritten.
pub fn is_row(table: &Table, number: u64, bytes: &[u8], fields: &[Field], scratch: &mut Vec<u8>) -> bool {
    table.check(Row::new(bytes, fields), number, scratch).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::{Column, Kind, RowBuffer, Source, encode_row};

    fn table() -> Table {
        let columns = vec![
            Column::new("id", Kind::Int, Source::Key),
            Column::new("note", Kind::Varchar(10), Source::VersionedLetters { salt: 1 }),
            Column::new("version", Kind::Int, Source::Version),
        ];
        Table::new("bm", columns)
    }

    #[test]
    fn a_row_is_known_in_every_version_and_nothing_else_is_taken_for_one() {
        let (table, mut row) = (table(), RowBuffer::default());
        let is_row_7 =
            |value: &[u8]| is_encoded_row(&table, 7, value, (0, value.len()), &mut Vec::new(), &mut Vec::new());
        for version in [0, 1, 99] {
            let mut value = Vec::new();
            table.generate(7, version, &mut row);
            encode_row(row.row(), &mut value);
            assert!(is_row_7(&value));
            value[12] ^= 1;
            assert!(!is_row_7(&value));
            value.clear();
            table.generate(8, version, &mut row);
            encode_row(row.row(), &mut value);
            assert!(!is_row_7(&value), "another row");
        }
        assert!(!is_row_7(b"precious") && !is_row_7(b""));
    }

    #[test]
    fn keys_that_stay_are_told() {
        let mut withdrawn = Withdrawn::default();
        withdrawn.add(&table(), &[]);
        assert_eq!((withdrawn.removed.len(), withdrawn.left.len()), (1, 0));
        withdrawn.add(&table(), &[b"dbdyno:bm:3".to_vec()]);
        withdrawn.add(&table(), &[b"dbdyno:bm:4".to_vec(), b"dbdyno:bm:5".to_vec()]);
        let expected = [
            "dbdyno:bm:3 does not hold a row of dbdyno, so it is kept",
            "dbdyno:bm:4 and 1 more keys do not hold rows of dbdyno, so they are kept",
        ];
        assert_eq!(withdrawn.left, expected);
        let mut results = Withdrawn::default();
        results.add_results(&[b"dbdyno:result:0".to_vec()]);
        assert_eq!(results.removed, ["dbdyno:result:*"]);
        assert_eq!(results.left, ["dbdyno:result:0 does not hold a result of dbdyno, so it is kept"]);
    }
}
