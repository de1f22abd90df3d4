//! Tokyo Tyrant: a record under its key, in a hash, a tree or a table with columns.

mod administration;
mod config;
mod layout;

use std::rc::Rc;

use dbdyno_model::{Failure, Field, Operation, Row, RowBuffer, Session, Value};
use dbdyno_net::Reactor;
use dbdyno_wire::tokyotyrant::{self as wire, Command};

use crate::SharedSchema;
use crate::keys::{prefix, write_key, write_key_of_row};
use crate::multi_get::MultiGet;
use crate::network::{Endpoint, Exchange, event_loop};
use crate::store_config::OpenStore;
pub use config::TokyotyrantConfig;
use layout::{Layout, Records, write_value};

/// Operators of a search (`tctdb.h`): a text, or a number, that is equal.
const TEXT_IS: &[u8] = b"0";
const NUMBER_IS: &[u8] = b"8";

#[derive(Clone, Debug)]
pub struct Tokyotyrant {
    endpoint: Endpoint,
    layout: Layout,
    schema: SharedSchema,
}

impl OpenStore for Tokyotyrant {
    type Session = TokyotyrantSession;

    async fn open(&self, reactor: Option<&Rc<Reactor>>) -> Result<TokyotyrantSession, Failure> {
        let exchange = self.endpoint.connect(event_loop(reactor)?).await?;
        let tables = &self.schema.tables;
        Ok(TokyotyrantSession {
            exchange,
            schema: SharedSchema::clone(&self.schema),
            prefixes: tables.iter().map(prefix).collect(),
            records: tables.iter().map(|table| Records::new(self.layout, &self.schema, table)).collect(),
            layout: self.layout,
            key: Vec::new(),
            value: Vec::new(),
            generated: RowBuffer::default(),
            fields: Vec::new(),
        })
    }
}

pub struct TokyotyrantSession {
    exchange: Exchange,
    schema: SharedSchema,
    prefixes: Vec<Vec<u8>>,
    records: Vec<Records>,
    layout: Layout,
    key: Vec<u8>,
    value: Vec<u8>,
    generated: RowBuffer,
    fields: Vec<Field>,
}

/// Its protocol has one code for whatever it does not do, and no words.
#[cold]
fn refused(what: &str) -> Failure {
    Failure::Server(format!("ttserver refused to {what}, and does not say why"))
}

#[cold]
fn no_row(size: usize, table: &str) -> Failure {
    Failure::Mismatch(format!("{size} bytes that are not a row of {table}"))
}

impl TokyotyrantSession {
    #[inline]
    async fn read_row(&mut self, table: usize, filed: Value<'_>) -> Result<bool, Failure> {
        write_key(&self.prefixes[table], filed, &mut self.key);
        wire::of_key(self.exchange.begin(), Command::Get, &self.key);
        match self.exchange.ask(wire::value).await? {
            Some(range) => self.take_row(table, range),
            None => Ok(false),
        }
    }

    /// Leaves the row in a range of the answer in `fields`.
    #[inline]
    fn take_row(&mut self, table: usize, range: wire::Range) -> Result<bool, Failure> {
        let columns = &self.schema.tables[table];
        if self.records[table].decode(columns, self.exchange.bytes(), range, &mut self.fields) {
            return Ok(true);
        }
        Err(no_row(range.1 - range.0, &columns.name))
    }

    /// Reads the row whose column has this value, by a search.
    async fn search(&mut self, table: usize, column: usize, value: Value<'_>) -> Result<bool, Failure> {
        let name = &self.records[table].names[column];
        let operator = if self.schema.tables[table].columns[column].is_number() { NUMBER_IS } else { TEXT_IS };
        self.value.clear();
        for part in [b"addcond\0", &name[..], b"\0", operator, b"\0"] {
            self.value.extend_from_slice(part);
        }
        write_value(self.schema.tables[table].columns[column].kind, value, &mut self.value);
        let arguments: [&[u8]; 3] = [&self.value, b"setlimit\x001\x000", b"get"];
        wire::call(self.exchange.begin(), "search", false, &arguments);
        // The key goes before the columns, as that of a column without a name.
        let first_record = |bytes: &[u8]| {
            let Some((count, at)) = wire::list(bytes)? else { return Ok(None) };
            match count {
                None => Ok(Some((Err(refused("search")), at))),
                Some(0) => Ok(Some((Ok(None), at))),
                Some(_) => Ok(wire::element(&bytes[at..])?.map(|((start, end), next)| {
                    let record = &bytes[at + start..at + end];
                    let key = record.iter().skip(1).position(|&byte| byte == 0).map_or(record.len(), |size| size + 2);
                    (Ok(Some((at + start + key, at + end))), at + next)
                })),
            }
        };
        match self.exchange.ask(first_record).await?? {
            Some(range) => self.take_row(table, range),
            None => Ok(false),
        }
    }

    /// Makes row `number` in `self.value`, its key in `self.key`.
    #[inline]
    fn encode(&mut self, table: usize, number: u64, version: u64) {
        self.write_key_of(table, number);
        self.schema.tables[table].generate(number, version, &mut self.generated);
        self.records[table].encode(self.generated.row(), &mut self.value);
    }

    #[inline]
    fn write_key_of(&mut self, table: usize, number: u64) {
        let columns = &self.schema.tables[table];
        write_key_of_row(columns, &self.prefixes[table], number, &mut self.generated, &mut self.key);
    }

    /// Stores `self.value` under `self.key`; false if it was not stored.
    #[inline]
    async fn store(&mut self, command: Command) -> Result<bool, Failure> {
        wire::store(self.exchange.begin(), command, &self.key, &self.value);
        self.exchange.ask(wire::done).await
    }

    async fn write(&mut self, table: usize, number: u64, version: u64) -> Result<(), Failure> {
        self.encode(table, number, version);
        if self.store(Command::Put).await? { Ok(()) } else { Err(refused("store a record")) }
    }

    /// Sends one request for the key of each of these rows.
    async fn send_for_rows(
        &mut self,
        table: usize,
        numbers: impl Iterator<Item = u64>,
        command: Command,
    ) -> Result<(), Failure> {
        self.exchange.begin();
        for number in numbers {
            self.write_key_of(table, number);
            wire::of_key(&mut self.exchange.request, command, &self.key);
        }
        self.exchange.send().await
    }

    /// Reads the rows of one request for several.
    async fn read_list(
        &mut self,
        table: usize,
        keys: &[u64],
        each: &mut dyn FnMut(usize, Option<Row<'_>>),
    ) -> Result<(), Failure> {
        let count = self.exchange.next(wire::list).await?.ok_or_else(|| refused("get several records"))?;
        let Self { exchange, schema, records, fields, .. } = self;
        let (columns, mut multi_get) = (&schema.tables[table], MultiGet::new(keys));
        for _ in 0..count {
            let hand_over = |bytes: &[u8]| {
                Ok(wire::record(bytes)?.map(|(range, next)| {
                    let handed = match records[table].decode(columns, bytes, range, fields) {
                        true => multi_get.hand_over(Row::new(bytes, fields), each),
                        false => Err(no_row(range.1 - range.0, &columns.name)),
                    };
                    (handed, next)
                }))
            };
            exchange.next(hand_over).await??;
        }
        multi_get.finish(each);
        Ok(())
    }

    /// Reads the answers to requests for one row each, in order.
    async fn read_each(
        &mut self,
        table: usize,
        count: usize,
        each: &mut dyn FnMut(usize, Option<Row<'_>>),
    ) -> Result<(), Failure> {
        let Self { exchange, schema, records, fields, .. } = self;
        let columns = &schema.tables[table];
        for i in 0..count {
            let hand_over = |bytes: &[u8]| {
                Ok(wire::value(bytes)?.map(|(value, next)| {
                    if let Some(range) = value.filter(|&range| !records[table].decode(columns, bytes, range, fields)) {
                        return (Err(no_row(range.1 - range.0, &columns.name)), next);
                    }
                    each(i, value.map(|_| Row::new(bytes, fields)));
                    (Ok(()), next)
                }))
            };
            exchange.next(hand_over).await??;
        }
        Ok(())
    }
}

impl Session for TokyotyrantSession {
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
        let operation = self.schema.steps[step].operation;
        let (table, is_one_request) = (operation.table(), matches!(operation, Operation::GetMany { .. }));
        self.exchange.begin();
        if is_one_request {
            wire::get_many(&mut self.exchange.request, keys.len());
        }
        for &key in keys {
            write_key(&self.prefixes[table], Value::Int(key as i64), &mut self.key);
            if is_one_request {
                wire::text(&mut self.exchange.request, &self.key);
            } else {
                wire::of_key(&mut self.exchange.request, Command::Get, &self.key);
            }
        }
        self.exchange.send().await?;
        if is_one_request {
            return self.read_list(table, keys, each).await;
        }
        self.read_each(table, keys.len(), each).await
    }

    #[inline]
    async fn find(&mut self, step: usize, value: Value<'_>) -> Result<bool, Failure> {
        let Operation::Find { table, column } = self.schema.steps[step].operation else { return Ok(false) };
        if column == self.schema.tables[table].filed_under {
            return self.read_row(table, value).await;
        }
        self.search(table, column, value).await
    }

    #[inline]
    async fn update(&mut self, step: usize, key: u64, version: u64) -> Result<bool, Failure> {
        self.write(self.schema.steps[step].operation.table(), key, version).await.map(|()| true)
    }

    async fn put(&mut self, step: usize, key: u64, version: u64) -> Result<(), Failure> {
        self.write(self.schema.steps[step].operation.table(), key, version).await
    }

    async fn insert(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
        self.encode(self.schema.steps[step].operation.table(), key, 0);
        self.store(Command::PutNew).await
    }

    async fn delete(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
        self.write_key_of(self.schema.steps[step].operation.table(), key);
        wire::of_key(self.exchange.begin(), Command::Remove, &self.key);
        self.exchange.ask(wire::done).await
    }

    async fn add(&mut self, _: usize, _: u64, _: i64) -> Result<bool, Failure> {
        Err(Failure::Server("ttserver cannot add to a column".into()))
    }

    #[inline]
    fn row(&self) -> Row<'_> {
        Row::new(self.exchange.bytes(), &self.fields)
    }
}
