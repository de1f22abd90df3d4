//! Limits of a store that a schema exceeds: refused before anything is begun. The store itself reports all other limits.

use dbdyno_model::{Source, Table};

/// Around a row's values: their lengths, a key, names, the rest of a message.
pub const AROUND_SIZE_BYTES: usize = 64 << 10;
/// A message of 16 MiB is not sent, nor understood (`wire`); no protocol splits a row of that length in a way that is known there.
pub const MESSAGE_ROW_SIZE_BYTES: usize = (16 << 20) - AROUND_SIZE_BYTES;
/// An answer of 64 MiB is not held (`net`).
pub const ANSWER_ROW_SIZE_BYTES: usize = (64 << 20) - AROUND_SIZE_BYTES;

/// `more`: bytes that a key has beside its column's value.
pub fn check_key(table: &Table, kind: &str, more: usize, most: usize) -> Result<(), String> {
    let Some(column) = table.columns.get(table.filed_under) else { return Ok(()) };
    match more + column.most_bytes() {
        size if size > most => Err(format!(
            "{kind} takes keys of at most {most} bytes, and keys of {} by {} have {size}: declare the column shorter",
            table.name, column.name
        )),
        _ => Ok(()),
    }
}

/// A space would end the key.
pub fn check_words(table: &Table, kind: &str) -> Result<(), String> {
    match table.columns.get(table.filed_under) {
        Some(column) if column.source == Source::Name => Err(format!(
            "{kind} takes no key with a space, and {}.{} has such values: find rows by another column",
            table.name, column.name
        )),
        _ => Ok(()),
    }
}

pub fn check_row(table: &Table, kind: &str, most: usize) -> Result<(), String> {
    match table.most_row_bytes() {
        size if size > most => Err(format!(
            "{kind} takes rows of at most {most} bytes, and rows of {} have up to {size}: declare them shorter",
            table.name
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use dbdyno_model::{Column, Kind};

    use super::*;
    use crate::capabilities::tests::MEMCACHED;
    use crate::mysql::MAX_ROW_SIZE_BYTES;
    use crate::{Config, Schema};

    fn refused(config: &str, key: Kind, source: Source, value_size_bytes: u32) -> Option<String> {
        let columns = vec![
            Column::new("id", Kind::Int, Source::Key),
            Column::new("word", key, source),
            Column::new("value", Kind::Binary(value_size_bytes), Source::Bytes { salt: 1 }),
        ];
        let tables = vec![Table { filed_under: 1, ..Table::new("t", columns) }];
        let schema = Schema { tables, steps: vec![], statements: vec![], rows: 1 };
        let Config::Single(single) = serde_json::from_str(config).unwrap() else {
            panic!("{config} is not a single store")
        };
        single.check_sizes(&schema).err()
    }

    #[test]
    fn a_key_may_be_as_long_as_the_store_takes_and_no_byte_longer() {
        let lmdb = r#"{"kind": "lmdb", "path": "/x", "sync": "full", "map_size_bytes": 1048576}"#;
        let padded = Source::Padded(b'x');
        // "dbdyno:t:" is before it.
        for (config, longest) in [(MEMCACHED, 250 - 9), (lmdb, 511)] {
            assert_eq!(refused(config, Kind::Varchar(longest), padded, 9), None);
            let why = refused(config, Kind::Varchar(longest + 1), padded, 9).unwrap();
            assert!(why.contains("of t by word"), "{why}");
        }
        // A character may have four bytes.
        assert!(refused(lmdb, Kind::Unicode(128), Source::Characters { salt: 1 }, 9).is_some());
    }

    #[test]
    fn a_name_is_no_key_of_memcached() {
        assert!(refused(MEMCACHED, Kind::Varchar(40), Source::Name, 9).unwrap().contains("t.word"));
        assert_eq!(refused(MEMCACHED, Kind::Varchar(40), Source::Email, 9), None);
    }

    #[test]
    fn a_row_that_no_message_holds_is_refused() {
        let sql = |kind: &str| {
            format!(
                r#"{{"kind": "{kind}", "address": {{"unix": "/x"}}, "user": "u", "password": null, "database": "d"}}"#
            )
        };
        for (config, most) in [
            (sql("mysql"), MAX_ROW_SIZE_BYTES),
            (sql("postgres"), MESSAGE_ROW_SIZE_BYTES),
            (MEMCACHED.into(), ANSWER_ROW_SIZE_BYTES),
        ] {
            let value = |size| refused(&config, Kind::Varchar(10), Source::Padded(b'x'), size);
            // Its number and its word are in the row, too.
            let most = u32::try_from(most).unwrap() - 20 - 10;
            assert_eq!(value(most), None, "{config}");
            assert!(value(most + 1).unwrap().contains("at most"), "{config}");
        }
    }
}
