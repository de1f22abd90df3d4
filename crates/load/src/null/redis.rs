//! The null server's Redis protocol.

use std::sync::Arc;

use dbdyno_model::Value;
use dbdyno_stores::Schema;
use dbdyno_wire::{Malformed, redis as wire};

use super::answerer::Answerer;
use super::keys::Rows;

pub struct Redis {
    rows: Rows,
    parts: Vec<(usize, usize)>,
}

impl Redis {
    pub fn new(schema: Arc<Schema>) -> Self {
        Self { rows: Rows::new(schema), parts: Vec::new() }
    }

    fn get(&mut self, key: &[u8], out: &mut Vec<u8>) {
        if self.rows.find(key) {
            wire::part(out, self.rows.value());
        } else {
            out.extend_from_slice(b"$-1\r\n");
        }
    }

    /// All columns in order, which is how dbdyno asks for them.
    fn hmget(&mut self, key: &[u8], out: &mut Vec<u8>) {
        let columns = self.parts.len() - 2;
        wire::command(out, columns);
        let has_row = self.rows.find(key);
        for i in 0..columns {
            match self.rows.row.row().value(i) {
                Value::Int(n) if has_row => wire::part(out, n.to_string().as_bytes()),
                Value::Text(text) if has_row => wire::part(out, text),
                _ => out.extend_from_slice(b"$-1\r\n"),
            }
        }
    }
}

impl Answerer for Redis {
    fn answer(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<Option<usize>, Malformed> {
        let Some(end) = wire::parse_command(bytes, 0, &mut self.parts)? else { return Ok(None) };
        let part = |i: usize| self.parts.get(i).map_or(&b""[..], |&(start, end)| &bytes[start..end]);
        match (part(0), part(1)) {
            (b"GET", key) => self.get(key, out),
            (b"MGET", _) => {
                let keys = std::mem::take(&mut self.parts);
                wire::command(out, keys.len() - 1);
                keys[1..].iter().for_each(|&(start, end)| self.get(&bytes[start..end], out));
                self.parts = keys;
            }
            (b"HMGET", key) => self.hmget(key, out),
            (b"HINCRBY" | b"INCRBY" | b"DEL" | b"EXISTS" | b"HSET", _) => out.extend_from_slice(b":0\r\n"),
            (b"HGET", _) => out.extend_from_slice(b"$-1\r\n"),
            _ => out.extend_from_slice(b"+OK\r\n"),
        }
        Ok(Some(end))
    }
}
