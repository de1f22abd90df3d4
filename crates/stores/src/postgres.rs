//! Everything that speaks the PostgreSQL protocol: prepared statements, each step's prepared once a session.

mod administration;
mod config;

use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use dbdyno_model::{Dialect, Failure, Field, Kind, Operation, Row, RowBuffer, Session, Value};
use dbdyno_net::Reactor;
use dbdyno_wire::postgres::{self as wire, Answer, Login, LoginStep, Prepared, ScalarType, ServerMessage};
use dbdyno_wire::{Decoded, Param, TextRows};

use crate::multi_get::hand_over_all;
use crate::network::{
    Endpoint, Exchange, MOST_LOGIN_MESSAGES, endless_login, event_loop, protocol, while_logging_in, without_tls,
};
use crate::params::{field, param, scale};
use crate::sql::{TABLE_PREFIX, control, create_table, table_name, table_options};
use crate::sql_writes::{ParamWrites, sql_writes};
use crate::store_config::OpenStore;
use crate::{Schema, SharedSchema, TABLE_MARKER, Trouble, declared_as, numbered_statement};
pub use config::PostgresConfig;

/// An hour, for what reads or writes a whole table.
const WHOLE_TABLE_NS: u64 = 3600 * 1_000_000_000;
/// A minute, for a server that flushes what it was given while the next comes.
const COPY_NS: u64 = 60 * 1_000_000_000;
/// Rows of a COPY are sent in pieces of about this size.
const COPY_SIZE_BYTES: usize = 256 << 10;
/// The SQLSTATE of a full disk; one that has no memory left answers something else, and goes on.
const DISK_FULL: &str = "53100";

/// SQLSTATEs of transactions that can be retried: a failed serialization, a deadlock, a lock waited for in vain (`lock_timeout`).
const CONFLICTS: [&str; 3] = ["40001", "40P01", "55P03"];

#[derive(Clone, Debug)]
pub struct Postgres {
    pub endpoint: Endpoint,
    pub user: String,
    pub password: String,
    pub database: String,
    pub schema: SharedSchema,
    described: Described,
}

/// The statements as the server described them to the first session. All sessions to which it describes the same share them, so that they
/// stay in the processor's caches.
type Described = Arc<OnceLock<Arc<[Prepared]>>>;

pub struct PostgresSession {
    exchange: Exchange,
    schema: SharedSchema,
    statements: Arc<[Prepared]>,
    described: Described,
    /// Those of them that are prepared while not all are: the server keeps them when one of the others fails.
    preparing: Vec<Prepared>,
    /// The kinds of each statement's parameters.
    parameters: Vec<Vec<Kind>>,
    /// True if a transaction has begun and not ended.
    is_open: bool,
    generated: RowBuffer,
    fields: Vec<Field>,
}

impl OpenStore for Postgres {
    type Session = PostgresSession;

    async fn open(&self, reactor: Option<&Rc<Reactor>>) -> Result<PostgresSession, Failure> {
        let mut exchange = self.endpoint.connect(event_loop(reactor)?).await?;
        self.log_in(&mut exchange).await.map_err(while_logging_in)?;
        Ok(PostgresSession {
            exchange,
            schema: SharedSchema::clone(&self.schema),
            statements: Arc::default(),
            described: Arc::clone(&self.described),
            preparing: Vec::new(),
            parameters: Vec::new(),
            is_open: false,
            generated: RowBuffer::default(),
            fields: Vec::new(),
        })
    }
}

impl Postgres {
    async fn log_in(&self, exchange: &mut Exchange) -> Result<(), Failure> {
        if self.endpoint.encryption.is_some() {
            wire::tls_request(exchange.begin());
            exchange.send().await?;
            if !exchange.next(wire::tls_answer).await? {
                return Err(without_tls());
            }
            exchange.encrypt(&self.endpoint).await?;
        }
        let mut login = Login::new(&self.user, &self.password);
        wire::startup(exchange.begin(), &self.user, &self.database);
        exchange.send().await?;
        for _ in 0..MOST_LOGIN_MESSAGES {
            let (kind, payload) = exchange.next(whole_message).await?;
            match login.next(kind, &payload).map_err(protocol)? {
                LoginStep::Send(message) => {
                    exchange.begin().extend_from_slice(&message);
                    exchange.send().await?;
                }
                LoginStep::Read => {}
                LoginStep::Done => return Ok(()),
                LoginStep::Refused(error) => return Err(Failure::Server(worded(&error))),
            }
        }
        Err(endless_login())
    }
}

fn whole_message(bytes: &[u8]) -> Decoded<((u8, Vec<u8>), usize)> {
    Ok(wire::message(bytes, 0)?.map(|m| ((m.kind, bytes[m.start..m.end].to_vec()), m.end)))
}

fn worded(error: &ServerMessage) -> String {
    format!("{} (SQLSTATE {})", error.text, error.code)
}

#[cold]
fn refused(error: &ServerMessage) -> Failure {
    let message = worded(error);
    match error.code.as_str() {
        DISK_FULL => Failure::Full(message),
        _ if error.is_fatal => Failure::Connection(message),
        code if CONFLICTS.contains(&code) => Failure::Conflict(message),
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

/// The type that a column of this kind has (`sql::create_table`).
pub fn scalar_type(kind: Kind) -> ScalarType {
    match kind {
        Kind::TinyInt | Kind::SmallInt => ScalarType::Int2,
        Kind::Int => ScalarType::Int4,
        Kind::BigInt => ScalarType::Int8,
        Kind::Decimal(_, scale) => ScalarType::Numeric(scale),
        Kind::Double => ScalarType::Float8,
        Kind::DateTime => ScalarType::Timestamp,
        Kind::Json(_) => ScalarType::Jsonb,
        Kind::Char(_) | Kind::Varchar(_) | Kind::Unicode(_) | Kind::Binary(_) => ScalarType::Text,
    }
}

/// Takes a statement as the server described it, if it is as the workload declared it.
fn adopt(schema: &Schema, step: usize, mut prepared: Prepared) -> Result<Prepared, Failure> {
    let kinds = schema.answer_kinds(step);
    let actual = (prepared.parameters(), prepared.columns.len());
    declared_as(&schema.steps[step], (schema.parameter_kinds(step).len(), kinds.len()), actual)?;
    for (column, kind) in prepared.columns.iter_mut().zip(kinds) {
        if let ScalarType::Numeric(of) = column {
            *of = scale(kind);
        }
    }
    Ok(prepared)
}

/// Returns the statements that others have, too, if they are the same.
fn shared(described: &OnceLock<Arc<[Prepared]>>, own: Arc<[Prepared]>) -> Arc<[Prepared]> {
    let first = described.get_or_init(|| Arc::clone(&own));
    if **first == *own { Arc::clone(first) } else { own }
}

impl PostgresSession {
    /// Prepares a statement for each step, the first time one is needed: loading needs none, and the tables must exist.
    #[cold]
    async fn prepare_statements(&mut self) -> Result<(), Failure> {
        for (i, step) in self.schema.steps.iter().enumerate().skip(self.preparing.len()) {
            if step.operation.is_control() || step.operation == Operation::Transaction {
                // It goes as text, as through every client library; this only keeps the place.
                self.preparing.push(Prepared::default());
                continue;
            }
            let (name, sql) = (format!("s{i}"), numbered_statement(&self.schema, i));
            wire::prepare(self.exchange.begin(), &name, &sql);
            let prepared = self.exchange.ask(|bytes| wire::prepared(bytes, &name)).await?;
            self.preparing.push(adopt(&self.schema, i, prepared.map_err(|error| refused(&error))?)?);
        }
        let statements: Arc<[Prepared]> = std::mem::take(&mut self.preparing).into();
        self.parameters = (0..statements.len()).map(|i| self.schema.parameter_kinds(i)).collect();
        self.statements = shared(&self.described, statements);
        Ok(())
    }

    /// Executes a step's statement; rows end up in `self.fields`.
    #[inline]
    async fn execute<'p>(
        &mut self,
        step: usize,
        params: impl ExactSizeIterator<Item = Param<'p>>,
    ) -> Result<Answer, Failure> {
        if self.statements.is_empty() {
            self.prepare_statements().await?;
        }
        let Self { exchange, statements, fields, .. } = self;
        let statement = &statements[step];
        let request = exchange.begin();
        wire::execute(request, statement, params);
        wire::sync(request);
        let decode = |bytes: &[u8]| {
            fields.clear();
            wire::answer(bytes, 0, &statement.columns, |cell| fields.push(field(cell)))
        };
        exchange.ask(decode).await
    }

    #[inline]
    async fn read(&mut self, step: usize, value: Value<'_>) -> Result<bool, Failure> {
        match self.execute(step, std::iter::once(param(Kind::Int, value))).await? {
            Answer::Rows(1) => Ok(true),
            Answer::Rows(0) => Ok(false),
            other => Err(unexpected(&other)),
        }
    }

    async fn read_many(
        &mut self,
        step: usize,
        keys: &[u64],
        each: &mut dyn FnMut(usize, Option<Row<'_>>),
    ) -> Result<(), Failure> {
        match self.execute(step, keys.iter().map(|&key| Param::Int(key as i64))).await? {
            Answer::Rows(_) => {}
            other => return Err(unexpected(&other)),
        }
        let columns = self.schema.table_of_operation(self.schema.steps[step].operation).columns.len();
        hand_over_all(keys, self.exchange.bytes(), (&self.fields, columns), each)
    }

    /// Runs statements as text.
    async fn query(&mut self, sql: &str) -> Result<TextRows, Failure> {
        wire::query(self.exchange.begin(), sql);
        let rows = self.exchange.ask(wire::text_answer).await?;
        rows.map_err(|error| refused(&error))
    }

    /// One value of a statement's only row.
    async fn query_one(&mut self, sql: &str) -> Result<Option<String>, Failure> {
        Ok(self.query(sql).await?.pop().and_then(|mut row| row.pop()).flatten())
    }

    async fn create(&mut self, table: usize, marker: &str) -> Result<(), Trouble> {
        let name = table_name(&self.schema.tables[table]);
        let select = format!("SELECT coalesce({COMMENT}, '') FROM pg_class WHERE {HERE} AND relname = '{name}'");
        let drop = match self.query_one(&select).await? {
            Some(comment) if !comment.starts_with(TABLE_MARKER) => {
                return Err(Trouble::Refused(format!(
                    "a table {name} without dbdyno's marker exists, and dbdyno does not drop it. Use another database"
                )));
            }
            Some(_) => format!("DROP TABLE IF EXISTS {}; ", self.qualified(&name).await?),
            None => String::new(),
        };
        // One query is one transaction: the table is never there without its marker.
        let table = &self.schema.tables[table];
        let create = create_table(table, Dialect::Postgres) + &table_options(table, Dialect::Postgres);
        self.query(&format!("{drop}{create}; COMMENT ON TABLE {name} IS '{}'", marker.replace('\'', "''"))).await?;
        Ok(())
    }

    /// The table's name with its schema. Without that, if somebody else drops the table first, its name leads to a table of the owner's in
    /// another schema of the search path.
    async fn qualified(&mut self, name: &str) -> Result<String, Failure> {
        let name = name.replace('\'', "''");
        Ok(self.query_one(&format!("SELECT format('%I.%I', current_schema(), '{name}')")).await?.unwrap_or_default())
    }

    /// The tables that carry a marker: those of the schema, or all if it is empty.
    fn marked_tables(&self) -> String {
        let names: Vec<String> = self.schema.tables.iter().map(|t| format!("'{}'", table_name(t))).collect();
        let named = match names.len() {
            0 => format!("LIKE '{}%'", TABLE_PREFIX.replace('_', "\\_")),
            _ => format!("IN ({})", names.join(", ")),
        };
        format!(
            "FROM pg_class WHERE {HERE} AND relkind IN ('r', 'p') AND relname {named} AND {COMMENT} LIKE '{TABLE_MARKER}%'"
        )
    }
}

/// Selects the schema in which tables are made if none is named.
const HERE: &str = "relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())";
const COMMENT: &str = "obj_description(pg_class.oid, 'pg_class')";

impl ParamWrites for PostgresSession {
    fn is_prepared(&self) -> bool {
        !self.statements.is_empty()
    }

    async fn prepare_all(&mut self) -> Result<(), Failure> {
        self.prepare_statements().await
    }

    fn kinds(&mut self, step: usize) -> &mut Vec<Kind> {
        &mut self.parameters[step]
    }

    fn generated(&mut self) -> &mut RowBuffer {
        &mut self.generated
    }

    #[inline]
    async fn write<'p>(
        &mut self,
        step: usize,
        params: impl ExactSizeIterator<Item = Param<'p>> + Clone,
    ) -> Result<bool, Failure> {
        match self.execute(step, params).await? {
            Answer::Affected(rows) => Ok(rows > 0),
            other => Err(unexpected(&other)),
        }
    }
}

impl Session for PostgresSession {
    #[inline]
    async fn get(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
        self.read(step, Value::Int(key as i64)).await
    }

    #[inline]
    async fn find(&mut self, step: usize, value: Value<'_>) -> Result<bool, Failure> {
        self.read(step, value).await
    }

    sql_writes!();

    async fn scan(&mut self, step: usize, first: u64, most: u64, each: &mut dyn FnMut(Row<'_>)) -> Result<(), Failure> {
        match self.execute(step, [Param::Int(first as i64), Param::Int(most as i64)].into_iter()).await? {
            Answer::Rows(_) => {}
            other => return Err(unexpected(&other)),
        }
        let columns = self.schema.table_of_operation(self.schema.steps[step].operation).columns.len();
        let bytes = self.exchange.bytes();
        self.fields.chunks_exact(columns).for_each(|fields| each(Row::new(bytes, fields)));
        Ok(())
    }

    async fn control(&mut self, step: usize) -> Result<(), Failure> {
        let operation = self.schema.steps[step].operation;
        self.is_open = matches!(operation, Operation::Begin { .. });
        self.query(control(operation)).await.map(drop)
    }

    async fn quit(&mut self) {
        wire::terminate(self.exchange.begin());
        // It is closed next, in any case.
        let _ = self.exchange.send_anyway().await;
    }

    async fn abandon(&mut self) -> Result<(), Failure> {
        if std::mem::take(&mut self.is_open) {
            self.query("ROLLBACK").await?;
        }
        Ok(())
    }

    async fn sql(&mut self, step: usize, values: &[Value<'_>], each: &mut dyn FnMut(Row<'_>)) -> Result<u64, Failure> {
        if self.statements.is_empty() {
            self.prepare_statements().await?;
        }
        let kinds = std::mem::take(&mut self.parameters[step]);
        let answer = self.execute(step, kinds.iter().zip(values).map(|(&kind, &value)| param(kind, value))).await;
        self.parameters[step] = kinds;
        let (columns, bytes) = (self.statements[step].columns.len(), self.exchange.bytes());
        match answer? {
            Answer::Rows(rows) => {
                self.fields.chunks_exact(columns).for_each(|fields| each(Row::new(bytes, fields)));
                Ok(rows)
            }
            Answer::Affected(rows) => Ok(rows),
            Answer::Error(error) => Err(refused(&error)),
        }
    }

    /// All statements of a pipelined batch share one Sync, so the server sends their answers together, and after an error none of those behind it.
    async fn get_many(
        &mut self,
        step: usize,
        keys: &[u64],
        each: &mut dyn FnMut(usize, Option<Row<'_>>),
    ) -> Result<(), Failure> {
        if matches!(self.schema.steps[step].operation, Operation::GetMany { .. }) {
            return self.read_many(step, keys, each).await;
        }
        if self.statements.is_empty() {
            self.prepare_statements().await?;
        }
        let Self { exchange, statements, fields, .. } = self;
        let statement = &statements[step];
        let request = exchange.begin();
        for &key in keys {
            wire::execute(request, statement, std::iter::once(Param::Int(key as i64)));
        }
        wire::sync(request);
        exchange.send().await?;
        let mut done = Ok(());
        for i in 0..keys.len() {
            done = exchange.next(|bytes| pipelined_row(bytes, statement, fields, |row| each(i, row))).await?;
            if done.is_err() {
                break;
            }
        }
        if !matches!(&done, Err(failure) if failure.ends_session()) {
            exchange.next(|bytes| Ok(wire::ready(bytes, 0)?.map(|end| ((), end)))).await?;
        }
        done
    }

    #[inline]
    fn row(&self) -> Row<'_> {
        Row::new(self.exchange.bytes(), &self.fields)
    }
}

/// Decodes one answer of a batch and hands the row over where it lies.
fn pipelined_row(
    bytes: &[u8],
    statement: &Prepared,
    fields: &mut Vec<Field>,
    each: impl FnOnce(Option<Row<'_>>),
) -> Decoded<(Result<(), Failure>, usize)> {
    fields.clear();
    let Some((answer, end)) = wire::executed(bytes, 0, &statement.columns, |cell| fields.push(field(cell)))? else {
        return Ok(None);
    };
    let done = match answer {
        Answer::Rows(n @ (0 | 1)) => {
            each((n == 1).then(|| Row::new(bytes, fields)));
            Ok(())
        }
        other => Err(unexpected(&other)),
    };
    Ok(Some((done, end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_and_a_lost_connection_are_told_from_other_errors() {
        let failure = |code: &str, is_fatal| refused(&ServerMessage { code: code.into(), text: "no".into(), is_fatal });
        assert!(matches!(failure(DISK_FULL, false), Failure::Full(_)));
        assert!(matches!(failure("57P01", true), Failure::Connection(_)));
        assert!(matches!(failure("40P01", false), Failure::Conflict(m) if m == "no (SQLSTATE 40P01)"));
        assert!(matches!(failure("42601", false), Failure::Server(_)));
    }

    #[test]
    fn sessions_share_statements_that_are_described_to_them_alike() {
        let described = OnceLock::new();
        let of = |columns: &[ScalarType]| -> Arc<[Prepared]> {
            let mut statements = [Prepared::default()];
            statements[0].columns = columns.into();
            statements.into()
        };
        let first = shared(&described, of(&[ScalarType::Int4]));
        assert!(Arc::ptr_eq(&first, &shared(&described, of(&[ScalarType::Int4]))));
        let other = shared(&described, of(&[ScalarType::Int8]));
        assert_eq!(other[0].columns, [ScalarType::Int8]);
        assert_eq!(first[0].columns, [ScalarType::Int4]);
    }

    #[test]
    fn more_rows_than_one_are_a_mismatch() {
        assert!(matches!(unexpected(&Answer::Rows(2)), Failure::Mismatch(m) if m.starts_with("2 rows")));
        assert!(matches!(unexpected(&Answer::Affected(1)), Failure::Protocol(_)));
    }
}
