//! Redis and what speaks its protocol: a row is a string under its key, or a hash if single columns change; a counter is its number.

mod administration;
mod claims;
mod config;
mod full_memory;

use std::rc::Rc;

use dbdyno_model::{Failure, Field, Kind, Operation, Row, RowBuffer, Session, Table, Value, encode_row};
use dbdyno_net::Reactor;
use dbdyno_wire::redis::{Reply, command, part, reply, whole_command};
use dbdyno_wire::{Decoded, Malformed, read_double};

use crate::keys::{prefix, write_key, write_key_of_row};
use crate::network::{Endpoint, Exchange, event_loop, while_logging_in};
use crate::store_config::OpenStore;
use crate::values::{Found, encode, read_row, read_rows};
use crate::{Cache, SharedSchema};
pub use config::RedisConfig;

/// Tells a person where keys are free.
pub const ELSEWHERE: &str = "Use another database number";
/// Rows, or keys, in one pipelined batch.
const BATCH: u64 = 500;

#[derive(Clone, Debug)]
pub struct Redis {
    pub endpoint: Endpoint,
    pub user: Option<String>,
    pub password: Option<String>,
    pub database: u32,
    pub is_hash: bool,
    pub schema: SharedSchema,
}

impl OpenStore for Redis {
    type Session = RedisSession;

    async fn open(&self, reactor: Option<&Rc<Reactor>>) -> Result<RedisSession, Failure> {
        let mut exchange = self.endpoint.connect(event_loop(reactor)?).await?;
        exchange.encrypt(&self.endpoint).await.map_err(while_logging_in)?;
        let prefixes = self.schema.tables.iter().map(prefix).collect();
        let mut session = RedisSession {
            exchange,
            schema: SharedSchema::clone(&self.schema),
            prefixes,
            is_hash: self.is_hash,
            key: Vec::new(),
            value: Vec::new(),
            generated: RowBuffer::default(),
            fields: Vec::new(),
        };
        session.log_in(self).await.map_err(while_logging_in)?;
        Ok(session)
    }
}

pub struct RedisSession {
    exchange: Exchange,
    schema: SharedSchema,
    prefixes: Vec<Vec<u8>>,
    is_hash: bool,
    key: Vec<u8>,
    value: Vec<u8>,
    generated: RowBuffer,
    fields: Vec<Field>,
}

/// An answer with errors taken out.
fn reply_or_error(bytes: &[u8]) -> Decoded<(Result<Reply, String>, usize)> {
    Ok(reply(bytes, 0)?.map(|(reply, end)| match reply {
        Reply::Error { start, end: stop } => (Err(String::from_utf8_lossy(&bytes[start..stop]).into_owned()), end),
        other => (Ok(other), end),
    }))
}

#[cold]
fn refused(message: String) -> Failure {
    if message.starts_with("OOM ") { Failure::Full(message) } else { Failure::Server(message) }
}

#[cold]
fn unexpected(reply: &Reply) -> Failure {
    Failure::Protocol(format!("unexpected answer: {reply:?}"))
}

impl RedisSession {
    async fn log_in(&mut self, store: &Redis) -> Result<(), Failure> {
        if let Some(password) = &store.password {
            let mut parts = vec![&b"AUTH"[..]];
            parts.extend(store.user.as_ref().map(String::as_bytes));
            parts.push(password.as_bytes());
            self.command(&parts).await?;
        }
        if store.database != 0 {
            self.command(&[b"SELECT", store.database.to_string().as_bytes()]).await?;
        }
        Ok(())
    }

    async fn command(&mut self, parts: &[&[u8]]) -> Result<Reply, Failure> {
        whole_command(self.exchange.begin(), parts);
        self.exchange.ask(reply_or_error).await?.map_err(refused)
    }

    #[inline]
    async fn read_row(&mut self, table: usize, filed: Value<'_>) -> Result<bool, Failure> {
        write_key(&self.prefixes[table], filed, &mut self.key);
        if self.is_hash {
            return self.read_hash(table).await;
        }
        append_get(self.exchange.begin(), &self.key);
        read_row(&mut self.exchange, &self.schema.tables[table], filed, &mut self.fields, value).await
    }

    async fn read_hash(&mut self, table: usize) -> Result<bool, Failure> {
        let request = self.exchange.begin();
        let table = &self.schema.tables[table];
        command(request, 2 + table.columns.len());
        part(request, b"HMGET");
        part(request, &self.key);
        for column in &table.columns {
            part(request, column.name.as_bytes());
        }
        let fields = &mut self.fields;
        self.exchange.ask(|bytes| hash_fields(bytes, table, fields)).await?.map_err(refused)
    }

    /// Makes row `key` in version `version`, and its key.
    fn generate_row(&mut self, table: usize, key: u64, version: u64) {
        let columns = &self.schema.tables[table];
        write_key_of_row(columns, &self.prefixes[table], key, &mut self.generated, &mut self.key);
        columns.generate(key, version, &mut self.generated);
    }

    /// The same, as one value.
    fn encode_row(&mut self, table: usize, key: u64, version: u64) {
        self.generate_row(table, key, version);
        encode(&self.schema.tables[table], self.generated.row(), &mut self.value);
    }

    /// Reads the row with these columns that is kept under a name of the caller's.
    #[inline]
    pub async fn read_under(&mut self, columns: &Table, name: &[u8]) -> Result<bool, Failure> {
        append_get(self.exchange.begin(), name);
        read_row(&mut self.exchange, columns, Value::Null, &mut self.fields, value).await
    }

    /// Keeps a row under a name of the caller's, for so many seconds if there are any.
    pub async fn store_under(&mut self, name: &[u8], seconds: Option<&[u8]>, row: Row<'_>) -> Result<(), Failure> {
        self.value.clear();
        encode_row(row, &mut self.value);
        let request = self.exchange.begin();
        match seconds {
            None => append_set(request, name, &self.value),
            Some(seconds) => whole_command(request, &[b"SET", name, &self.value, b"EX", seconds]),
        }
        self.expect_no_error().await
    }

    /// Removes what is kept under a name of the caller's.
    pub async fn delete_under(&mut self, name: &[u8]) -> Result<(), Failure> {
        whole_command(self.exchange.begin(), &[b"DEL", name]);
        self.expect_no_error().await
    }

    async fn expect_no_error(&mut self) -> Result<(), Failure> {
        self.exchange.ask(reply_or_error).await?.map_err(refused).map(drop)
    }

    /// Sends the request that holds `commands` commands, and hands each reply to `take`.
    async fn pipeline(&mut self, commands: u64, mut take: impl FnMut(Reply)) -> Result<(), Failure> {
        self.exchange.send().await?;
        for _ in 0..commands {
            take(self.exchange.next(reply_or_error).await?.map_err(refused)?);
        }
        Ok(())
    }
}

fn append_set(out: &mut Vec<u8>, key: &[u8], value: &[u8]) {
    command(out, 3);
    part(out, b"SET");
    part(out, key);
    part(out, value);
}

fn append_hset(out: &mut Vec<u8>, key: &[u8], table: &Table, row: Row<'_>, choose: impl Fn(usize) -> bool) {
    let chosen = || (0..table.columns.len()).filter(|&i| choose(i));
    command(out, 2 + 2 * chosen().count());
    part(out, b"HSET");
    part(out, key);
    for i in chosen() {
        part(out, table.columns[i].name.as_bytes());
        match row.value(i) {
            Value::Int(bits) if table.columns[i].kind == Kind::Double => {
                part(out, f64::from_bits(bits as u64).to_string().as_bytes());
            }
            Value::Int(n) => part(out, n.to_string().as_bytes()),
            Value::Text(text) => part(out, text),
            Value::Null => part(out, b""),
        }
    }
}

/// Decodes the answer to GET.
#[inline]
fn value(bytes: &[u8]) -> Decoded<(Found, usize)> {
    Ok(reply_or_error(bytes)?.map(|(answer, next)| {
        let range = answer.map_err(refused).and_then(|reply| match reply {
            Reply::Bulk { start, end } => Ok(Some((start, end))),
            Reply::Nil => Ok(None),
            other => Err(unexpected(&other)),
        });
        (range, next)
    }))
}

fn append_get(out: &mut Vec<u8>, key: &[u8]) {
    command(out, 2);
    part(out, b"GET");
    part(out, key);
}

/// Decodes the answer to HMGET: false if the key does not exist, which looks like a hash without any of the fields.
fn hash_fields(bytes: &[u8], table: &Table, fields: &mut Vec<Field>) -> Decoded<(Result<bool, String>, usize)> {
    fields.clear();
    let Some((head, mut at)) = reply_or_error(bytes)? else { return Ok(None) };
    match head {
        Err(message) => return Ok(Some((Err(message), at))),
        Ok(Reply::Array { len }) if len == table.columns.len() => {}
        Ok(other) => return Err(Malformed(format!("expected {} fields, got {other:?}", table.columns.len()))),
    }
    let mut is_there = false;
    for column in &table.columns {
        let Some((element, next)) = reply(bytes, at)? else { return Ok(None) };
        at = next;
        let field = match element {
            Reply::Bulk { start, end } if column.kind == Kind::Double => {
                read_double(&bytes[start..end]).map_or(Field::Null, Field::Int)
            }
            Reply::Bulk { start, end } if column.is_number() => integer(&bytes[start..end]),
            Reply::Bulk { start, end } => Field::text(start, end),
            Reply::Nil => Field::Null,
            other => return Err(Malformed(format!("expected a field, got {other:?}"))),
        };
        is_there |= field != Field::Null;
        fields.push(field);
    }
    Ok(Some((Ok(is_there), at)))
}

/// A number that cannot be read is no number of ours: NULL, which no generator makes.
fn integer(digits: &[u8]) -> Field {
    std::str::from_utf8(digits).ok().and_then(|s| s.parse().ok()).map_or(Field::Null, Field::Int)
}

impl Session for RedisSession {
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
        exchange.begin();
        if is_one_request {
            command(&mut exchange.request, 1 + keys.len());
            part(&mut exchange.request, b"MGET");
        }
        for &key in keys {
            write_key(&prefixes[table], Value::Int(key as i64), name);
            let append = if is_one_request { part } else { append_get };
            append(&mut exchange.request, name);
        }
        exchange.send().await?;
        if is_one_request {
            match exchange.next(reply_or_error).await?.map_err(refused)? {
                Reply::Array { len } if len == keys.len() => {}
                other => return Err(unexpected(&other)),
            }
        }
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
        self.exchange.begin();
        if self.is_hash {
            let columns = &self.schema.tables[table];
            write_key_of_row(columns, &self.prefixes[table], key, &mut self.generated, &mut self.key);
            columns.generate(key, version, &mut self.generated);
            let versioned = |i: usize| columns.columns[i].is_versioned();
            append_hset(&mut self.exchange.request, &self.key, columns, self.generated.row(), versioned);
        } else {
            self.encode_row(table, key, version);
            append_set(&mut self.exchange.request, &self.key, &self.value);
        }
        self.expect_no_error().await?;
        Ok(true)
    }

    async fn insert(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
        let table = self.schema.steps[step].operation.table();
        self.encode_row(table, key, 0);
        whole_command(self.exchange.begin(), &[b"SET", &self.key, &self.value, b"NX"]);
        match self.exchange.ask(reply_or_error).await?.map_err(refused)? {
            Reply::Nil => Ok(false),
            _ => Ok(true),
        }
    }

    async fn put(&mut self, step: usize, key: u64, version: u64) -> Result<(), Failure> {
        let Operation::Put { table, ttl_s } = self.schema.steps[step].operation else { return Ok(()) };
        if self.is_hash {
            self.generate_row(table, key, version);
            self.exchange.begin();
            let columns = &self.schema.tables[table];
            append_hset(&mut self.exchange.request, &self.key, columns, self.generated.row(), |_| true);
            return self.expect_no_error().await;
        }
        self.encode_row(table, key, version);
        if ttl_s == 0 {
            append_set(self.exchange.begin(), &self.key, &self.value);
        } else {
            let seconds = ttl_s.to_string();
            let parts = [&b"SET"[..], &self.key, &self.value, b"EX", seconds.as_bytes()];
            whole_command(self.exchange.begin(), &parts);
        }
        self.expect_no_error().await
    }

    async fn delete(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
        let table = self.schema.steps[step].operation.table();
        let columns = &self.schema.tables[table];
        write_key_of_row(columns, &self.prefixes[table], key, &mut self.generated, &mut self.key);
        whole_command(self.exchange.begin(), &[b"DEL", &self.key]);
        match self.exchange.ask(reply_or_error).await?.map_err(refused)? {
            Reply::Integer(n) => Ok(n > 0),
            other => Err(unexpected(&other)),
        }
    }

    async fn add(&mut self, step: usize, key: u64, delta: i64) -> Result<bool, Failure> {
        let Operation::Add { table, column } = self.schema.steps[step].operation else { return Ok(false) };
        write_key(&self.prefixes[table], Value::Int(key as i64), &mut self.key);
        let delta = delta.to_string();
        if self.is_hash {
            let name = self.schema.tables[table].columns[column].name.as_bytes();
            whole_command(self.exchange.begin(), &[b"HINCRBY", &self.key, name, delta.as_bytes()]);
        } else {
            whole_command(self.exchange.begin(), &[b"INCRBY", &self.key, delta.as_bytes()]);
        }
        self.expect_no_error().await?;
        Ok(true)
    }

    #[inline]
    fn row(&self) -> Row<'_> {
        Row::new(self.exchange.bytes(), &self.fields)
    }
}

impl Cache for RedisSession {
    async fn fill(&mut self, step: usize, filed: Value<'_>, row: Row<'_>) -> Result<(), Failure> {
        let table = self.schema.steps[step].operation.table();
        write_key(&self.prefixes[table], filed, &mut self.key);
        encode(&self.schema.tables[table], row, &mut self.value);
        append_set(self.exchange.begin(), &self.key, &self.value);
        self.expect_no_error().await
    }

    async fn forget(&mut self, step: usize, key: u64) -> Result<(), Failure> {
        self.delete(step, key).await.map(drop)
    }
}
