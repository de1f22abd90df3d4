//! HandlerSocket, the plugin that reads and writes rows past the SQL layer: a connection to its port for reading, one to that for writing, each
//! if a step needs it. Tables are made, loaded and counted by the same server's SQL.

mod administration;

use std::rc::Rc;

use dbdyno_model::{Failure, Field, Kind, Operation, Row, RowBuffer, Session, Table, Value};
use dbdyno_net::Reactor;
use dbdyno_wire::handlersocket::{self as wire, Answer, Change};
use dbdyno_wire::{Decoded, Param, TextKind};
use serde::Deserialize;

use crate::connection_config::{AddressConfig, Secret};
use crate::multi_get::hand_over_all;
use crate::mysql::{MAX_ROW_SIZE_BYTES, Mysql, MysqlPart, MysqlSession};
use crate::network::{Endpoint, Exchange, event_loop, while_logging_in};
use crate::params::{field, param, text_kind};
use crate::sql::{index_name, table_name};
use crate::store_config::{Context, OpenStore, StoreConfig};
use crate::{Schema, SharedSchema};

const PRIMARY_KEY: &str = "PRIMARY";
/// The storage engine's answer if there is no room left (HA_ERR_RECORD_FILE_FULL, ENOSPC).
const FULL: [i64; 2] = [135, 28];

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HandlersocketConfig {
    address: AddressConfig,
    write_address: AddressConfig,
    password: Option<Secret>,
    database: String,
    /// The same server's SQL; `None`: nothing is prepared, loaded or checked.
    sql: Option<Box<MysqlPart>>,
}

impl StoreConfig for HandlersocketConfig {
    const KINDS: &'static [&'static str] = &["handlersocket"];
    const CONNECTIONS: u64 = 2;
    type Store = Handlersocket;

    /// Its protocol changes rows that are there, and inserts those that are not: it has no request for either.
    fn can_do(&self, _: &Schema, operation: Operation) -> bool {
        operation.has_table() && !matches!(operation, Operation::Put { .. } | Operation::SumRange { .. })
    }

    fn can_pipeline(&self, _: &Schema) -> bool {
        true
    }

    fn most_row_size_bytes(&self) -> Option<usize> {
        Some(MAX_ROW_SIZE_BYTES)
    }

    fn store(&self, context: &Context<'_>) -> Result<Handlersocket, String> {
        Ok(Handlersocket {
            reading: context.endpoint(&self.address, None)?,
            writing: context.endpoint(&self.write_address, None)?,
            password: context.secret(self.password)?,
            database: self.database.clone(),
            sql: self.sql.as_ref().map(|sql| sql.store(context).map(Box::new)).transpose()?,
            schema: context.schema(),
        })
    }
}

#[derive(Clone, Debug)]
pub struct Handlersocket {
    pub reading: Endpoint,
    pub writing: Endpoint,
    pub password: Option<String>,
    pub database: String,
    /// `None`: a null server, of which nothing is asked but what clients ask.
    pub sql: Option<Box<Mysql>>,
    pub schema: SharedSchema,
}

pub struct HandlersocketSession {
    store: Rc<Handlersocket>,
    reactor: Rc<Reactor>,
    reading: Option<Exchange>,
    writing: Option<Exchange>,
    sql: Option<Box<MysqlSession>>,
    /// True if an index has been opened for each step.
    is_ready: bool,
    /// The kinds of each step's parameters.
    parameters: Rc<[Vec<Kind>]>,
    generated: RowBuffer,
    found_rows: Found,
}

/// The rows of the last answer: where they lie in it, or in `unescaped`.
#[derive(Default)]
struct Found {
    fields: Vec<Field>,
    unescaped: Vec<u8>,
    is_unescaped: bool,
}

impl Found {
    /// Takes the rows of `table` from an answer.
    #[inline]
    fn decode(&mut self, bytes: &[u8], table: &Table) -> Decoded<(Result<(), Failure>, usize)> {
        let Self { fields, unescaped, is_unescaped } = self;
        fields.clear();
        let columns = &table.columns;
        let kind = |i: usize| text_kind(columns[i % columns.len()].kind);
        let Some((answer, end)) = wire::answer(bytes, kind, |cell| fields.push(field(cell)))? else {
            return Ok(None);
        };
        *is_unescaped = answer.has_escapes;
        if answer.has_escapes {
            unescape(bytes, fields, unescaped);
        }
        let is_whole = answer.columns == columns.len() && fields.len() % columns.len() == 0;
        let rows = match answer.code {
            0 if is_whole => Ok(()),
            0 => Err(Failure::Protocol(format!("{} values in rows of {}", fields.len(), columns.len()))),
            _ => Err(refused(&answer, self.row(bytes).value(0))),
        };
        Ok(Some((rows, end)))
    }

    #[inline]
    fn bytes<'a>(&'a self, answer: &'a [u8]) -> &'a [u8] {
        if self.is_unescaped { &self.unescaped } else { answer }
    }

    #[inline]
    fn row<'a>(&'a self, answer: &'a [u8]) -> Row<'a> {
        Row::new(self.bytes(answer), &self.fields)
    }
}

/// Control characters in a row are rare enough for a copy of it.
#[cold]
fn unescape(bytes: &[u8], fields: &mut [Field], out: &mut Vec<u8>) {
    out.clear();
    for field in fields {
        if let Field::Text { start, end } = *field {
            let begin = out.len();
            wire::unescape(&bytes[start as usize..end as usize], out);
            *field = Field::text(begin, out.len());
        }
    }
}

#[cold]
fn refused(answer: &Answer, words: Value<'_>) -> Failure {
    let message = format!("HandlerSocket refused: {words} (code {})", answer.code);
    if FULL.contains(&answer.code) { Failure::Full(message) } else { Failure::Server(message) }
}

/// Decodes an answer that has no row: the number in it, 0 if there is none.
#[inline]
fn acknowledged(bytes: &[u8]) -> Decoded<(Result<i64, Failure>, usize)> {
    let mut number = Field::Int(0);
    let Some((answer, end)) = wire::answer(bytes, |_| TextKind::Int, |cell| number = field(cell))? else {
        return Ok(None);
    };
    let number = match (answer.code, number) {
        (0, Field::Int(n)) => Ok(n),
        (_, number) => Err(refused(&answer, Row::new(bytes, &[number]).value(0))),
    };
    Ok(Some((number, end)))
}

impl OpenStore for Handlersocket {
    type Session = HandlersocketSession;

    async fn open(&self, reactor: Option<&Rc<Reactor>>) -> Result<HandlersocketSession, Failure> {
        let reactor = event_loop(reactor)?;
        let mut session = HandlersocketSession {
            store: Rc::new(self.clone()),
            reactor: Rc::clone(reactor),
            reading: None,
            writing: None,
            sql: None,
            is_ready: false,
            parameters: (0..self.schema.steps.len()).map(|step| self.schema.parameter_kinds(step)).collect(),
            generated: RowBuffer::default(),
            found_rows: Found::default(),
        };
        if self.schema.steps.iter().any(|step| is_read(step.operation)) {
            session.reading = Some(self.connect(&self.reading, reactor).await?);
        }
        if self.schema.steps.iter().any(|step| is_write(step.operation)) {
            session.writing = Some(self.connect(&self.writing, reactor).await?);
        }
        Ok(session)
    }
}

impl Handlersocket {
    async fn connect(&self, endpoint: &Endpoint, reactor: &Rc<Reactor>) -> Result<Exchange, Failure> {
        let mut exchange = endpoint.connect(reactor).await?;
        if let Some(password) = &self.password {
            wire::authenticate(exchange.begin(), password);
            exchange.ask(acknowledged).await.and_then(|answer| answer).map_err(while_logging_in)?;
        }
        Ok(exchange)
    }

    /// The index and the columns that an operation is about.
    fn opened(&self, operation: Operation) -> (String, String) {
        let table = self.schema.table_of_operation(operation);
        let index = match operation {
            Operation::Find { column, .. } => table.indexes.iter().find(|index| index.columns == [column]),
            _ => None,
        };
        let name = index.map_or_else(|| PRIMARY_KEY.into(), |index| index_name(table, index));
        let is_meant = |i: usize| match operation {
            Operation::Update { .. } => table.columns[i].is_versioned(),
            Operation::Add { column, .. } => i == column,
            _ => true,
        };
        let columns = table.columns.iter().enumerate().filter(|(i, _)| is_meant(*i)).map(|(_, column)| &*column.name);
        (name, columns.collect::<Vec<_>>().join(","))
    }
}

fn is_write(operation: Operation) -> bool {
    use Operation::{Add, Delete, Insert, Update};
    matches!(operation, Update { .. } | Insert { .. } | Add { .. } | Delete { .. })
}

fn is_read(operation: Operation) -> bool {
    use Operation::{Find, Get, GetMany, Scan};
    matches!(operation, Get { .. } | GetMany { .. } | Find { .. } | Scan { .. })
}

/// No step that needs the connection was there when the session was opened.
#[cold]
fn not_connected() -> Failure {
    Failure::Connection("the connection for this step was never opened".into())
}

impl HandlersocketSession {
    /// Opens an index for each step, the first time one is needed: the tables must exist.
    #[cold]
    async fn open_indexes(&mut self) -> Result<(), Failure> {
        let Self { store, reading, writing, .. } = self;
        let steps = store.schema.steps.iter().enumerate();
        for (id, step) in steps.filter(|(_, step)| is_read(step.operation) || is_write(step.operation)) {
            let exchange = if is_read(step.operation) { &mut *reading } else { &mut *writing };
            let exchange = exchange.as_mut().ok_or_else(not_connected)?;
            let (index, columns) = store.opened(step.operation);
            let table = table_name(store.schema.table_of_operation(step.operation));
            wire::open_index(exchange.begin(), id, &store.database, &table, &index, &columns);
            exchange.ask(acknowledged).await??;
        }
        self.is_ready = true;
        Ok(())
    }

    #[inline]
    async fn read(&mut self, step: usize, value: Value<'_>) -> Result<bool, Failure> {
        if !self.is_ready {
            self.open_indexes().await?;
        }
        let Self { store, reading, found_rows, parameters, .. } = self;
        let table = store.schema.table_of_operation(store.schema.steps[step].operation);
        let exchange = reading.as_mut().ok_or_else(not_connected)?;
        wire::find(exchange.begin(), step, param(parameters[step][0], value));
        exchange.ask(|bytes| found_rows.decode(bytes, table)).await??;
        match found_rows.fields.len() / table.columns.len() {
            0 => Ok(false),
            1 => Ok(true),
            n => Err(Failure::Mismatch(format!("{n} rows, expected one"))),
        }
    }

    /// Sends what `request` appends, and returns the number in the answer.
    #[inline]
    async fn write(&mut self, request: impl FnOnce(&mut Vec<u8>, &RowBuffer)) -> Result<i64, Failure> {
        if !self.is_ready {
            self.open_indexes().await?;
        }
        let exchange = self.writing.as_mut().ok_or_else(not_connected)?;
        request(exchange.begin(), &self.generated);
        exchange.ask(acknowledged).await?
    }
}

/// The values of a row whose columns have these kinds, or more.
fn params<'r>(kinds: &'r [Kind], row: &'r RowBuffer) -> impl ExactSizeIterator<Item = Param<'r>> {
    let row = row.row();
    (0..row.len()).map(move |i| param(kinds[i], row.value(i)))
}

impl Session for HandlersocketSession {
    #[inline]
    async fn get(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
        self.read(step, Value::Int(key as i64)).await
    }

    #[inline]
    async fn find(&mut self, step: usize, value: Value<'_>) -> Result<bool, Failure> {
        self.read(step, value).await
    }

    async fn get_many(
        &mut self,
        step: usize,
        keys: &[u64],
        each: &mut dyn FnMut(usize, Option<Row<'_>>),
    ) -> Result<(), Failure> {
        if !self.is_ready {
            self.open_indexes().await?;
        }
        let Self { store, reading, found_rows, .. } = self;
        let operation = store.schema.steps[step].operation;
        let table = store.schema.table_of_operation(operation);
        let exchange = reading.as_mut().ok_or_else(not_connected)?;
        exchange.begin();
        let values = keys.iter().map(|&key| Param::Int(key as i64));
        if matches!(operation, Operation::GetMany { .. }) {
            wire::find_many(&mut exchange.request, step, values);
            exchange.ask(|bytes| found_rows.decode(bytes, table)).await??;
            let bytes = found_rows.bytes(exchange.bytes());
            return hand_over_all(keys, bytes, (&found_rows.fields, table.columns.len()), each);
        }
        values.for_each(|value| wire::find(&mut exchange.request, step, value));
        exchange.send().await?;
        for i in 0..keys.len() {
            let hand_over = |bytes: &[u8]| {
                let Some((rows, end)) = found_rows.decode(bytes, table)? else { return Ok(None) };
                let handed = rows.map(|()| each(i, (!found_rows.fields.is_empty()).then(|| found_rows.row(bytes))));
                Ok(Some((handed, end)))
            };
            exchange.next(hand_over).await??;
        }
        Ok(())
    }

    #[inline]
    async fn update(&mut self, step: usize, key: u64, version: u64) -> Result<bool, Failure> {
        let table = self.store.schema.table_of_operation(self.store.schema.steps[step].operation);
        self.generated.clear();
        for column in table.columns.iter().filter(|c| c.is_versioned()) {
            column.generate(key, version, &mut self.generated);
        }
        let (row, kinds) = (Param::Int(key as i64), Rc::clone(&self.parameters));
        let set = |out: &mut Vec<u8>, made: &RowBuffer| {
            wire::change(out, step, row, Change::Set, params(&kinds[step], made));
        };
        let changed = self.write(set).await?;
        Ok(changed > 0)
    }

    #[inline]
    async fn delete(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
        let (row, none) = (Param::Int(key as i64), std::iter::empty());
        Ok(self.write(|out, _| wire::change(out, step, row, Change::Delete, none)).await? > 0)
    }

    async fn scan(&mut self, step: usize, first: u64, most: u64, each: &mut dyn FnMut(Row<'_>)) -> Result<(), Failure> {
        if !self.is_ready {
            self.open_indexes().await?;
        }
        let Self { store, reading, found_rows, .. } = self;
        let table = store.schema.table_of_operation(store.schema.steps[step].operation);
        let exchange = reading.as_mut().ok_or_else(not_connected)?;
        wire::scan(exchange.begin(), step, Param::Int(first as i64), most as i64);
        exchange.ask(|bytes| found_rows.decode(bytes, table)).await??;
        let bytes = found_rows.bytes(exchange.bytes());
        found_rows.fields.chunks_exact(table.columns.len()).for_each(|fields| each(Row::new(bytes, fields)));
        Ok(())
    }

    #[inline]
    async fn add(&mut self, step: usize, key: u64, delta: i64) -> Result<bool, Failure> {
        let (row, delta) = (Param::Int(key as i64), [Param::Int(delta)]);
        let changed = self.write(|out, _| wire::change(out, step, row, Change::Add, delta.into_iter())).await?;
        Ok(changed > 0)
    }

    #[inline]
    async fn insert(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
        let table = self.store.schema.table_of_operation(self.store.schema.steps[step].operation);
        table.generate(key, 0, &mut self.generated);
        let kinds = Rc::clone(&self.parameters);
        self.write(|out, made| wire::insert(out, step, params(&kinds[step], made))).await.map(|_| true)
    }

    #[inline]
    fn row(&self) -> Row<'_> {
        self.found_rows.row(self.reading.as_ref().map_or(&[], Exchange::bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::{Column, Kind, Source};

    fn table() -> Table {
        let columns = vec![Column::new("id", Kind::Int, Source::Key), Column::new("c", Kind::Varchar(9), Source::Name)];
        Table::new("t", columns)
    }

    #[test]
    fn escaped_text_is_read_elsewhere_and_plain_text_where_it_lies() {
        let (table, mut found_rows) = (table(), Found::default());
        for (answer, text) in [(&b"0\t2\t7\tabc\n"[..], &b"abc"[..]), (b"0\t2\t7\ta\x01Ic\n", b"a\tc")] {
            assert_eq!(found_rows.decode(answer, &table), Ok(Some((Ok(()), answer.len()))));
            assert_eq!(found_rows.row(answer).value(1), Value::Text(text));
        }
    }

    #[test]
    fn what_went_wrong_is_said_in_its_words() {
        let failure = |bytes: &[u8]| match Found::default().decode(bytes, &table()) {
            Ok(Some((Err(failure), _))) => failure,
            other => panic!("{other:?}"),
        };
        assert_eq!(failure(b"1\t1\tkpnum\n"), Failure::Server("HandlerSocket refused: kpnum (code 1)".into()));
        assert!(matches!(failure(b"135\t1\t135\n"), Failure::Full(_)));
        assert!(matches!(failure(b"0\t2\t7\n"), Failure::Protocol(_)));
        assert_eq!(acknowledged(b"0\t1\t1\n"), Ok(Some((Ok(1), 6))));
        assert_eq!(acknowledged(b"0\t1\n"), Ok(Some((Ok(0), 4))));
    }
}
