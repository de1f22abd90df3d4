//! The null server's PostgreSQL protocol: lets everybody in, knows the statements of the workload's steps.

use std::sync::Arc;

use dbdyno_model::{Column, Operation, RowBuffer};
use dbdyno_stores::{Schema, numbered_statement};
use dbdyno_wire::postgres::{self as wire, ScalarType};
use dbdyno_wire::{Decoded, Malformed};

use super::answerer::Answerer;
use super::cells::{cell, is_narrow};
use super::keys::first_number;

/// A number of 4 bytes behind its length.
const INT_PARAM_SIZE_BYTES: usize = 8;

pub struct Postgres {
    schema: Arc<Schema>,
    is_logged_in: bool,
    /// The name under which the client prepared each step's statement.
    names: Vec<Vec<u8>>,
    /// The step that was prepared or bound last, and the keys of rows that it was bound with.
    step: usize,
    keys: Vec<u64>,
    row: RowBuffer,
}

impl Postgres {
    pub fn new(schema: Arc<Schema>) -> Self {
        let names = vec![Vec::new(); schema.steps.len()];
        Self { schema, is_logged_in: false, names, step: 0, keys: Vec::new(), row: RowBuffer::default() }
    }

    fn prepare(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Malformed> {
        let (name, sql) =
            wire::parse_message(payload).ok_or_else(|| Malformed::expected("a statement to prepare", payload))?;
        let is_it = |&i: &usize| numbered_statement(&self.schema, i).as_bytes() == sql;
        let step = (0..self.schema.steps.len()).find(is_it);
        self.step = step.ok_or_else(|| Malformed::expected("a statement of the workload", sql))?;
        self.names[self.step] = name.to_vec();
        wire::frame(out, b'1', |_| {});
        Ok(())
    }

    /// The parameter types are those PostgreSQL infers from the columns.
    fn describe(&self, out: &mut Vec<u8>) {
        let operation = self.schema.steps[self.step].operation;
        let table = &self.schema.tables[operation.table()];
        let types: Vec<ScalarType> = table.columns.iter().map(scalar_type).collect();
        let named: Vec<_> = table.columns.iter().zip(&types).map(|(c, &kind)| (c.name.as_str(), kind)).collect();
        match operation {
            Operation::Get { .. } | Operation::GetElsewhere { .. } => wire::write_description(out, &types[..1], &named),
            Operation::GetMany { keys, .. } => wire::write_description(out, &vec![types[0]; keys], &named),
            Operation::Find { column, .. } => wire::write_description(out, &types[column..=column], &named),
            Operation::Add { column, .. } => wire::write_description(out, &[types[column], types[0]], &[]),
            Operation::Insert { .. } | Operation::Put { .. } => wire::write_description(out, &types, &[]),
            Operation::Delete { .. } => wire::write_description(out, &types[..1], &[]),
            Operation::Scan { .. } => wire::write_description(out, &[types[0], ScalarType::Int8], &named),
            Operation::Begin { .. } | Operation::Commit | Operation::Rollback => wire::write_description(out, &[], &[]),
            // Null servers never get these.
            Operation::SumRange { .. } | Operation::Sql { .. } | Operation::Transaction => {
                wire::write_description(out, &[], &[]);
            }
            Operation::Update { .. } => {
                let versioned = (0..types.len()).filter(|&i| table.columns[i].is_versioned());
                let params: Vec<ScalarType> = versioned.map(|i| types[i]).chain([types[0]]).collect();
                wire::write_description(out, &params, &[]);
            }
        }
    }

    fn bind(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Malformed> {
        let wrong = || Malformed::expected("a statement to execute", payload);
        let bound = wire::bound(payload).ok_or_else(wrong)?;
        self.step = self.names.iter().position(|name| name == bound.statement).ok_or_else(wrong)?;
        let is_text = match self.schema.steps[self.step].operation {
            Operation::Find { table, column } => !self.schema.tables[table].columns[column].is_number(),
            _ => false,
        };
        let number = |bytes: &[u8]| bytes.first_chunk().map(|n| u64::from(u32::from_be_bytes(*n)));
        self.keys.clear();
        match self.schema.steps[self.step].operation {
            Operation::GetMany { keys, .. } => {
                let params = bound.params.chunks_exact(INT_PARAM_SIZE_BYTES).take(keys);
                self.keys.extend(params.filter_map(|param| number(&param[4..])));
            }
            _ if is_text => self.keys.extend(first_number(bound.param)),
            _ => self.keys.extend(number(bound.param)),
        }
        let rows = self.schema.rows;
        self.keys.retain(|key| (1..=rows).contains(key));
        wire::write_bound(out);
        Ok(())
    }

    fn execute(&mut self, out: &mut Vec<u8>) {
        let operation = self.schema.steps[self.step].operation;
        use Operation::{Find, Get, GetMany};
        if !matches!(operation, Get { .. } | GetMany { .. } | Find { .. }) {
            return wire::write_complete(out, "UPDATE 1");
        }
        for &key in &self.keys {
            let table = &self.schema.tables[operation.table()];
            table.generate(key, 0, &mut self.row);
            let row = self.row.row();
            let columns = table.columns.iter().enumerate();
            wire::write_row(out, columns.map(|(i, column)| (scalar_type(column), cell(row.value(i)))));
        }
        wire::write_complete(out, &format!("SELECT {}", self.keys.len()));
    }
}

fn scalar_type(column: &Column) -> ScalarType {
    match column.is_number() {
        true if is_narrow(column) => ScalarType::Int4,
        true => ScalarType::Int8,
        false => ScalarType::Text,
    }
}

impl Answerer for Postgres {
    fn answer(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Decoded<usize> {
        if !self.is_logged_in {
            let end = wire::startup_message(bytes)?;
            if end.is_some() {
                self.is_logged_in = true;
                wire::write_welcome(out);
            }
            return Ok(end);
        }
        let Some(message) = wire::message(bytes, 0)? else { return Ok(None) };
        let payload = &bytes[message.start..message.end];
        match message.kind {
            b'B' => self.bind(payload, out)?,
            b'Q' => {
                wire::write_complete(out, "BEGIN");
                wire::write_ready(out);
            }
            b'E' => self.execute(out),
            b'S' => wire::write_ready(out),
            b'P' => self.prepare(payload, out)?,
            b'D' => self.describe(out),
            _ => return Err(Malformed::expected("a prepared statement", bytes)),
        }
        Ok(Some(message.end))
    }
}
