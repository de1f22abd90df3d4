//! How a record holds a row: as one value, or as columns, which a table of Tokyo Cabinet knows by their names.

use dbdyno_model::{Field, Kind, Row, Table, Value, decode_row, encode_row, write_decimal};
use dbdyno_wire::{read_double, write_double};
use serde::Deserialize;

use crate::Schema;

/// Names and values of columns are separated by it.
const SEPARATOR: u8 = 0;

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// One value: of a hash or a tree.
    #[default]
    Value,
    /// Columns: of a table.
    Columns,
}

/// The rows of one table in records.
pub struct Records {
    layout: Layout,
    /// The names of the columns in records: the database has one list of indexes for all tables.
    pub names: Vec<Vec<u8>>,
    kinds: Vec<Kind>,
}

impl Records {
    pub fn new(layout: Layout, schema: &Schema, table: &Table) -> Self {
        let several = schema.tables.len() > 1;
        let name = |column: &str| if several { format!("{}.{column}", table.name) } else { column.into() };
        let names = table.columns.iter().map(|column| name(&column.name).into_bytes()).collect();
        Self { layout, names, kinds: table.columns.iter().map(|column| column.kind).collect() }
    }

    /// Replaces `out` by a row as a record holds it.
    pub fn encode(&self, row: Row<'_>, out: &mut Vec<u8>) {
        out.clear();
        if self.layout == Layout::Value {
            return encode_row(row, out);
        }
        for (i, name) in self.names.iter().enumerate() {
            out.extend_from_slice(if i == 0 { &[] } else { &[SEPARATOR] });
            out.extend_from_slice(name);
            out.push(SEPARATOR);
            write_value(self.kinds[i], row.value(i), out);
        }
    }

    /// Reads the row in a range of the bytes; false if there is none.
    #[inline]
    pub fn decode(&self, table: &Table, bytes: &[u8], (start, end): (usize, usize), fields: &mut Vec<Field>) -> bool {
        match self.layout {
            Layout::Value => decode_row(table, bytes, start, end, fields),
            Layout::Columns => self.decode_columns(table, bytes, (start, end), fields),
        }
    }

    fn decode_columns(
        &self,
        table: &Table,
        bytes: &[u8],
        (start, end): (usize, usize),
        fields: &mut Vec<Field>,
    ) -> bool {
        fields.clear();
        let Some(record) = bytes.get(start..end) else { return false };
        let mut parts = record.split(|&byte| byte == SEPARATOR);
        let mut at = start;
        for (column, name) in table.columns.iter().zip(&self.names) {
            let (Some(actual), Some(value)) = (parts.next(), parts.next()) else { return false };
            if actual != name {
                return false;
            }
            at += name.len() + 1;
            let text = Field::text(at, at + value.len());
            at += value.len() + 1;
            fields.push(if column.is_number() { number(column.kind, value).map_or(text, Field::Int) } else { text });
        }
        parts.next().is_none()
    }
}

/// Writes a value of this kind as a table has it.
pub fn write_value(kind: Kind, value: Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Int(bits) if kind == Kind::Double => write_double(bits as u64, out),
        Value::Int(n) => {
            out.extend_from_slice(if n < 0 { b"-" } else { b"" });
            write_decimal(n.unsigned_abs(), out);
        }
        Value::Text(text) => out.extend_from_slice(text),
        Value::Null => {}
    }
}

fn number(kind: Kind, digits: &[u8]) -> Option<i64> {
    if kind == Kind::Double {
        return read_double(digits);
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use dbdyno_model::{Column, RowBuffer, Source};

    use super::*;

    fn table(name: &str) -> Table {
        let columns = vec![
            Column::new("id", Kind::Int, Source::Key),
            Column::new("note", Kind::Varchar(10), Source::VersionedLetters { salt: 1 }),
            Column::new("none", Kind::Varchar(10), Source::Nothing),
            Column::new("less", Kind::Int, Source::Linear { first: -3, step: 0 }),
        ];
        Table::new(name, columns)
    }

    fn records(layout: Layout, tables: &[Table]) -> Records {
        let schema = Schema { tables: tables.to_vec(), steps: vec![], statements: vec![], rows: 1 };
        Records::new(layout, &schema, &tables[0])
    }

    #[test]
    fn a_row_is_read_as_it_was_written() {
        let (table, mut row, mut record, mut fields) = (table("t"), RowBuffer::default(), vec![], vec![]);
        table.generate(7, 0, &mut row);
        for layout in [Layout::Value, Layout::Columns] {
            let records = records(layout, std::slice::from_ref(&table));
            records.encode(row.row(), &mut record);
            let bytes = [b"before", &record[..], b"after"].concat();
            assert!(records.decode(&table, &bytes, (6, 6 + record.len()), &mut fields));
            assert!(table.check(Row::new(&bytes, &fields), 7, &mut vec![]).is_ok(), "{layout:?}");
            for none in [(6, 7), (0, 99)] {
                assert!(!records.decode(&table, &bytes, none, &mut fields));
            }
        }
        assert!(record.starts_with(b"id\x007\0note\0") && record.ends_with(b"\0none\0\0less\0-3"));
    }

    #[test]
    fn another_name_or_one_column_more_is_no_row() {
        let table = table("t");
        let records = records(Layout::Columns, std::slice::from_ref(&table));
        let is_row = |record: &[u8]| records.decode(&table, record, (0, record.len()), &mut vec![]);
        assert!(is_row(b"id\x001\0note\0a\0none\0\0less\x005"));
        for wrong in
            [&b"id\x001\0note\0a\0none\0\0more\x005"[..], b"id\x001\0note\0a\0none\0\0less\x005\0x\0", b"id\x001", b""]
        {
            assert!(!is_row(wrong), "{}", wrong.escape_ascii());
        }
    }

    #[test]
    fn a_number_in_double_precision_is_in_words_and_comes_back_to_the_last_bit() {
        let mut table = table("t");
        table.columns.push(Column::new("part", Kind::Double, Source::Fraction { salt: 2, below: 9 }));
        let (records, mut row, mut record) =
            (records(Layout::Columns, std::slice::from_ref(&table)), RowBuffer::default(), vec![]);
        table.generate(7, 0, &mut row);
        records.encode(row.row(), &mut record);
        let mut fields = vec![];
        assert!(records.decode(&table, &record, (0, record.len()), &mut fields));
        assert_eq!(table.check(Row::new(&record, &fields), 7, &mut vec![]), Ok(()));
        assert!(record.windows(6).any(|part| part == b"\0part\0"));
    }

    #[test]
    fn several_tables_share_no_names() {
        let several = records(Layout::Columns, &[table("one"), table("two")]);
        assert_eq!(several.names[0], b"one.id");
    }
}
