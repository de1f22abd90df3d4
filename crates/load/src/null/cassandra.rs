//! The null server's CQL protocol: lets everybody in, knows the statements of the workload's steps, and no other node.

use std::sync::Arc;

use dbdyno_model::{Column, Operation, RowBuffer};
use dbdyno_stores::{Schema, step_statement};
use dbdyno_wire::cql::{self as wire, CqlType};
use dbdyno_wire::{Decoded, Malformed};

use super::answerer::Answerer;
use super::cells::{cell, is_narrow};
use super::keys::first_number;

const STARTUP: u8 = 0x01;
const QUERY: u8 = 0x07;
const PREPARE: u8 = 0x09;
const EXECUTE: u8 = 0x0a;
/// A number of 4 bytes behind its length.
const INT_PARAM_SIZE_BYTES: usize = 8;

pub struct Cassandra {
    schema: Arc<Schema>,
    row: RowBuffer,
    keys: Vec<u64>,
}

impl Cassandra {
    pub fn new(schema: Arc<Schema>) -> Self {
        Self { schema, row: RowBuffer::default(), keys: Vec::new() }
    }

    fn prepare(&self, stream: u16, body: &[u8], out: &mut Vec<u8>) -> Result<(), Malformed> {
        let cql = wire::text(body).and_then(|text| std::str::from_utf8(text).ok());
        let cql = without_keyspace(cql.ok_or_else(|| Malformed::expected("a statement to prepare", body))?);
        let step = (0..self.schema.steps.len()).find(|&i| step_statement(&self.schema, i) == cql);
        let step = step.ok_or_else(|| Malformed::expected("a statement of the workload", body))?;
        let operation = self.schema.steps[step].operation;
        let table = &self.schema.tables[operation.table()];
        let kind = |i: usize| sent_as(&table.columns[i]);
        let all = || (0..table.columns.len()).map(|i| (table.columns[i].name.as_str(), kind(i))).collect::<Vec<_>>();
        let (params, columns) = match operation {
            Operation::Get { .. } => (vec![kind(0)], all()),
            Operation::GetMany { keys, .. } => (vec![kind(0); keys], all()),
            Operation::Find { column, .. } => (vec![kind(column)], all()),
            Operation::Update { .. } => {
                let versioned = (0..table.columns.len()).filter(|&i| table.columns[i].is_versioned());
                (versioned.chain([0]).map(kind).collect(), vec![])
            }
            _ => ((0..table.columns.len()).map(kind).collect(), vec![]),
        };
        wire::write_prepared(out, stream, &[step as u8], &params, &columns);
        Ok(())
    }

    fn execute(&mut self, stream: u16, body: &[u8], out: &mut Vec<u8>) -> Result<(), Malformed> {
        let wrong = || Malformed::expected("a statement to execute", body);
        let executed = wire::executed(body).ok_or_else(wrong)?;
        let step = executed.id.first().and_then(|&id| self.schema.steps.get(usize::from(id))).ok_or_else(wrong)?;
        let table = &self.schema.tables[step.operation.table()];
        let number = |bytes: &[u8]| bytes.first_chunk().map(|n| u64::from(u32::from_be_bytes(*n)));
        self.keys.clear();
        match step.operation {
            Operation::GetMany { keys, .. } => {
                let params = executed.params.chunks_exact(INT_PARAM_SIZE_BYTES).take(keys);
                self.keys.extend(params.filter_map(|param| number(&param[4..])));
            }
            Operation::Find { column, .. } if !table.columns[column].is_number() => {
                self.keys.extend(first_number(executed.param));
            }
            Operation::Get { .. } | Operation::Find { .. } => self.keys.extend(number(executed.param)),
            _ => {
                wire::write_void(out, stream);
                return Ok(());
            }
        }
        self.answer_rows(stream, step.operation.table(), out);
        Ok(())
    }

    fn answer_rows(&mut self, stream: u16, table: usize, out: &mut Vec<u8>) {
        let (table, rows) = (&self.schema.tables[table], self.schema.rows);
        let row = &mut self.row;
        row.clear();
        for &key in self.keys.iter().filter(|key| (1..=rows).contains(*key)) {
            table.columns.iter().for_each(|column| column.generate(key, 0, row));
        }
        let row = row.row();
        let columns = table.columns.iter().cycle();
        let cells = columns.zip(0..row.len()).map(|(column, i)| (sent_as(column), cell(row.value(i))));
        wire::write_rows(out, stream, table.columns.len(), cells);
    }
}

fn sent_as(column: &Column) -> CqlType {
    match column.is_number() {
        true if is_narrow(column) => CqlType::Int,
        true => CqlType::Bigint,
        false => CqlType::Text,
    }
}

/// A statement with its table's name alone.
fn without_keyspace(cql: &str) -> String {
    let named = |word: &str| word.split_once('.').map_or(word, |(_, table)| table).to_string();
    cql.split(' ').map(named).collect::<Vec<_>>().join(" ")
}

impl Answerer for Cassandra {
    fn answer(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Decoded<usize> {
        let Some(frame) = wire::request(bytes)? else { return Ok(None) };
        let body = &bytes[frame.start..frame.end];
        match frame.opcode {
            EXECUTE => self.execute(frame.stream, body, out)?,
            STARTUP => wire::write_ready(out, frame.stream),
            QUERY => wire::write_void(out, frame.stream),
            PREPARE => self.prepare(frame.stream, body, out)?,
            _ => return Err(Malformed::expected("a statement", bytes)),
        }
        Ok(Some(frame.end))
    }
}
