//! The null server's Tokyo Tyrant protocol: whole values, as a hash or a tree has them.

use std::sync::Arc;

use dbdyno_model::encode_row;
use dbdyno_stores::Schema;
use dbdyno_wire::Malformed;
use dbdyno_wire::tokyotyrant::{self as wire, Command, Range};

use super::answerer::Answerer;
use super::keys::Rows;

pub struct Tokyotyrant {
    rows: Rows,
    keys: Vec<Range>,
    value: Vec<u8>,
}

impl Tokyotyrant {
    pub fn new(schema: Arc<Schema>) -> Self {
        Self { rows: Rows::new(schema), keys: Vec::new(), value: Vec::new() }
    }

    /// Makes the value under a key in `self.value`; false if there is none.
    fn find(&mut self, key: &[u8]) -> bool {
        self.value.clear();
        let is_there = self.rows.find(key);
        if is_there {
            encode_row(self.rows.row.row(), &mut self.value);
        }
        is_there
    }

    fn get_many(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let keys = std::mem::take(&mut self.keys);
        let there = keys.iter().filter(|&&(start, end)| self.rows.find(&bytes[start..end])).count();
        wire::list_of(out, there);
        for &(start, end) in &keys {
            if self.find(&bytes[start..end]) {
                wire::record_of(out, &bytes[start..end], &self.value);
            }
        }
        self.keys = keys;
    }
}

impl Answerer for Tokyotyrant {
    fn answer(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<Option<usize>, Malformed> {
        let Some((command, end)) = wire::request(bytes, &mut self.keys)? else { return Ok(None) };
        match (command, self.keys.first().copied()) {
            (Command::Get, Some((start, stop))) => {
                let is_there = self.find(&bytes[start..stop]);
                wire::value_of(out, is_there.then_some(&self.value));
            }
            (Command::GetMany, _) => self.get_many(bytes, out),
            _ => wire::code(out, true),
        }
        Ok(Some(end))
    }
}
