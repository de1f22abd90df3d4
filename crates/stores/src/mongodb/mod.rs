//! Everything that speaks the MongoDB protocol: a table is a collection, a row a document with its key as `_id`.
//!
//! Each step's command is written once a session, up to the values.

mod administration;
mod config;

use std::rc::Rc;

use dbdyno_model::{Failure, Field, Kind, Operation, Row, RowBuffer, Session, Step, Table, Value};
use dbdyno_net::Reactor;
use dbdyno_wire::mongodb::{
    self as wire, Answer, Command, Login, LoginStep, MORE_TO_COME, Name, ServerMessage, array, document, int, text,
};
use dbdyno_wire::{Cell, Decoded, Malformed};

use crate::SharedSchema;
use crate::multi_get::hand_over_all;
use crate::network::{Endpoint, Exchange, MOST_LOGIN_MESSAGES, endless_login, event_loop, while_logging_in};
use crate::sql::table_name;
use crate::store_config::OpenStore;
pub use config::MongodbConfig;
use config::Write;

const OUT_OF_DISK_SPACE: i64 = 14_031;
const DUPLICATE_KEY: i64 = 11_000;
/// How often a row is put again that another client made between the server's look for it and its insertion.
const ATTEMPTS: usize = 5;
/// A server ends a batch at 16 MiB. One that is shorter than a scan asked for, and longer than this, may have been cut.
const PERHAPS_CUT_SIZE_BYTES: usize = 8 << 20;
/// The server ends, or is no longer the one that writes: another connection may find the one that is.
const GOING_AWAY: [i64; 6] = [91, 189, 10_107, 11_600, 11_602, 13_435];

#[derive(Clone, Debug)]
pub struct Mongodb {
    pub endpoint: Endpoint,
    /// Empty: nobody is logged in.
    pub user: String,
    pub password: String,
    pub database: String,
    pub auth_database: String,
    pub write: Write,
    pub schema: SharedSchema,
}

pub struct MongodbSession {
    exchange: Exchange,
    schema: SharedSchema,
    database: String,
    is_acknowledging: bool,
    /// One entry for each step.
    commands: Vec<Command>,
    /// The names of each table's columns.
    names: Vec<Vec<Name>>,
    /// "0", "1" …, for as many keys as a step asks for.
    places: Vec<String>,
    /// The number of the last request.
    number: u32,
    generated: RowBuffer,
    fields: Vec<Field>,
}

/// Returns the name of a column in a document.
pub fn field_name(table: &Table, column: usize) -> &str {
    if column == 0 { "_id" } else { &table.columns[column].name }
}

fn name(table: &Table, column: usize) -> Name {
    let name = wire::name(field_name(table, column));
    if table.columns[column].kind == Kind::Double { name.in_double_precision() } else { name }
}

impl OpenStore for Mongodb {
    type Session = MongodbSession;

    async fn open(&self, reactor: Option<&Rc<Reactor>>) -> Result<MongodbSession, Failure> {
        let mut exchange = self.endpoint.connect(event_loop(reactor)?).await?;
        self.log_in(&mut exchange).await.map_err(while_logging_in)?;
        let schema = SharedSchema::clone(&self.schema);
        let names = |table: &Table| (0..table.columns.len()).map(|i| name(table, i)).collect();
        let most = schema
            .steps
            .iter()
            .map(|step| if let Operation::GetMany { keys, .. } = step.operation { keys } else { 0 })
            .max();
        Ok(MongodbSession {
            exchange,
            database: self.database.clone(),
            is_acknowledging: self.write == Write::Acknowledged,
            commands: schema.steps.iter().map(|step| self.command(step)).collect(),
            names: schema.tables.iter().map(names).collect(),
            places: (0..most.unwrap_or(0)).map(|i| i.to_string()).collect(),
            number: 0,
            generated: RowBuffer::default(),
            fields: Vec::new(),
            schema,
        })
    }
}

impl Mongodb {
    async fn log_in(&self, exchange: &mut Exchange) -> Result<(), Failure> {
        let mut login = Login::new(&self.user, &self.password, &self.auth_database);
        let mut message = login.greeting();
        for _ in 0..MOST_LOGIN_MESSAGES {
            exchange.begin().extend_from_slice(&message);
            match exchange.ask(|bytes| login.next(bytes)).await? {
                LoginStep::Send(next) => message = next,
                LoginStep::Done => return Ok(()),
                LoginStep::Refused(error) => return Err(refused(&error)),
            }
        }
        Err(endless_login())
    }

    /// A step's command, up to what varies.
    fn command(&self, step: &Step) -> Command {
        let name = table_name(self.schema.table_of_operation(step.operation));
        let read = |most: i64| {
            let head = |out: &mut Vec<u8>| {
                begin(out, "find", &name, &self.database);
                // Some servers look for what follows the last that may be returned.
                int(out, "limit", most);
                int(out, "batchSize", most);
                wire::boolean(out, "singleBatch", true);
            };
            Command::new(0, head).document("filter")
        };
        let write = |verb: &str, documents: &str| self.write_command(verb, &name).sequence(documents);
        match step.operation {
            Operation::Get { .. } => read(1),
            Operation::GetMany { keys, .. } => read(keys as i64),
            // A second row would be one too many, and is to be seen.
            Operation::Find { .. } => read(2),
            // As many rows as each scan says.
            Operation::Scan { .. } => Command::new(0, |out| begin(out, "find", &name, &self.database)),
            Operation::Update { .. } | Operation::Add { .. } | Operation::Put { .. } => write("update", "updates"),
            Operation::Delete { .. } => write("delete", "deletes"),
            Operation::Insert { .. } => write("insert", "documents"),
            // Refused when the store is made, or never issued.
            Operation::Begin { .. } | Operation::Commit | Operation::Rollback => Command::default(),
            Operation::GetElsewhere { .. } | Operation::SumRange { .. } => Command::default(),
            Operation::Sql { .. } | Operation::Transaction => Command::default(),
        }
    }

    fn write_command(&self, verb: &str, name: &str) -> Command {
        let is_acknowledged = self.write == Write::Acknowledged;
        Command::new(if is_acknowledged { 0 } else { MORE_TO_COME }, |out| {
            begin(out, verb, name, &self.database);
            if !is_acknowledged {
                document(out, "writeConcern", |out| int(out, "w", 0));
            }
        })
    }
}

/// The beginning of every command: its name comes first.
fn begin(out: &mut Vec<u8>, verb: &str, collection: &str, database: &str) {
    text(out, verb, collection.as_bytes());
    text(out, "$db", database.as_bytes());
}

#[inline]
fn put(out: &mut Vec<u8>, table: &Table, column: usize, value: Value<'_>) {
    let name = field_name(table, column);
    match value {
        Value::Int(bits) if table.columns[column].kind == Kind::Double => wire::double(out, name, bits as u64),
        Value::Int(n) => int(out, name, n),
        // A text must be UTF-8.
        Value::Text(bytes) if matches!(table.columns[column].kind, Kind::Binary(_)) => wire::binary(out, name, bytes),
        Value::Text(bytes) => text(out, name, bytes),
        Value::Null => {}
    }
}

fn write_row(out: &mut Vec<u8>, table: &Table, row: Row<'_>) {
    wire::elements(out, |out| (0..row.len()).for_each(|i| put(out, table, i, row.value(i))));
}

#[inline]
fn field(cell: Cell) -> Field {
    match cell {
        Cell::Null => Field::Null,
        Cell::Int(n) => Field::Int(n),
        Cell::Text { start, end } => Field::text(start, end),
    }
}

/// Decodes the answer to the request with this number. Answers to others are passed over if there may be any: FerretDB answers also
/// what is not to be answered.
#[inline]
fn awaited(
    bytes: &[u8],
    number: u32,
    is_alone: bool,
    names: &[Name],
    fields: &mut Vec<Field>,
) -> Decoded<(Answer, usize)> {
    let mut at = 0;
    loop {
        let Some(((answers, answer), end)) = wire::answer(bytes, at, names, fields, field)? else { return Ok(None) };
        if answers == number {
            return Ok(Some((answer, end)));
        }
        if is_alone {
            return Err(Malformed(format!("an answer to request {answers}, expected one to {number}")));
        }
        at = end;
    }
}

/// Returns whether the server may have left rows out because its answer grew too long.
fn is_perhaps_cut(rows: u64, most: u64, answer_size_bytes: usize) -> bool {
    (1..most).contains(&rows) && answer_size_bytes > PERHAPS_CUT_SIZE_BYTES
}

fn end_of_message(bytes: &[u8]) -> Decoded<usize> {
    Ok(wire::message(bytes, 0)?.map(|message| message.next))
}

#[cold]
fn refused(error: &ServerMessage) -> Failure {
    let message = format!("{} (code {})", error.text, error.code);
    match error.code {
        OUT_OF_DISK_SPACE => Failure::Full(message),
        code if GOING_AWAY.contains(&code) => Failure::Connection(message),
        _ => Failure::Server(message),
    }
}

#[cold]
fn unexpected(answer: &Answer) -> Failure {
    match answer {
        Answer::Error(error) => refused(error),
        Answer::Rows(n @ 2..) => Failure::Mismatch(format!("{n} rows, expected one")),
        other => Failure::Protocol(format!("unexpected answer: {other:?}")),
    }
}

impl MongodbSession {
    /// Sends the request; rows of `table` end up in `self.fields`.
    #[inline]
    async fn ask(&mut self, table: usize) -> Result<Answer, Failure> {
        let Self { exchange, names, fields, number, is_acknowledging, .. } = self;
        let decode = |bytes: &[u8]| awaited(bytes, *number, *is_acknowledging, &names[table], fields);
        if *is_acknowledging {
            return exchange.ask(decode).await;
        }
        exchange.forget_unasked(end_of_message).await?;
        exchange.send_anyway().await?;
        exchange.read(decode).await
    }

    #[inline]
    async fn read(&mut self, step: usize, column: usize, value: Value<'_>) -> Result<bool, Failure> {
        let Self { schema, commands, exchange, number, .. } = self;
        let table = schema.steps[step].operation.table();
        *number = number.wrapping_add(1);
        commands[step].write(exchange.begin(), *number, |out| put(out, &schema.tables[table], column, value));
        match self.ask(table).await? {
            Answer::Rows(1) => Ok(true),
            Answer::Rows(0) => Ok(false),
            other => Err(unexpected(&other)),
        }
    }

    /// Sends the request, which writes, and waits for its answer unless that is not wanted.
    #[inline]
    async fn write(&mut self) -> Result<bool, Failure> {
        if !self.is_acknowledging {
            self.exchange.forget_unasked(end_of_message).await?;
            return self.exchange.send_anyway().await.map(|()| true);
        }
        match self.ask(0).await? {
            Answer::Number(n) => Ok(n > 0),
            other => Err(unexpected(&other)),
        }
    }
}

impl MongodbSession {
    /// Puts the generated row, whose key this is; false if another client made one meanwhile.
    async fn put_generated(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
        let Self { schema, commands, exchange, number, generated, .. } = self;
        let table = schema.table_of_operation(schema.steps[step].operation);
        *number = number.wrapping_add(1);
        commands[step].write(exchange.begin(), *number, |out| {
            wire::elements(out, |out| {
                document(out, "q", |out| int(out, "_id", key as i64));
                document(out, "u", |out| {
                    let row = generated.row();
                    (0..row.len()).for_each(|i| put(out, table, i, row.value(i)));
                });
                wire::boolean(out, "upsert", true);
            });
        });
        if !self.is_acknowledging {
            return self.write().await;
        }
        match self.ask(0).await? {
            Answer::Number(_) => Ok(true),
            Answer::Error(ServerMessage { code: DUPLICATE_KEY, .. }) => Ok(false),
            other => Err(unexpected(&other)),
        }
    }

    /// Reads at most `most` rows from the key `first` on, and returns how many there were.
    async fn ask_range(&mut self, step: usize, first: u64, most: u64) -> Result<u64, Failure> {
        let Self { commands, exchange, number, .. } = self;
        *number = number.wrapping_add(1);
        commands[step].write(exchange.begin(), *number, |out| {
            document(out, "filter", |out| document(out, "_id", |out| int(out, "$gte", first as i64)));
            document(out, "sort", |out| int(out, "_id", 1));
            int(out, "limit", most as i64);
            int(out, "batchSize", most as i64);
            wire::boolean(out, "singleBatch", true);
        });
        let table = self.schema.steps[step].operation.table();
        match self.ask(table).await? {
            Answer::Rows(rows) => Ok(rows),
            other => Err(unexpected(&other)),
        }
    }
}

impl Session for MongodbSession {
    #[inline]
    async fn get(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
        self.read(step, 0, Value::Int(key as i64)).await
    }

    #[inline]
    async fn find(&mut self, step: usize, value: Value<'_>) -> Result<bool, Failure> {
        let Operation::Find { column, .. } = self.schema.steps[step].operation else { return Ok(false) };
        self.read(step, column, value).await
    }

    #[inline]
    async fn update(&mut self, step: usize, key: u64, version: u64) -> Result<bool, Failure> {
        let Self { schema, commands, exchange, number, generated, .. } = self;
        let table = schema.table_of_operation(schema.steps[step].operation);
        table.generate(key, version, generated);
        let row = generated.row();
        *number = number.wrapping_add(1);
        commands[step].write(exchange.begin(), *number, |out| {
            wire::elements(out, |out| {
                document(out, "q", |out| int(out, "_id", key as i64));
                document(out, "u", |out| {
                    document(out, "$set", |out| {
                        let versioned = (0..row.len()).filter(|&i| table.columns[i].is_versioned());
                        versioned.for_each(|i| put(out, table, i, row.value(i)));
                    });
                });
            });
        });
        self.write().await
    }

    #[inline]
    async fn add(&mut self, step: usize, key: u64, delta: i64) -> Result<bool, Failure> {
        let Self { schema, commands, exchange, number, .. } = self;
        let Operation::Add { table, column } = schema.steps[step].operation else { return Ok(false) };
        let name = field_name(&schema.tables[table], column);
        *number = number.wrapping_add(1);
        commands[step].write(exchange.begin(), *number, |out| {
            wire::elements(out, |out| {
                document(out, "q", |out| int(out, "_id", key as i64));
                document(out, "u", |out| document(out, "$inc", |out| int(out, name, delta)));
            });
        });
        self.write().await
    }

    #[inline]
    async fn insert(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
        let Self { schema, commands, exchange, number, generated, .. } = self;
        let table = schema.table_of_operation(schema.steps[step].operation);
        table.generate(key, 0, generated);
        *number = number.wrapping_add(1);
        commands[step].write(exchange.begin(), *number, |out| write_row(out, table, generated.row()));
        self.write().await
    }

    async fn put(&mut self, step: usize, key: u64, version: u64) -> Result<(), Failure> {
        let table = self.schema.table_of_operation(self.schema.steps[step].operation);
        table.generate(key, version, &mut self.generated);
        for _ in 0..ATTEMPTS {
            if self.put_generated(step, key).await? {
                return Ok(());
            }
        }
        Err(Failure::Conflict("other clients made and removed this row again and again".into()))
    }

    #[inline]
    async fn delete(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
        let Self { commands, exchange, number, .. } = self;
        *number = number.wrapping_add(1);
        commands[step].write(exchange.begin(), *number, |out| {
            wire::elements(out, |out| {
                document(out, "q", |out| int(out, "_id", key as i64));
                int(out, "limit", 1);
            });
        });
        self.write().await
    }

    async fn scan(&mut self, step: usize, first: u64, most: u64, each: &mut dyn FnMut(Row<'_>)) -> Result<(), Failure> {
        let (mut first, mut left) = (first, most);
        loop {
            let rows = self.ask_range(step, first, left).await?;
            let table = self.schema.table_of_operation(self.schema.steps[step].operation);
            let (bytes, columns) = (self.exchange.bytes(), table.columns.len());
            self.fields.chunks_exact(columns).for_each(|fields| each(Row::new(bytes, fields)));
            let last = self.fields.chunks_exact(columns).next_back().map(|fields| fields[0]);
            match last {
                Some(Field::Int(last)) if is_perhaps_cut(rows, left, bytes.len()) => {
                    (first, left) = (last as u64 + 1, left - rows);
                }
                _ => return Ok(()),
            }
        }
    }

    /// One request for all keys; `get` step by step is not pipelined.
    async fn get_many(
        &mut self,
        step: usize,
        keys: &[u64],
        each: &mut dyn FnMut(usize, Option<Row<'_>>),
    ) -> Result<(), Failure> {
        let Self { commands, exchange, number, places, .. } = self;
        *number = number.wrapping_add(1);
        commands[step].write(exchange.begin(), *number, |out| {
            document(out, "_id", |out| {
                array(out, "$in", |out| {
                    keys.iter().zip(places).for_each(|(&key, position)| int(out, position, key as i64))
                });
            });
        });
        let table = self.schema.steps[step].operation.table();
        match self.ask(table).await? {
            Answer::Rows(_) => {}
            other => return Err(unexpected(&other)),
        }
        let columns = self.schema.tables[table].columns.len();
        hand_over_all(keys, self.exchange.bytes(), (&self.fields, columns), each)
    }

    #[inline]
    fn row(&self) -> Row<'_> {
        Row::new(self.exchange.bytes(), &self.fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_and_a_server_that_goes_away_are_told_from_other_errors() {
        let failure = |code| refused(&ServerMessage { code, text: "no".into() });
        assert!(matches!(failure(OUT_OF_DISK_SPACE), Failure::Full(_)));
        assert!(matches!(failure(91), Failure::Connection(_)));
        assert!(matches!(failure(11_000), Failure::Server(m) if m == "no (code 11000)"));
    }

    #[test]
    fn an_answer_to_another_request_is_passed_over_only_where_there_may_be_one() {
        let (mut bytes, mut fields) = (vec![], vec![]);
        for (number, n) in [(6, 1), (7, 2)] {
            wire::write_answer(&mut bytes, number, |out| {
                int(out, "n", n);
                int(out, "ok", 1);
            });
        }
        let end = bytes.len();
        assert_eq!(awaited(&bytes, 7, false, &[], &mut fields), Ok(Some((Answer::Number(2), end))));
        assert_eq!(awaited(&bytes[..end - 1], 7, false, &[], &mut fields), Ok(None));
        assert!(awaited(&bytes, 7, true, &[], &mut fields).unwrap_err().0.contains("request 6"));
    }

    #[test]
    fn a_scan_goes_on_behind_an_answer_that_may_have_been_cut() {
        let long = PERHAPS_CUT_SIZE_BYTES + 1;
        assert!(is_perhaps_cut(5, 10, long));
        assert!(!is_perhaps_cut(10, 10, long) && !is_perhaps_cut(0, 10, long) && !is_perhaps_cut(5, 10, 1000));
    }

    #[test]
    fn more_rows_than_one_are_a_mismatch() {
        assert!(matches!(unexpected(&Answer::Rows(2)), Failure::Mismatch(m) if m.starts_with("2 rows")));
        assert!(matches!(unexpected(&Answer::Number(1)), Failure::Protocol(_)));
    }
}
