//! The null server's HandlerSocket: any secret is right, and the number of an index is that of the step it was opened for.

use std::sync::Arc;

use dbdyno_model::RowBuffer;
use dbdyno_stores::{Schema, param};
use dbdyno_wire::handlersocket as wire;
use dbdyno_wire::{Decoded, Malformed, Param};

use super::answerer::Answerer;
use super::keys::first_number;

/// In a request to find: the index, the operator, how many values, the value; then perhaps limit, offset, and what it is about.
const VALUE: usize = 3;
const WHAT: usize = 6;
/// Behind `@`: which column, and how many values, before these.
const VALUES: usize = WHAT + 3;

pub struct Handlersocket {
    schema: Arc<Schema>,
    words: Vec<(usize, usize)>,
    row: RowBuffer,
}

impl Handlersocket {
    pub fn new(schema: Arc<Schema>) -> Self {
        Self { schema, words: Vec::new(), row: RowBuffer::default() }
    }

    fn find(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Malformed> {
        let Self { schema, words, row } = self;
        let word = |i: usize| words.get(i).map_or(&[][..], |&(start, end)| &bytes[start..end]);
        let step = first_number(word(0)).and_then(|step| schema.steps.get(step as usize));
        let step = step.ok_or_else(|| Malformed::expected("an index that was opened", bytes))?;
        let table = &schema.tables[step.operation.table()];
        let asked = if word(WHAT) == b"@" { VALUES..words.len() } else { VALUE..VALUE + 1 };
        wire::values(out, table.columns.len(), std::iter::empty());
        for key in asked.filter_map(|i| first_number(word(i))).filter(|key| (1..=schema.rows).contains(key)) {
            table.generate(key, 0, row);
            let row = row.row();
            let columns = table.columns.iter().enumerate();
            wire::more_values(out, columns.map(|(i, column)| param(column.kind, row.value(i))));
        }
        Ok(())
    }
}

impl Answerer for Handlersocket {
    fn answer(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Decoded<usize> {
        self.words.clear();
        let words = &mut self.words;
        let Some((_, end)) = wire::line(bytes, |start, end| words.push((start, end)))? else { return Ok(None) };
        let word = |i: usize| self.words.get(i).map_or(&[][..], |&(start, end)| &bytes[start..end]);
        match (word(0), word(1), word(WHAT)) {
            (b"A" | b"P", ..) | (_, b"+", _) => wire::values(out, 1, std::iter::empty()),
            (_, b"=", b"U" | b"+" | b"D") => wire::values(out, 1, std::iter::once(Param::Int(1))),
            _ => self.find(bytes, out)?,
        }
        Ok(Some(end))
    }
}
