//! The names under which key-value stores file rows: `dbdyno:<table>:<value>`.

use std::ops::Range;

use dbdyno_model::{RowBuffer, Table, Value, write_decimal};

use crate::MARKER;

/// The key of the markers of a store without sets, one a line. Versions before claims kept a single one there, in every store.
pub const MARKER_KEY: &[u8] = b"dbdyno:marker";

/// The key of the set of markers.
pub const MARKERS_KEY: &[u8] = b"dbdyno:markers";

/// Before the digest of a query's text.
pub const RESULT_PREFIX: &[u8] = b"dbdyno:result:";

/// Cuts a range of row numbers into batches of at most `most`.
pub fn batches(numbers: Range<u64>, most: u64) -> impl Iterator<Item = Range<u64>> {
    let end = numbers.end;
    numbers.step_by(most as usize).map(move |first| first..(first + most).min(end))
}

/// Appends `dbdyno:<table>:`.
pub fn prefix(table: &Table) -> Vec<u8> {
    format!("{MARKER}{}:", table.name).into_bytes()
}

/// Replaces `out` by a key.
#[inline]
pub fn write_key(prefix: &[u8], filed: Value<'_>, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(prefix);
    match filed {
        Value::Int(n) => write_decimal(n.unsigned_abs(), out),
        Value::Text(text) => out.extend_from_slice(text),
        Value::Null => {}
    }
}

/// Replaces `out` by the key of a text that may be longer than a key, or hold spaces: its MD5.
#[inline]
pub fn write_digest(text: &[u8], out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.clear();
    out.extend_from_slice(RESULT_PREFIX);
    for byte in dbdyno_wire::ketama::digest(text) {
        out.extend([HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
    }
}

/// Replaces `out` by the key that row `key` of `table` is filed under; `row` is overwritten.
pub fn write_key_of_row(table: &Table, prefix: &[u8], key: u64, row: &mut RowBuffer, out: &mut Vec<u8>) {
    row.clear();
    table.columns[table.filed_under].generate(key, 0, row);
    write_key(prefix, row.row().value(0), out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::{Column, Kind, Source};

    #[test]
    fn batches_cover_a_range_once_and_the_last_may_be_shorter() {
        assert_eq!(batches(1..8, 3).collect::<Vec<_>>(), [1..4, 4..7, 7..8]);
        assert_eq!(batches(5..5, 3).count(), 0);
    }

    #[test]
    fn rows_are_filed_under_the_tables_column() {
        let columns =
            vec![Column::new("id", Kind::Int, Source::Key), Column::new("name", Kind::Varchar(64), Source::Name)];
        let mut table = Table::new("account", columns);
        let (mut row, mut key) = (RowBuffer::default(), Vec::new());
        write_key_of_row(&table, &prefix(&table), 42, &mut row, &mut key);
        assert_eq!(key, b"dbdyno:account:42");
        table.filed_under = 1;
        write_key_of_row(&table, &prefix(&table), 42, &mut row, &mut key);
        assert!(key.starts_with(b"dbdyno:account:") && key.ends_with(b" 42"));
    }
}
