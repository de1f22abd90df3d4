//! The null server's memcached text protocol.

use std::sync::Arc;

use dbdyno_stores::Schema;
use dbdyno_wire::{Malformed, memcached as wire};

use super::answerer::Answerer;
use super::keys::Rows;

pub struct Memcached {
    rows: Rows,
}

impl Memcached {
    pub fn new(schema: Arc<Schema>) -> Self {
        Self { rows: Rows::new(schema) }
    }

    fn get<'k>(&mut self, keys: impl Iterator<Item = &'k [u8]>, out: &mut Vec<u8>) {
        for key in keys {
            if self.rows.find(key) {
                wire::value(out, key, self.rows.value());
            }
        }
        out.extend_from_slice(b"END\r\n");
    }
}

impl Answerer for Memcached {
    fn answer(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<Option<usize>, Malformed> {
        let Some((end, next)) = wire::line(bytes, 0)? else { return Ok(None) };
        let mut words = bytes[..end].split(|&b| b == b' ');
        match (words.next(), words.next()) {
            (Some(b"get"), Some(key)) => self.get(std::iter::once(key).chain(words), out),
            (Some(b"incr" | b"decr"), Some(_)) => out.extend_from_slice(b"1\r\n"),
            (Some(b"delete"), Some(_)) => out.extend_from_slice(b"NOT_FOUND\r\n"),
            (Some(b"set"), Some(_)) => {
                let size = words.nth(2).and_then(|w| std::str::from_utf8(w).ok()).and_then(|w| w.parse::<usize>().ok());
                let size = size.ok_or_else(|| Malformed::expected("set key flags time size", &bytes[..end]))?;
                let whole = next.saturating_add(size).saturating_add(2);
                if bytes.len() < whole {
                    return Ok(None);
                }
                out.extend_from_slice(b"STORED\r\n");
                return Ok(Some(whole));
            }
            _ => out.extend_from_slice(b"ERROR\r\n"),
        }
        Ok(Some(next))
    }
}
