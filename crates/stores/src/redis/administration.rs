//! Before and after a run: the marker, and the keys that are there.

use std::collections::BTreeSet;
use std::ops::Range;

use dbdyno_model::{Failure, Field, Operation, Value};
use dbdyno_wire::redis::{Reply, command, part, reply, whole_command};
use dbdyno_wire::{Decoded, Malformed};

use super::{BATCH, RedisSession, integer, one, refused};
use crate::keys::{MARKER_KEY, write_key, write_key_of_row};
use crate::{Administration, MARKER, Trouble};

impl RedisSession {
    /// Keys of the table that exist although they are about to be made.
    async fn first_foreign_key(&mut self, table: usize) -> Result<Option<String>, Failure> {
        let keys_of_table = Some(format!("{MARKER}{}:*", self.schema.tables[table].name));
        // Behind the rows, too: what a run adds there is removed.
        if self.is_growing(table) {
            return Ok(if self.numbers(table).await?.is_empty() { None } else { keys_of_table });
        }
        for first in (1..=self.schema.rows).step_by(BATCH as usize) {
            let keys = first..(first + BATCH).min(self.schema.rows + 1);
            self.key_batch(b"EXISTS", table, keys.clone());
            let mut found = 0;
            self.pipeline(1, |reply| found = if let Reply::Integer(n) = reply { n } else { 0 }).await?;
            if found > 0 {
                return Ok(keys_of_table);
            }
        }
        Ok(None)
    }

    /// One command over the keys of these rows.
    fn key_batch(&mut self, name: &[u8], table: usize, keys: Range<u64>) {
        self.keys_command(name, table, keys.collect::<Vec<_>>().into_iter());
    }

    fn keys_command(&mut self, name: &[u8], table: usize, keys: impl ExactSizeIterator<Item = u64>) {
        let request = self.exchange.begin();
        command(request, 1 + keys.len());
        part(request, name);
        for key in keys {
            let columns = &self.schema.tables[table];
            write_key_of_row(columns, &self.prefixes[table], key, &mut self.generated, &mut self.key);
            part(request, &self.key);
        }
    }

    /// Whether a run adds rows to the table: which keys it has then does not follow from the number of rows.
    fn is_growing(&self, table: usize) -> bool {
        self.schema.steps.iter().any(|step| step.operation == Operation::Insert { table })
    }

    /// Hands `each` the names of the table's keys that are there, by SCAN through all of the database, a batch at a time. One that others
    /// write to meanwhile can name a key twice.
    async fn scan(&mut self, table: usize, mut each: impl FnMut(&[u8])) -> Result<(), Failure> {
        let pattern = [&self.prefixes[table][..], b"*"].concat();
        let (mut cursor, count) = (b"0".to_vec(), BATCH.to_string());
        loop {
            whole_command(self.exchange.begin(), &[b"SCAN", &cursor, b"MATCH", &pattern, b"COUNT", count.as_bytes()]);
            let next = self.exchange.ask(|bytes| scanned(bytes, &mut each)).await?.map_err(refused)?;
            if next == b"0" {
                return Ok(());
            }
            cursor = next;
        }
    }

    /// The numbers in the names of the table's keys, each once; a table that rows are added to is filed under these.
    async fn numbers(&mut self, table: usize) -> Result<BTreeSet<u64>, Failure> {
        let prefix_len = self.prefixes[table].len();
        let mut numbers = BTreeSet::new();
        self.scan(table, |name| {
            let number = std::str::from_utf8(&name[prefix_len..]).ok().and_then(|digits| digits.parse().ok());
            numbers.extend::<Option<u64>>(number);
        })
        .await?;
        Ok(numbers)
    }

    /// Removes what a run has added behind the rows that were loaded.
    async fn remove_added(&mut self, table: usize) -> Result<(), Failure> {
        if !self.is_growing(table) {
            return Ok(());
        }
        let added: Vec<u64> = self.numbers(table).await?.split_off(&(self.schema.rows + 1)).into_iter().collect();
        for batch in added.chunks(BATCH as usize) {
            self.keys_command(b"DEL", table, batch.iter().copied());
            self.pipeline(1, drop).await?;
        }
        Ok(())
    }

    async fn remove_keys(&mut self) -> Result<(), Failure> {
        for table in 0..self.schema.tables.len() {
            self.remove_added(table).await?;
            for first in (1..=self.schema.rows).step_by(BATCH as usize) {
                self.key_batch(b"DEL", table, first..(first + BATCH).min(self.schema.rows + 1));
                self.pipeline(1, drop).await?;
            }
        }
        self.command(&[b"DEL", MARKER_KEY]).await.map(drop)
    }
}

/// Decodes one field that holds a number; a field that is not there counts as 0.
fn one_number(bytes: &[u8]) -> Decoded<(Result<i64, String>, usize)> {
    Ok(one(bytes)?.map(|(answer, end)| {
        let number = answer.map(|reply| match reply {
            Reply::Bulk { start, end } => match integer(&bytes[start..end]) {
                Field::Int(n) => n,
                _ => 0,
            },
            _ => 0,
        });
        (number, end)
    }))
}

/// Decodes the answer to SCAN: hands each name to `each`, and returns the next cursor.
fn scanned(bytes: &[u8], each: &mut impl FnMut(&[u8])) -> Decoded<(Result<Vec<u8>, String>, usize)> {
    let Some((head, at)) = one(bytes)? else { return Ok(None) };
    match head {
        Err(message) => return Ok(Some((Err(message), at))),
        Ok(Reply::Array { len: 2 }) => {}
        Ok(other) => return Err(Malformed(format!("expected a cursor and names, got {other:?}"))),
    }
    let Some((cursor, at)) = text(bytes, at)? else { return Ok(None) };
    let Some((head, mut at)) = reply(bytes, at)? else { return Ok(None) };
    let Reply::Array { len } = head else { return Err(Malformed(format!("expected names, got {head:?}"))) };
    // Names are handed on when all of them are there: an answer that was cut is decoded once more from its beginning.
    let mut names = Vec::new();
    for _ in 0..len {
        let Some((name, next)) = text(bytes, at)? else { return Ok(None) };
        names.push(name);
        at = next;
    }
    names.into_iter().for_each(each);
    Ok(Some((Ok(cursor.to_vec()), at)))
}

fn text(bytes: &[u8], at: usize) -> Decoded<(&[u8], usize)> {
    match reply(bytes, at)? {
        None => Ok(None),
        Some((Reply::Bulk { start, end }, next)) => Ok(Some((&bytes[start..end], next))),
        Some((other, _)) => Err(Malformed(format!("expected a text, got {other:?}"))),
    }
}

impl Administration for RedisSession {
    async fn prepare(&mut self, marker: &str) -> Result<(), Trouble> {
        let is_marked = self.marker().await?.is_some();
        for table in 0..self.schema.tables.len() {
            if is_marked {
                self.remove_added(table).await?;
            } else if let Some(keys) = self.first_foreign_key(table).await? {
                return Err(Trouble::Refused(format!(
                    "keys {keys} exist without dbdyno's marker: they are not dbdyno's to overwrite. Use another database number"
                )));
            }
        }
        self.command(&[b"SET", MARKER_KEY, marker.as_bytes()]).await?;
        Ok(())
    }

    async fn load(&mut self, table: usize, keys: Range<u64>) -> Result<(), Trouble> {
        for first in keys.clone().step_by(BATCH as usize) {
            let last = (first + BATCH).min(keys.end);
            self.exchange.begin();
            for key in first..last {
                self.append_row(table, key, 0);
            }
            self.pipeline(last - first, drop).await?;
        }
        Ok(())
    }

    fn loads_by(&self) -> &'static str {
        if self.is_hash { "pipelined HSET" } else { "pipelined SET" }
    }

    async fn index(&mut self, _: usize) -> Result<(), Trouble> {
        Ok(())
    }

    async fn count(&mut self, table: usize) -> Result<Option<u64>, Trouble> {
        if self.is_growing(table) {
            return Ok(Some(self.numbers(table).await?.len() as u64));
        }
        self.present(table, 1..self.schema.rows + 1).await
    }

    async fn present(&mut self, table: usize, keys: Range<u64>) -> Result<Option<u64>, Trouble> {
        let mut count = 0;
        for first in keys.clone().step_by(BATCH as usize) {
            self.key_batch(b"EXISTS", table, first..(first + BATCH).min(keys.end));
            self.pipeline(1, |reply| count += if let Reply::Integer(n) = reply { n as u64 } else { 0 }).await?;
        }
        Ok(Some(count))
    }

    async fn last_key(&mut self, table: usize) -> Result<Option<u64>, Trouble> {
        Ok(self.numbers(table).await?.last().copied())
    }

    async fn sum(&mut self, table: usize, column: usize) -> Result<Option<i128>, Trouble> {
        if !self.is_hash {
            return Ok(None);
        }
        let name = self.schema.tables[table].columns[column].name.clone();
        let mut sum = 0;
        for first in (1..=self.schema.rows).step_by(BATCH as usize) {
            let keys = first..(first + BATCH).min(self.schema.rows + 1);
            self.exchange.begin();
            for key in keys.clone() {
                write_key(&self.prefixes[table], Value::Int(key as i64), &mut self.key);
                whole_command(&mut self.exchange.request, &[b"HGET", &self.key, name.as_bytes()]);
            }
            self.exchange.send().await?;
            for _ in keys {
                sum += i128::from(self.exchange.next(one_number).await?.map_err(refused)?);
            }
        }
        Ok(Some(sum))
    }

    async fn marker(&mut self) -> Result<Option<String>, Trouble> {
        match self.command(&[b"GET", MARKER_KEY]).await? {
            Reply::Bulk { start, end } => {
                Ok(Some(String::from_utf8_lossy(&self.exchange.bytes()[start..end]).into_owned()))
            }
            _ => Ok(None),
        }
    }

    async fn remove(&mut self) -> Result<Vec<String>, Trouble> {
        self.remove_keys().await?;
        Ok(self.schema.tables.iter().map(|t| format!("{MARKER}{}:*", t.name)).collect())
    }
}
