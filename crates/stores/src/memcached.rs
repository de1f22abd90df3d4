//! memcached and what speaks its text protocol: an encoded row under its key, or a counter's number.

mod claims;
mod config;

use std::ops::Range;
use std::rc::Rc;

use dbdyno_model::{Failure, Field, Operation, Row, RowBuffer, Session, Table, Value, encode_row};
use dbdyno_net::Reactor;
use dbdyno_wire::Decoded;
use dbdyno_wire::memcached::{self as wire, Counted, Got};

use crate::claim::unmarked;
use crate::key_set::KeySet;
use crate::keys::{batches, prefix, write_key, write_key_of_row};
use crate::network::{Endpoint, Exchange, event_loop, excerpt};
use crate::store_config::OpenStore;
use crate::values::{Found, encode, read_row, read_rows, read_rows_found};
use crate::{Administration, Cache, Claim, Cleaning, MARKER, SharedSchema, Trouble, Withdrawn};
#[cfg(test)]
pub use config::MOST_RELATIVE_S;
pub use config::MemcachedConfig;

/// Tells a person how to remove what a killed run left.
pub const EVICTED: &str = "If a killed run left them, memcached has evicted their marker: remove them yourself";
/// Rows in one pipelined batch.
const BATCH: u64 = 500;

#[derive(Clone, Debug)]
pub struct Memcached {
    pub endpoint: Endpoint,
    pub schema: SharedSchema,
}

impl OpenStore for Memcached {
    type Session = MemcachedSession;

    async fn open(&self, reactor: Option<&Rc<Reactor>>) -> Result<MemcachedSession, Failure> {
        let exchange = self.endpoint.connect(event_loop(reactor)?).await?;
        let schema = SharedSchema::clone(&self.schema);
        let prefixes = schema.tables.iter().map(prefix).collect();
        Ok(MemcachedSession {
            exchange,
            schema,
            prefixes,
            key: Vec::new(),
            value: Vec::new(),
            generated: RowBuffer::default(),
            fields: Vec::new(),
        })
    }
}

pub struct MemcachedSession {
    exchange: Exchange,
    schema: SharedSchema,
    prefixes: Vec<Vec<u8>>,
    key: Vec<u8>,
    value: Vec<u8>,
    generated: RowBuffer,
    fields: Vec<Field>,
}

#[cold]
fn refused(line: &[u8]) -> Failure {
    let message = String::from_utf8_lossy(line).into_owned();
    if message.contains("out of memory") { Failure::Full(message) } else { Failure::Server(message) }
}

/// One line: whether it is the expected one; an error line is a failure.
fn answer(bytes: &[u8], expected: &[u8]) -> Decoded<(Result<bool, Failure>, usize)> {
    Ok(wire::line(bytes, 0)?.map(|(end, next)| {
        let line = &bytes[..end];
        (if wire::is_error(line) { Err(refused(line)) } else { Ok(line == expected) }, next)
    }))
}

/// Decodes the answer to `get` of one key.
#[inline]
fn value(bytes: &[u8]) -> Decoded<(Found, usize)> {
    range_of(wire::got(bytes), bytes)
}

/// Decodes the next value in the answer to `get` of several keys; `None` is its end.
fn value_of_several(bytes: &[u8]) -> Decoded<(Found, usize)> {
    range_of(wire::next_value(bytes), bytes)
}

#[inline]
fn range_of(got: Decoded<(Got, usize)>, bytes: &[u8]) -> Decoded<(Found, usize)> {
    Ok(got?.map(|(got, next)| {
        let range = match got {
            Got::Hit { start, end } => Ok(Some((start, end))),
            Got::Miss => Ok(None),
            Got::Error { start, end } => Err(refused(&bytes[start..end])),
        };
        (range, next)
    }))
}

impl MemcachedSession {
    #[inline]
    async fn read_row(&mut self, table: usize, filed: Value<'_>) -> Result<bool, Failure> {
        write_key(&self.prefixes[table], filed, &mut self.key);
        wire::get(self.exchange.begin(), &self.key);
        read_row(&mut self.exchange, &self.schema.tables[table], filed, &mut self.fields, value).await
    }

    /// Reads the row with these columns that is kept under a name of the caller's.
    #[inline]
    pub async fn read_under(&mut self, columns: &Table, name: &[u8]) -> Result<bool, Failure> {
        wire::get(self.exchange.begin(), name);
        read_row(&mut self.exchange, columns, Value::Null, &mut self.fields, value).await
    }

    /// Keeps a row under a name of the caller's, with flags and time to live as `expiry` has them.
    pub async fn store_under(&mut self, name: &[u8], expiry: &[u8], row: Row<'_>) -> Result<(), Failure> {
        self.value.clear();
        encode_row(row, &mut self.value);
        wire::set_until(self.exchange.begin(), name, expiry, &self.value);
        self.stored().await
    }

    /// Removes what is kept under a name of the caller's.
    pub async fn delete_under(&mut self, name: &[u8]) -> Result<(), Failure> {
        wire::delete(self.exchange.begin(), name);
        self.exchange.ask(|bytes| answer(bytes, b"DELETED")).await?.map(drop)
    }

    /// Encodes row `key` into `self.value`, its key into `self.key`.
    fn encode_row(&mut self, table: usize, key: u64, version: u64) {
        let columns = &self.schema.tables[table];
        write_key_of_row(columns, &self.prefixes[table], key, &mut self.generated, &mut self.key);
        columns.generate(key, version, &mut self.generated);
        encode(columns, self.generated.row(), &mut self.value);
    }

    /// Stores `self.value` under `self.key`.
    #[inline]
    async fn set(&mut self) -> Result<(), Failure> {
        wire::set(self.exchange.begin(), &self.key, &self.value);
        self.stored().await
    }

    #[inline]
    async fn stored(&mut self) -> Result<(), Failure> {
        if self.exchange.ask(|bytes| answer(bytes, b"STORED")).await?? {
            Ok(())
        } else {
            Err(Failure::Server(format!("not stored: {}", excerpt(self.exchange.bytes()))))
        }
    }

    /// Returns whether the key was there.
    async fn delete_key(&mut self) -> Result<bool, Failure> {
        wire::delete(self.exchange.begin(), &self.key);
        self.exchange.ask(|bytes| answer(bytes, b"DELETED")).await?
    }

    /// Returns whether one of the keys with these numbers is there.
    pub async fn is_any_there(&mut self, key_set: &KeySet<'_>, numbers: Range<u64>) -> Result<bool, Failure> {
        for batch in batches(numbers, BATCH) {
            self.exchange.begin();
            for number in batch.clone() {
                key_set.write_key(number, &mut self.generated, &mut self.key);
                wire::get(&mut self.exchange.request, &self.key);
            }
            self.exchange.send().await?;
            let mut is_any = false;
            for _ in batch {
                is_any |= matches!(self.exchange.next(wire::got).await?, Got::Hit { .. });
            }
            if is_any {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Session for MemcachedSession {
    #[inline]
    async fn get(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
        let table = self.schema.steps[step].operation.table();
        self.read_row(table, Value::Int(key as i64)).await
    }

    async fn get_many(
        &mut self,
        step: usize,
        keys: &[u64],
        each: &mut dyn FnMut(usize, Option<Row<'_>>),
    ) -> Result<(), Failure> {
        let Self { exchange, schema, prefixes, key: name, fields, .. } = self;
        let table = schema.steps[step].operation.table();
        let is_one_request = matches!(schema.steps[step].operation, Operation::GetMany { .. });
        exchange.begin().extend_from_slice(if is_one_request { b"get" } else { b"" });
        for &key in keys {
            write_key(&prefixes[table], Value::Int(key as i64), name);
            let append = if is_one_request { wire::one_more_key } else { wire::get };
            append(&mut exchange.request, name);
        }
        if is_one_request {
            exchange.request.extend_from_slice(b"\r\n");
            exchange.send().await?;
            return read_rows_found(exchange, &schema.tables[table], fields, keys, value_of_several, each).await;
        }
        exchange.send().await?;
        read_rows(exchange, &schema.tables[table], fields, keys, value, each).await
    }

    #[inline]
    async fn find(&mut self, step: usize, value: Value<'_>) -> Result<bool, Failure> {
        let table = self.schema.steps[step].operation.table();
        self.read_row(table, value).await
    }

    #[inline]
    async fn update(&mut self, step: usize, key: u64, version: u64) -> Result<bool, Failure> {
        let table = self.schema.steps[step].operation.table();
        self.encode_row(table, key, version);
        self.set().await?;
        Ok(true)
    }

    async fn put(&mut self, step: usize, key: u64, version: u64) -> Result<(), Failure> {
        let Operation::Put { table, ttl_s } = self.schema.steps[step].operation else { return Ok(()) };
        self.encode_row(table, key, version);
        if ttl_s == 0 {
            return self.set().await;
        }
        wire::set_until(self.exchange.begin(), &self.key, format!(" 0 {ttl_s} ").as_bytes(), &self.value);
        self.stored().await
    }

    async fn delete(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
        let table = self.schema.steps[step].operation.table();
        let columns = &self.schema.tables[table];
        write_key_of_row(columns, &self.prefixes[table], key, &mut self.generated, &mut self.key);
        self.delete_key().await
    }

    async fn add(&mut self, step: usize, key: u64, delta: i64) -> Result<bool, Failure> {
        let table = self.schema.steps[step].operation.table();
        write_key(&self.prefixes[table], Value::Int(key as i64), &mut self.key);
        wire::add_to(self.exchange.begin(), &self.key, delta);
        match self.exchange.ask(wire::number_after).await? {
            Counted::Number(_) => Ok(true),
            Counted::Missing => Ok(false),
            Counted::Error { start, end } => Err(refused(&self.exchange.bytes()[start..end])),
        }
    }

    #[inline]
    fn row(&self) -> Row<'_> {
        Row::new(self.exchange.bytes(), &self.fields)
    }
}

impl Cache for MemcachedSession {
    async fn fill(&mut self, step: usize, filed: Value<'_>, row: Row<'_>) -> Result<(), Failure> {
        let table = self.schema.steps[step].operation.table();
        write_key(&self.prefixes[table], filed, &mut self.key);
        encode(&self.schema.tables[table], row, &mut self.value);
        self.set().await
    }

    async fn forget(&mut self, step: usize, key: u64) -> Result<(), Failure> {
        Session::delete(self, step, key).await.map(drop)
    }
}

impl Administration for MemcachedSession {
    async fn claim(&mut self, claims: &[String]) -> Result<(), Trouble> {
        let schema = self.schema.clone();
        for table in &schema.tables {
            if self.is_any_there(&KeySet::rows(table), table.numbers(schema.rows)).await? {
                return Err(unmarked(&format!("{MARKER}{}:*", table.name), EVICTED));
            }
        }
        self.write_claims(claims).await
    }

    async fn renew(&mut self, claims: &[String]) -> Result<(), Trouble> {
        self.write_claims(claims).await
    }

    async fn claims(&mut self) -> Result<Vec<String>, Trouble> {
        Ok(self.read_claims().await?)
    }

    async fn withdraw(&mut self, claim: &Claim, cleaning: Cleaning) -> Result<Withdrawn, Trouble> {
        self.withdraw_claim(claim, cleaning).await
    }

    async fn cannot_know(&mut self) -> Result<Option<String>, Trouble> {
        let sentence = "memcached cannot list its keys: rows whose marker it has evicted stay until it evicts them too";
        Ok(Some(sentence.into()))
    }

    async fn load(&mut self, table: usize, keys: Range<u64>) -> Result<(), Trouble> {
        for batch in batches(keys, BATCH) {
            self.load_rows(table, batch).await?;
        }
        Ok(())
    }

    fn loads_by(&self) -> &'static str {
        "pipelined add"
    }

    /// A cache may evict a row at any moment, so no answer would hold.
    async fn present(&mut self, _: usize, _: Range<u64>) -> Result<Option<u64>, Trouble> {
        Ok(None)
    }

    /// A cache may forget rows as it likes, so their number says nothing.
    async fn count(&mut self, _: usize) -> Result<Option<u64>, Trouble> {
        Ok(None)
    }

    async fn sum(&mut self, _: usize, _: usize) -> Result<Option<i128>, Trouble> {
        Ok(None)
    }
}
