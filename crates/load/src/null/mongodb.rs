//! The null server's MongoDB protocol: lets everybody in, finds rows by the first column of a filter.

use std::sync::Arc;

use dbdyno_model::{Kind, RowBuffer, Table, Value};
use dbdyno_stores::{Schema, TABLE_PREFIX, field_name};
use dbdyno_wire::Decoded;
use dbdyno_wire::mongodb::{self as wire, Asked};

use super::answerer::Answerer;
use super::keys::first_number;

pub struct Mongodb {
    schema: Arc<Schema>,
    keys: Vec<u64>,
    row: RowBuffer,
}

impl Mongodb {
    pub fn new(schema: Arc<Schema>) -> Self {
        Self { schema, keys: Vec::new(), row: RowBuffer::default() }
    }

    fn write_rows(keys: &[u64], table: &Table, row: &mut RowBuffer, out: &mut Vec<u8>) {
        wire::document(out, "cursor", |out| {
            wire::array(out, "firstBatch", |out| {
                for (i, &key) in keys.iter().enumerate() {
                    table.generate(key, 0, row);
                    wire::document(out, &i.to_string(), |out| write_row(table, row, out));
                }
            });
            wire::int(out, "id", 0);
            wire::text(out, "ns", b"null");
        });
        wire::int(out, "ok", 1);
    }
}

fn write_row(table: &Table, row: &RowBuffer, out: &mut Vec<u8>) {
    for i in 0..table.columns.len() {
        match row.row().value(i) {
            Value::Int(bits) if table.columns[i].kind == Kind::Double => {
                wire::double(out, field_name(table, i), bits as u64);
            }
            Value::Int(n) => wire::int(out, field_name(table, i), n),
            Value::Text(text) => wire::text(out, field_name(table, i), text),
            Value::Null => {}
        }
    }
}

impl Answerer for Mongodb {
    fn answer(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Decoded<usize> {
        let Self { schema, keys, row } = self;
        keys.clear();
        let asked = |value: Asked<'_>| {
            let key = match value {
                Asked::Number(n) => u64::try_from(n).ok(),
                Asked::Text(text) => first_number(text),
            };
            keys.extend(key.filter(|key| (1..=schema.rows).contains(key)));
        };
        let Some((request, end)) = wire::request(bytes, asked)? else { return Ok(None) };
        let name = request.collection.strip_prefix(TABLE_PREFIX.as_bytes());
        let table = schema.tables.iter().find(|table| Some(table.name.as_bytes()) == name);
        match (request.command, table) {
            (b"find", Some(table)) => {
                wire::write_answer(out, request.number, |out| Self::write_rows(keys, table, row, out));
            }
            _ if request.wants_answer => wire::write_answer(out, request.number, |out| {
                wire::int(out, "n", 1);
                wire::int(out, "ok", 1);
            }),
            _ => {}
        }
        Ok(Some(end))
    }
}
