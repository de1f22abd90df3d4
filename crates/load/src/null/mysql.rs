//! The null server's MySQL protocol: lets everybody in, knows the statements of the workload's steps.

use std::sync::Arc;

use dbdyno_model::{Column, Operation, Row, RowBuffer};
use dbdyno_stores::{Schema, param, step_handler, step_statement};
use dbdyno_wire::mysql::{self as wire, BulkType};
use dbdyno_wire::{Decoded, Malformed, Param};

use super::answerer::Answerer;
use super::cells::{cell, is_narrow};
use super::keys::first_number;

const OK: &[u8] = b"\x00\x01\x00\x02\x00\x00\x00";
const END_OF_ROWS: &[u8] = b"\xfe\x00\x00\x02\x00\x00\x00";
/// In COM_STMT_EXECUTE: the command, the statement, flags, a count of 1, one byte of NULL bits, whether types follow.
const EXECUTE_HEAD_SIZE_BYTES: usize = 1 + 4 + 1 + 4 + 1 + 1;
/// A parameter's type takes two bytes, a number eight.
const TYPE_SIZE_BYTES: usize = 2;
const NUMBER_SIZE_BYTES: usize = 8;

enum State {
    LoggingIn,
    Ready,
}

pub struct Mysql {
    schema: Arc<Schema>,
    state: State,
    /// True if the key of each step's statement is text, as the client said when it first executed it.
    is_text: Vec<bool>,
    row: RowBuffer,
}

impl Mysql {
    pub fn new(schema: Arc<Schema>) -> Self {
        let is_text = vec![false; schema.steps.len()];
        Self { schema, state: State::LoggingIn, is_text, row: RowBuffer::default() }
    }

    fn prepare(&self, sql: &[u8], out: &mut Vec<u8>) {
        let is_asked = |statement: String| statement.as_bytes() == sql;
        let step = (0..self.schema.steps.len()).find(|&i| {
            is_asked(step_statement(&self.schema, i)) || step_handler(&self.schema, i).is_some_and(is_asked)
        });
        let Some(step) = step else { return error(out, "the null server does not know this statement") };
        let table = &self.schema.tables[self.schema.steps[step].operation.table()];
        let params = sql.iter().filter(|&&b| b == b'?').count();
        let columns = if self.has_rows(step) { &table.columns[..] } else { &[] };
        let mut sequence = 1;
        let mut packet = |out: &mut Vec<u8>, write: &dyn Fn(&mut Vec<u8>)| {
            wire::frame(out, sequence, |out| write(out));
            sequence += 1;
        };
        packet(out, &|out| {
            out.push(0);
            out.extend_from_slice(&(step as u32).to_le_bytes());
            out.extend_from_slice(&(columns.len() as u16).to_le_bytes());
            out.extend_from_slice(&(params as u16).to_le_bytes());
            out.extend_from_slice(&[0, 0, 0]);
        });
        (0..params).for_each(|_| packet(out, &|out| wire::write_definition(out, "?", BulkType::Int32)));
        columns.iter().for_each(|c| packet(out, &|out| wire::write_definition(out, &c.name, sent_as(c))));
    }

    fn has_rows(&self, step: usize) -> bool {
        use Operation::{Find, Get, GetMany};
        matches!(self.schema.steps[step].operation, Get { .. } | GetMany { .. } | Find { .. })
    }

    /// The keys that a statement for several asks for.
    fn several_keys(payload: &[u8], keys: usize) -> Option<impl Iterator<Item = u64> + '_> {
        let types = EXECUTE_HEAD_SIZE_BYTES - 1 + keys.div_ceil(8) - 1;
        let skipped = if *payload.get(types)? == 1 { keys * TYPE_SIZE_BYTES } else { 0 };
        let numbers = payload.get(types + 1 + skipped..)?.chunks_exact(NUMBER_SIZE_BYTES).take(keys);
        Some(numbers.filter_map(|bytes| bytes.first_chunk().map(|n| u64::from_le_bytes(*n))))
    }

    fn execute(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Malformed> {
        let short = || Malformed::expected("a statement to execute", payload);
        let step = payload.get(1..).and_then(|b| b.first_chunk()).map(|id| u32::from_le_bytes(*id) as usize);
        let step = step.filter(|&step| step < self.schema.steps.len()).ok_or_else(short)?;
        if !self.has_rows(step) {
            wire::frame(out, 1, |out| out.extend_from_slice(OK));
            return Ok(());
        }
        if let Operation::GetMany { keys, .. } = self.schema.steps[step].operation {
            let keys = Self::several_keys(payload, keys).ok_or_else(short)?;
            self.answer_rows(step, keys, out);
            return Ok(());
        }
        let has_types = *payload.get(EXECUTE_HEAD_SIZE_BYTES - 1).ok_or_else(short)? == 1;
        let mut value = payload.get(EXECUTE_HEAD_SIZE_BYTES..).ok_or_else(short)?;
        if has_types {
            self.is_text[step] = value.first() != Some(&8);
            value = value.get(2..).ok_or_else(short)?;
        }
        let key = match self.is_text[step] {
            true => first_number(value.get(1..).ok_or_else(short)?),
            false => value.first_chunk().map(|n| u64::from_le_bytes(*n)),
        };
        self.answer_rows(step, key.into_iter(), out);
        Ok(())
    }

    /// Answers a statement with its parameters in it, as text too.
    fn query(&mut self, sql: &[u8], out: &mut Vec<u8>) {
        let behind = |statement: &str| sql.strip_prefix(statement.split('?').next()?.as_bytes());
        let answered = (0..self.schema.steps.len()).filter(|&i| self.has_rows(i)).find_map(|i| {
            let rest = behind(&step_statement(&self.schema, i));
            Some((i, rest.or_else(|| behind(&step_handler(&self.schema, i)?))?))
        });
        let Some((step, rest)) = answered else {
            return wire::frame(out, 1, |out| out.extend_from_slice(OK));
        };
        let table = &self.schema.tables[self.schema.steps[step].operation.table()];
        let mut sequence = 0u8;
        let mut packet = |out: &mut Vec<u8>, write: &dyn Fn(&mut Vec<u8>)| {
            sequence = sequence.wrapping_add(1);
            wire::frame(out, sequence, |out| write(out));
        };
        packet(out, &|out| out.push(table.columns.len() as u8));
        table.columns.iter().for_each(|c| packet(out, &|out| wire::write_definition(out, &c.name, sent_as(c))));
        for key in rest.split(|&b| b == b',').filter_map(first_number) {
            if (1..=self.schema.rows).contains(&key) {
                table.generate(key, 0, &mut self.row);
                packet(out, &|out| wire::write_text_row(out, words(&table.columns, self.row.row())));
            }
        }
        packet(out, &|out| out.extend_from_slice(END_OF_ROWS));
    }

    fn answer_rows(&mut self, step: usize, keys: impl Iterator<Item = u64>, out: &mut Vec<u8>) {
        let table = &self.schema.tables[self.schema.steps[step].operation.table()];
        wire::frame(out, 1, |out| out.extend_from_slice(&[table.columns.len() as u8, 0]));
        let mut sequence = 1u8;
        for key in keys.filter(|key| (1..=self.schema.rows).contains(key)) {
            sequence = sequence.wrapping_add(1);
            table.generate(key, 0, &mut self.row);
            wire::frame(out, sequence, |out| wire::write_binary_row(out, cells(&table.columns, self.row.row())));
        }
        wire::frame(out, sequence.wrapping_add(1), |out| out.extend_from_slice(END_OF_ROWS));
    }
}

fn sent_as(column: &Column) -> BulkType {
    match column.is_number() {
        true if is_narrow(column) => BulkType::Int32,
        true => BulkType::Int64,
        false => BulkType::Text,
    }
}

fn cells<'a>(columns: &'a [Column], row: Row<'a>) -> impl ExactSizeIterator<Item = (BulkType, Param<'a>)> {
    columns.iter().enumerate().map(move |(i, column)| (sent_as(column), cell(row.value(i))))
}

/// In words a value is as a server of its kind has it.
fn words<'a>(columns: &'a [Column], row: Row<'a>) -> impl Iterator<Item = Param<'a>> {
    columns.iter().enumerate().map(move |(i, column)| param(column.kind, row.value(i)))
}

fn error(out: &mut Vec<u8>, message: &str) {
    wire::frame(out, 1, |out| {
        out.extend_from_slice(b"\xff\x51\x04#HY000");
        out.extend_from_slice(message.as_bytes());
    });
}

impl Answerer for Mysql {
    fn greet(&mut self, out: &mut Vec<u8>) {
        wire::frame(out, 0, |out| out.extend_from_slice(&wire::server_greeting()));
    }

    fn answer(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Decoded<usize> {
        let Some(packet) = wire::packet(bytes, 0)? else { return Ok(None) };
        let payload = &bytes[packet.start..packet.end];
        match (&self.state, payload.first()) {
            (State::LoggingIn, _) => {
                self.state = State::Ready;
                wire::frame(out, packet.sequence.wrapping_add(1), |out| out.extend_from_slice(OK));
            }
            (State::Ready, Some(0x16)) => self.prepare(&payload[1..], out),
            (State::Ready, Some(0x17)) => self.execute(payload, out)?,
            (State::Ready, Some(0x03)) => self.query(&payload[1..], out),
            (State::Ready, _) => wire::frame(out, 1, |out| out.extend_from_slice(OK)),
        }
        Ok(Some(packet.end))
    }
}
