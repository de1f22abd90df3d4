//! Before and after a run: the keys that are there.

use std::collections::BTreeSet;
use std::ops::Range;

use dbdyno_model::{Failure, Field, Operation, Value};
use dbdyno_net::now_ns;
use dbdyno_wire::redis::{Reply, reply, whole_command};
use dbdyno_wire::{Decoded, Malformed};

use super::{BATCH, ELSEWHERE, RedisSession, integer, refused, reply_or_error};
use crate::claim::unmarked;
use crate::key_set::KeySet;
use crate::keys::{batches, write_key};
use crate::{Administration, Claim, Cleaning, MARKER, Trouble, Withdrawn};

/// A batch of the database's keys may take as long as an operation, and all of them an hour.
const LONGEST_SCAN_NS: u64 = 3600 * 1_000_000_000;
/// Names that SCAN may give beyond twice the keys that were there when it began: others add keys meanwhile.
const MORE_NAMES: u64 = 1_000_000;

impl RedisSession {
    /// Keys of the table that exist although they are about to be made.
    async fn first_foreign_key(&mut self, table: usize) -> Result<Option<String>, Failure> {
        let keys_of_table = Some(format!("{MARKER}{}:*", self.schema.tables[table].name));
        // Behind the rows, too: what a run adds there is removed.
        if self.is_growing(table) {
            return Ok(if self.numbers(table).await?.is_empty() { None } else { keys_of_table });
        }
        let count = self.count_keys_of_rows(table, self.schema.tables[table].numbers(self.schema.rows)).await?;
        Ok(if count == 0 { None } else { keys_of_table })
    }

    async fn count_keys_of_rows(&mut self, table: usize, numbers: Range<u64>) -> Result<u64, Failure> {
        let schema = self.schema.clone();
        self.count_keys(&KeySet::rows(&schema.tables[table]), numbers).await
    }

    /// How many of the keys with these numbers are there.
    pub async fn count_keys(&mut self, key_set: &KeySet<'_>, numbers: Range<u64>) -> Result<u64, Failure> {
        let mut count = 0;
        for batch in batches(numbers, BATCH) {
            self.exchange.begin();
            self.append_keys(b"EXISTS", key_set, batch.collect::<Vec<_>>().into_iter());
            self.pipeline(1, |reply| count += if let Reply::Integer(n) = reply { n as u64 } else { 0 }).await?;
        }
        Ok(count)
    }

    /// Returns whether a run adds rows to the table: which keys it has then does not follow from the number of rows.
    fn is_growing(&self, table: usize) -> bool {
        self.schema.steps.iter().any(|step| step.operation == Operation::Insert { table })
    }

    /// How many keys the database has; as many as there can be if the server does not say.
    async fn keys_in_database(&mut self) -> Result<u64, Failure> {
        whole_command(self.exchange.begin(), &[b"DBSIZE"]);
        Ok(match self.exchange.ask(reply_or_error).await? {
            Ok(Reply::Integer(n)) => u64::try_from(n).unwrap_or(0),
            _ => u64::MAX,
        })
    }

    /// Hands `each` the names of the table's keys that are there, by SCAN through all of the database, a batch at a time. One that others
    /// write to meanwhile can name a key twice.
    async fn scan(&mut self, table: usize, mut each: impl FnMut(&[u8])) -> Result<(), Failure> {
        let pattern = [&self.prefixes[table][..], b"*"].concat();
        let (mut cursor, count, mut named) = (b"0".to_vec(), BATCH.to_string(), 0);
        let keys = self.keys_in_database().await?;
        // Each answer in time is not enough: cursors that lead in a circle would keep it for ever.
        let time_ns = self.exchange.timeout_ns().saturating_mul(1 + keys / BATCH).min(LONGEST_SCAN_NS);
        let until_ns = now_ns() + time_ns;
        loop {
            whole_command(self.exchange.begin(), &[b"SCAN", &cursor, b"MATCH", &pattern, b"COUNT", count.as_bytes()]);
            let mut counting = |name: &[u8]| {
                named += 1;
                each(name);
            };
            let next = self.exchange.ask(|bytes| scanned(bytes, &mut counting)).await?.map_err(refused)?;
            if next == b"0" {
                return Ok(());
            }
            if next == cursor {
                return Err(Failure::Protocol("SCAN repeats its cursor without an end".into()));
            }
            if named > keys.saturating_mul(2).saturating_add(MORE_NAMES) {
                return Err(Failure::Protocol(format!("SCAN named {named} keys, and the database has {keys}")));
            }
            if now_ns() > until_ns {
                return Err(Failure::Timeout(format!("no end of SCAN within {} s", time_ns as f64 / 1e9)));
            }
            cursor = next;
        }
    }

    /// The numbers in the names of the table's keys, each once; a table that rows are added to is filed under these.
    pub(super) async fn numbers(&mut self, table: usize) -> Result<BTreeSet<u64>, Failure> {
        let prefix_len = self.prefixes[table].len();
        let mut numbers = BTreeSet::new();
        self.scan(table, |name| {
            let digits = name.get(prefix_len..).and_then(|digits| std::str::from_utf8(digits).ok());
            let number = digits.and_then(|digits| digits.parse().ok());
            numbers.extend::<Option<u64>>(number);
        })
        .await?;
        Ok(numbers)
    }
}

/// The policy of a server that evicts any key when its memory is full, of what it says of its memory.
fn evicts_any_key(info: &str) -> Option<&str> {
    let value = |name: &str| info.lines().find_map(|line| line.trim_end().strip_prefix(name)?.strip_prefix(':'));
    let is_bounded = value("maxmemory").is_some_and(|bytes| bytes != "0");
    value("maxmemory_policy").filter(|policy| is_bounded && policy.starts_with("allkeys"))
}

/// Decodes one field that holds a number; a field that is not there counts as 0.
fn one_number(bytes: &[u8]) -> Decoded<(Result<i64, String>, usize)> {
    Ok(reply_or_error(bytes)?.map(|(answer, end)| {
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
    let Some((head, at)) = reply_or_error(bytes)? else { return Ok(None) };
    match head {
        Err(message) => return Ok(Some((Err(message), at))),
        Ok(Reply::Array { len: 2 }) => {}
        Ok(other) => return Err(Malformed(format!("expected a cursor and names, got {other:?}"))),
    }
    let Some((cursor, at)) = text(bytes, at)? else { return Ok(None) };
    let Some((head, at)) = reply(bytes, at)? else { return Ok(None) };
    let Reply::Array { len } = head else { return Err(Malformed(format!("expected names, got {head:?}"))) };
    // Names are handed on when all of them are there: an answer that was cut is decoded once more from its beginning.
    let Some((names, at)) = texts(bytes, at, len)? else { return Ok(None) };
    names.iter().for_each(|name| each(name));
    Ok(Some((Ok(cursor.to_vec()), at)))
}

/// Decodes the `len` texts of an array.
pub(super) fn texts(bytes: &[u8], mut at: usize, len: usize) -> Decoded<(Vec<Vec<u8>>, usize)> {
    let mut texts = Vec::new();
    for _ in 0..len {
        let Some((text, next)) = text(bytes, at)? else { return Ok(None) };
        texts.push(text.to_vec());
        at = next;
    }
    Ok(Some((texts, at)))
}

fn text(bytes: &[u8], at: usize) -> Decoded<(&[u8], usize)> {
    match reply(bytes, at)? {
        None => Ok(None),
        Some((Reply::Bulk { start, end }, next)) => Ok(Some((&bytes[start..end], next))),
        Some((other, _)) => Err(Malformed(format!("expected a text, got {other:?}"))),
    }
}

impl Administration for RedisSession {
    async fn claim(&mut self, claims: &[String]) -> Result<(), Trouble> {
        self.read_claims().await?;
        for table in 0..self.schema.tables.len() {
            if let Some(keys) = self.first_foreign_key(table).await? {
                return Err(unmarked(&keys, ELSEWHERE));
            }
        }
        Ok(self.write_claims(claims).await?)
    }

    async fn renew(&mut self, claims: &[String]) -> Result<(), Trouble> {
        Ok(self.write_claims(claims).await?)
    }

    async fn claims(&mut self) -> Result<Vec<String>, Trouble> {
        self.read_claims().await
    }

    async fn withdraw(&mut self, claim: &Claim, cleaning: Cleaning) -> Result<Withdrawn, Trouble> {
        self.withdraw_claim(claim, cleaning).await
    }

    /// One that evicts only keys which expire never evicts a marker.
    async fn cannot_know(&mut self) -> Result<Option<String>, Trouble> {
        whole_command(self.exchange.begin(), &[b"INFO", b"memory"]);
        let Ok(Reply::Bulk { start, end }) = self.exchange.ask(reply_or_error).await? else { return Ok(None) };
        let policy = evicts_any_key(&String::from_utf8_lossy(&self.exchange.bytes()[start..end])).map(str::to_owned);
        Ok(policy.map(|policy| {
            format!(
                "this server evicts any key when its memory is full ({policy}): rows whose marker it has evicted stay \
                 until it evicts them too"
            )
        }))
    }

    async fn load(&mut self, table: usize, keys: Range<u64>) -> Result<(), Trouble> {
        for batch in batches(keys, BATCH) {
            if self.is_hash { self.load_hashes(table, batch).await? } else { self.load_strings(table, batch).await? }
        }
        Ok(())
    }

    fn loads_by(&self) -> &'static str {
        if self.is_hash { "transactions of HSET" } else { "pipelined SET NX" }
    }

    async fn count(&mut self, table: usize) -> Result<Option<u64>, Trouble> {
        if self.is_growing(table) {
            return Ok(Some(self.numbers(table).await?.len() as u64));
        }
        self.count_keys_of_rows(table, 1..self.schema.rows + 1).await.map(Some).map_err(Trouble::Failed)
    }

    async fn present(&mut self, table: usize, keys: Range<u64>) -> Result<Option<u64>, Trouble> {
        let there = self.count_keys_of_rows(table, keys.clone()).await?;
        // The presence of a key is asked fast; its owner is asked once, of a range without gaps.
        let is_whole = there == keys.end - keys.start;
        Ok(Some(if is_whole { self.count_rows(table, keys).await? } else { there }))
    }

    async fn last_key(&mut self, table: usize) -> Result<Option<u64>, Trouble> {
        Ok(self.numbers(table).await?.last().copied())
    }

    async fn sum(&mut self, table: usize, column: usize) -> Result<Option<i128>, Trouble> {
        let of_table = &self.schema.tables[table];
        if !(self.is_hash || of_table.is_counter() && column == 1) {
            return Ok(None);
        }
        let (is_hash, name) = (self.is_hash, of_table.columns[column].name.clone());
        let mut sum = 0;
        for keys in batches(1..self.schema.rows + 1, BATCH) {
            self.exchange.begin();
            for key in keys.clone() {
                write_key(&self.prefixes[table], Value::Int(key as i64), &mut self.key);
                let parts = [if is_hash { &b"HGET"[..] } else { b"GET" }, &self.key, name.as_bytes()];
                whole_command(&mut self.exchange.request, if is_hash { &parts } else { &parts[..2] });
            }
            self.exchange.send().await?;
            for _ in keys {
                sum += i128::from(self.exchange.next(one_number).await?.map_err(refused)?);
            }
        }
        Ok(Some(sum))
    }
}
