//! What a store takes no more of, as far as a schema shows it: said before anything is begun. Of other limits the store itself tells.

use dbdyno_model::{Source, Table};

use crate::Schema;
use crate::config::Config;
use crate::keys::prefix;
use crate::mysql::MAX_ROW_SIZE_BYTES;

/// memcached's `KEY_MAX_LENGTH`. A longer key is a line that it does not understand, and the value behind it the next.
const MEMCACHED_KEY_SIZE_BYTES: usize = 250;
/// Around a row's values: their lengths, a key, names, the rest of a message.
const AROUND_SIZE_BYTES: usize = 64 << 10;
/// Longer ones are not sent, nor understood (`wire`); neither protocol splits a row of that length in a way that is known there.
const MESSAGE_SIZE_BYTES: usize = 16 << 20;
/// Longer answers are not held (`net`).
const ANSWER_SIZE_BYTES: usize = 64 << 20;

/// # Errors
/// A table's keys or rows are longer than the store, or its protocol, takes: in words for the user.
pub fn check(schema: &Schema, config: &Config) -> Result<(), String> {
    schema.tables.iter().try_for_each(|table| check_table(table, config))
}

fn check_table(table: &Table, config: &Config) -> Result<(), String> {
    match config {
        Config::Memcached { .. } => {
            check_words(table, config.kind())?;
            check_key(table, config.kind(), prefix(table).len(), MEMCACHED_KEY_SIZE_BYTES)?;
        }
        Config::Engine(engine) => {
            engine.limits().key_size_bytes.map_or(Ok(()), |most| check_key(table, engine.kind(), 0, most))?;
        }
        _ => {}
    }
    most_row_size_bytes(config).map_or(Ok(()), |most| check_row(table, config.kind(), most))
}

/// `None`: the store itself tells.
fn most_row_size_bytes(config: &Config) -> Option<usize> {
    match config {
        Config::Mysql { .. } | Config::Handlersocket { .. } => Some(MAX_ROW_SIZE_BYTES),
        Config::Postgres { .. } | Config::Cassandra { .. } | Config::Mongodb { .. } => {
            Some(MESSAGE_SIZE_BYTES - AROUND_SIZE_BYTES)
        }
        Config::Redis { .. } | Config::Memcached { .. } => Some(ANSWER_SIZE_BYTES - AROUND_SIZE_BYTES),
        Config::Engine(engine) => engine.limits().value_size_bytes.map(|most| most - AROUND_SIZE_BYTES),
        _ => None,
    }
}

/// `more`: what a key has beside its column's value.
fn check_key(table: &Table, kind: &str, more: usize, most: usize) -> Result<(), String> {
    let Some(column) = table.columns.get(table.filed_under) else { return Ok(()) };
    match more + column.most_bytes() {
        size if size > most => Err(format!(
            "{kind} takes keys of at most {most} bytes, those of {} by {} have {size}: declare it shorter",
            table.name, column.name
        )),
        _ => Ok(()),
    }
}

/// A space would end the key.
fn check_words(table: &Table, kind: &str) -> Result<(), String> {
    match table.columns.get(table.filed_under) {
        Some(column) if column.source == Source::Name => Err(format!(
            "{kind} takes no key with a space in it, as the names in {}.{} have: look rows up by another column",
            table.name, column.name
        )),
        _ => Ok(()),
    }
}

fn check_row(table: &Table, kind: &str, most: usize) -> Result<(), String> {
    match table.most_row_bytes() {
        size if size > most => Err(format!(
            "{kind}: rows of {} have up to {size} bytes, and it can be given {most} at most: make them shorter",
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

    fn refused(config: &str, key: Kind, source: Source, value_size_bytes: u32) -> Option<String> {
        let columns = vec![
            Column::new("id", Kind::Int, Source::Key),
            Column::new("word", key, source),
            Column::new("value", Kind::Binary(value_size_bytes), Source::Bytes { salt: 1 }),
        ];
        let tables = vec![Table { filed_under: 1, ..Table::new("t", columns) }];
        let schema = Schema { tables, steps: vec![], statements: vec![], rows: 1 };
        check(&schema, &serde_json::from_str(config).unwrap()).err()
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
        let around = (16 << 20) - AROUND_SIZE_BYTES;
        for (config, most) in [
            (sql("mysql"), MAX_ROW_SIZE_BYTES),
            (sql("postgres"), around),
            (MEMCACHED.into(), ANSWER_SIZE_BYTES - AROUND_SIZE_BYTES),
        ] {
            let value = |size| refused(&config, Kind::Varchar(10), Source::Padded(b'x'), size);
            // Its number and its word are in the row, too.
            let most = u32::try_from(most).unwrap() - 20 - 10;
            assert_eq!(value(most), None, "{config}");
            assert!(value(most + 1).unwrap().contains("at most"), "{config}");
        }
    }
}
