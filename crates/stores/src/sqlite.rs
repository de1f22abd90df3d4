//! SQLite, embedded: one connection a client, statements prepared once and cached by it.

use std::future::{Ready, ready};
use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use dbdyno_model::{Dialect, Failure, Kind, Operation, Row, RowBuffer, Session, Statement, Value};
use dbdyno_net::Reactor;
use dbdyno_wire::TextRows;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Error, ErrorCode, OpenFlags, Params, ToSql, params_from_iter};
use serde::Deserialize;

use crate::effective_settings::EffectiveSettings;
use crate::multi_get::MultiGet;
use crate::params::scale;
use crate::query_plan::{self, Example, QueryPlan, example};
use crate::sql::{
    count_by_index, count_keys, create_indexes, create_table, last_key, statement, table_name, table_options,
};
use crate::sql_writes::sql_writes;
use crate::store_config::{Context, OpenStore, StoreConfig};
use crate::{Administration, Cleaning, Schema, SharedSchema, Trouble, declared_as};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SqliteConfig {
    path: PathBuf,
    #[serde(default = "wal")]
    journal_mode: String,
    #[serde(default = "full")]
    synchronous: String,
    cache_size_kib: Option<u64>,
    mmap_size_bytes: Option<u64>,
}

fn wal() -> String {
    "WAL".into()
}

fn full() -> String {
    "FULL".into()
}

impl StoreConfig for SqliteConfig {
    const KINDS: &'static [&'static str] = &["sqlite"];
    const CONNECTIONS: u64 = 0;
    type Store = Sqlite;

    fn can_do(&self, _: &Schema, _: Operation) -> bool {
        true
    }

    fn store(&self, context: &Context<'_>) -> Result<Sqlite, String> {
        let (config, timeout_ns, schema) = (self.clone(), context.timeout_ns, context.schema());
        Ok(Sqlite { config, timeout_ns, schema })
    }
}

#[derive(Clone, Debug)]
pub struct Sqlite {
    config: SqliteConfig,
    timeout_ns: u64,
    schema: SharedSchema,
}

pub struct SqliteSession {
    connection: Connection,
    schema: SharedSchema,
    statements: Vec<String>,
    /// The kinds of each step's parameters and of its answer.
    parameters: Vec<Vec<Kind>>,
    answers: Vec<Vec<Kind>>,
    /// True if each step's statement has been held against what the workload declared.
    is_checked: Vec<bool>,
    generated: RowBuffer,
    read: RowBuffer,
}

impl OpenStore for Sqlite {
    type Session = SqliteSession;

    async fn open(&self, _: Option<&Rc<Reactor>>) -> Result<SqliteSession, Failure> {
        let connect = |error: Error| Failure::Connect(format!("{}: {error}", self.config.path.display()));
        // A connection is used by the thread that opened it only, so SQLite need not lock it.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.config.path, flags).map_err(connect)?;
        self.configure(&connection).map_err(connect)?;
        let schema = SharedSchema::clone(&self.schema);
        connection.set_prepared_statement_cache_capacity(schema.steps.len() + 8);
        let statements = schema.steps.iter().map(|step| statement(&schema, step, Dialect::Sqlite)).collect();
        let is_checked = vec![false; schema.steps.len()];
        let parameters = (0..schema.steps.len()).map(|step| schema.parameter_kinds(step)).collect();
        let answers = (0..schema.steps.len()).map(|step| schema.answer_kinds(step)).collect();
        Ok(SqliteSession {
            connection,
            schema,
            statements,
            parameters,
            answers,
            is_checked,
            generated: RowBuffer::default(),
            read: RowBuffer::default(),
        })
    }

    fn effective_settings(&self) -> Option<EffectiveSettings> {
        Some(EffectiveSettings::of_version(rusqlite::version()))
    }
}

impl Sqlite {
    fn configure(&self, connection: &Connection) -> rusqlite::Result<()> {
        connection.busy_timeout(Duration::from_nanos(self.timeout_ns))?;
        set(connection, "journal_mode", &self.config.journal_mode)?;
        set(connection, "synchronous", synchronous(&self.config.synchronous))?;
        if let Some(kib) = self.config.cache_size_kib {
            set(connection, "cache_size", &format!("-{kib}"))?;
        }
        if let Some(bytes) = self.config.mmap_size_bytes {
            set(connection, "mmap_size", &bytes.to_string())?;
        }
        Ok(())
    }
}

/// The number that SQLite shows for a word (sqlite.org/pragma.html#pragma_synchronous).
fn synchronous(word: &str) -> &str {
    let numbers = [("off", "0"), ("normal", "1"), ("full", "2"), ("extra", "3")];
    numbers.iter().find(|(name, _)| word.eq_ignore_ascii_case(name)).map_or(word, |&(_, number)| number)
}

/// Sets a pragma and looks whether it is set: SQLite leaves what it cannot do as it was, without a word.
fn set(connection: &Connection, pragma: &str, wanted: &str) -> rusqlite::Result<()> {
    connection.pragma_update(None, pragma, wanted)?;
    let actual: rusqlite::types::Value = connection.pragma_query_value(None, pragma, |row| row.get(0))?;
    let actual = match actual {
        rusqlite::types::Value::Integer(n) => n.to_string(),
        rusqlite::types::Value::Text(text) => text,
        other => format!("{other:?}"),
    };
    if actual.eq_ignore_ascii_case(wanted) {
        return Ok(());
    }
    let message = format!("{pragma} = {wanted} was given, and SQLite has {actual}");
    Err(Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_MISUSE), Some(message)))
}

#[cold]
fn failure(error: Error) -> Failure {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => Failure::Full(error.to_string()),
        Some(ErrorCode::DatabaseBusy) => Failure::Timeout(error.to_string()),
        _ => Failure::Server(error.to_string()),
    }
}

fn trouble(error: Error) -> Trouble {
    Trouble::Failed(failure(error))
}

/// A value as a parameter of this kind.
struct Bound<'a>(Kind, Value<'a>);

impl ToSql for Bound<'_> {
    #[inline]
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.1 {
            Value::Null => ValueRef::Null,
            Value::Int(bits) if self.0 == Kind::Double => ValueRef::Real(f64::from_bits(bits as u64)),
            Value::Int(n) => ValueRef::Integer(n),
            Value::Text(text) => ValueRef::Text(text),
        }))
    }
}

/// Replaces `out` by a row's values, which are of these kinds. SQLite's own arithmetic can make a fraction of a decimal number's unit.
#[inline]
fn copy_row(row: &rusqlite::Row<'_>, kinds: &[Kind], out: &mut RowBuffer) -> rusqlite::Result<()> {
    out.clear();
    for (i, &kind) in kinds.iter().enumerate() {
        out.push(match row.get_ref(i)? {
            ValueRef::Integer(n) => Value::Int(n),
            ValueRef::Text(text) | ValueRef::Blob(text) => Value::Text(text),
            ValueRef::Real(x) if kind == Kind::Double => Value::Int(x.to_bits() as i64),
            ValueRef::Real(x) => Value::Int((x * 10f64.powi(i32::from(scale(kind)))).round() as i64),
            ValueRef::Null => Value::Null,
        });
    }
    Ok(())
}

fn as_text(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(n) => Some(n.to_string()),
        ValueRef::Real(x) => Some(x.to_string()),
        ValueRef::Text(text) | ValueRef::Blob(text) => Some(String::from_utf8_lossy(text).into_owned()),
    }
}

impl SqliteSession {
    #[inline]
    fn read(&mut self, step: usize, value: Value<'_>) -> rusqlite::Result<bool> {
        let mut statement = self.connection.prepare_cached(&self.statements[step])?;
        let mut rows = statement.query([Bound(self.parameters[step][0], value)])?;
        let Some(row) = rows.next()? else { return Ok(false) };
        copy_row(row, &self.answers[step], &mut self.read)?;
        Ok(true)
    }

    fn read_many(
        &mut self,
        step: usize,
        keys: &[u64],
        each: &mut dyn FnMut(usize, Option<Row<'_>>),
    ) -> Result<(), Failure> {
        let mut statement = self.connection.prepare_cached(&self.statements[step]).map_err(failure)?;
        let mut rows = statement.query(params_from_iter(keys.iter().map(|&key| key as i64))).map_err(failure)?;
        let mut multi_get = MultiGet::new(keys);
        while let Some(row) = rows.next().map_err(failure)? {
            copy_row(row, &self.answers[step], &mut self.read).map_err(failure)?;
            multi_get.hand_over(self.read.row(), each)?;
        }
        multi_get.finish(each);
        Ok(())
    }

    #[inline]
    fn write(&self, step: usize, params: impl Params) -> Result<bool, Failure> {
        let mut statement = self.connection.prepare_cached(&self.statements[step]).map_err(failure)?;
        statement.execute(params).map(|rows| rows > 0).map_err(failure)
    }

    #[inline]
    fn write_numbers<const N: usize>(&self, step: usize, numbers: [i64; N]) -> Ready<Result<bool, Failure>> {
        ready(self.write(step, params_from_iter(numbers)))
    }

    /// Writes with the generated values as the parameters.
    #[inline]
    fn write_generated(&self, step: usize) -> Ready<Result<bool, Failure>> {
        let (row, kinds) = (self.generated.row(), &self.parameters[step]);
        ready(self.write(step, params_from_iter((0..row.len()).map(|i| Bound(kinds[i], row.value(i))))))
    }

    /// Turns "busy" inside a transaction into a conflict: SQLite answers it at once there, while a BEGIN waits first.
    #[cold]
    fn failed(&self, error: Error) -> Failure {
        match failure(error) {
            Failure::Timeout(message) if !self.connection.is_autocommit() => Failure::Conflict(message),
            failure => failure,
        }
    }

    fn execute(&self, sql: &str) -> Result<(), Failure> {
        let execute = || self.connection.prepare_cached(sql)?.execute([]).map(drop);
        execute().map_err(|error| self.failed(error))
    }

    fn query(&mut self, step: usize, params: &[Value<'_>], each: &mut dyn FnMut(Row<'_>)) -> rusqlite::Result<u64> {
        let mut statement = self.connection.prepare_cached(&self.statements[step])?;
        let kinds = self.parameters[step].iter();
        let params = params_from_iter(kinds.zip(params).map(|(&kind, &value)| Bound(kind, value)));
        if self.answers[step].is_empty() {
            return statement.execute(params).map(|rows| rows as u64);
        }
        let (mut rows, mut count) = (statement.query(params)?, 0);
        while let Some(row) = rows.next()? {
            copy_row(row, &self.answers[step], &mut self.read)?;
            each(self.read.row());
            count += 1;
        }
        Ok(count)
    }

    /// A statement of the workload's own has as many columns as it was declared with.
    #[cold]
    fn check_declared(&self, step: usize) -> Result<(), Failure> {
        let statement = self.connection.prepare_cached(&self.statements[step]).map_err(failure)?;
        let declared = (self.schema.parameter_kinds(step).len(), self.answers[step].len());
        declared_as(&self.schema.steps[step], declared, (statement.parameter_count(), statement.column_count()))
    }

    fn create(&self, table: usize) -> rusqlite::Result<()> {
        let table = &self.schema.tables[table];
        let name = table_name(table);
        let create = create_table(table, Dialect::Sqlite) + &table_options(table, Dialect::Sqlite);
        self.connection.execute_batch(&format!("DROP TABLE IF EXISTS {name}; {create}"))
    }

    fn insert(&mut self, table: usize, keys: Range<u64>) -> rusqlite::Result<()> {
        let table = &self.schema.tables[table];
        let marks = vec!["?"; table.columns.len()].join(", ");
        let transaction = self.connection.transaction()?;
        {
            let mut insert =
                transaction.prepare_cached(&format!("INSERT INTO {} VALUES ({marks})", table_name(table)))?;
            for key in keys {
                if !table.make(key, &mut self.generated) {
                    continue;
                }
                let row = self.generated.row();
                let values = table.columns.iter().enumerate().map(|(i, column)| Bound(column.kind, row.value(i)));
                insert.execute(params_from_iter(values))?;
            }
        }
        transaction.commit()
    }

    fn rows(&self, sql: &str) -> rusqlite::Result<TextRows> {
        let mut statement = self.connection.prepare(sql)?;
        let columns = statement.column_count();
        let row = |row: &rusqlite::Row<'_>| (0..columns).map(|i| row.get_ref(i).map(as_text)).collect();
        statement.query_map([], row)?.collect()
    }

    fn query_number(&self, sql: &str) -> Result<i64, Trouble> {
        self.connection.query_row(sql, [], |row| row.get(0)).map_err(trouble)
    }
}

impl Session for SqliteSession {
    #[inline]
    async fn get(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
        self.read(step, Value::Int(key as i64)).map_err(failure)
    }

    async fn get_many(
        &mut self,
        step: usize,
        keys: &[u64],
        each: &mut dyn FnMut(usize, Option<Row<'_>>),
    ) -> Result<(), Failure> {
        self.read_many(step, keys, each)
    }

    #[inline]
    async fn find(&mut self, step: usize, value: Value<'_>) -> Result<bool, Failure> {
        self.read(step, value).map_err(failure)
    }

    sql_writes!();

    async fn scan(&mut self, step: usize, first: u64, most: u64, each: &mut dyn FnMut(Row<'_>)) -> Result<(), Failure> {
        let params = [Value::Int(first as i64), Value::Int(most as i64)];
        self.query(step, &params, each).map(drop).map_err(failure)
    }

    async fn control(&mut self, step: usize) -> Result<(), Failure> {
        let sql = match self.schema.steps[step].operation {
            Operation::Begin { read_only: true } => "BEGIN DEFERRED",
            // A transaction that will write takes the write lock at once: a reader that becomes a writer may be refused half-way.
            Operation::Begin { read_only: false } => "BEGIN IMMEDIATE",
            Operation::Rollback => "ROLLBACK",
            _ => "COMMIT",
        };
        self.execute(sql)
    }

    async fn abandon(&mut self) -> Result<(), Failure> {
        if self.connection.is_autocommit() { Ok(()) } else { self.execute("ROLLBACK") }
    }

    async fn sql(&mut self, step: usize, params: &[Value<'_>], each: &mut dyn FnMut(Row<'_>)) -> Result<u64, Failure> {
        if !self.is_checked[step] {
            self.check_declared(step)?;
            self.is_checked[step] = true;
        }
        self.query(step, params, each).map_err(|error| self.failed(error))
    }

    #[inline]
    fn row(&self) -> Row<'_> {
        self.read.row()
    }
}

/// The file is dbdyno's own, made for this run, so it needs no marker.
impl Administration for SqliteSession {
    async fn prepare(&mut self, _: &str) -> Result<(), Trouble> {
        (0..self.schema.tables.len()).try_for_each(|table| self.create(table).map_err(trouble))
    }

    async fn load(&mut self, table: usize, keys: Range<u64>) -> Result<(), Trouble> {
        self.insert(table, keys).map_err(trouble)
    }

    fn loads_by(&self) -> &'static str {
        "prepared INSERT, a transaction for many rows"
    }

    async fn present(&mut self, table: usize, keys: Range<u64>) -> Result<Option<u64>, Trouble> {
        Ok(u64::try_from(self.query_number(&count_keys(&self.schema.tables[table], &keys))?).ok())
    }

    async fn index(&mut self, table: usize) -> Result<(), Trouble> {
        let mut indexes = create_indexes(&self.schema.tables[table]).into_iter();
        let create =
            |(_, sql): (_, String)| self.connection.execute_batch(&sql.replacen("INDEX", "INDEX IF NOT EXISTS", 1));
        indexes.try_for_each(create).map_err(trouble)
    }

    async fn count(&mut self, table: usize) -> Result<Option<u64>, Trouble> {
        let count = self.query_number(&format!("SELECT COUNT(*) FROM {}", table_name(&self.schema.tables[table])))?;
        Ok(u64::try_from(count).ok())
    }

    async fn count_by_index(&mut self, table: usize, index: usize) -> Result<Option<u64>, Trouble> {
        let sql = count_by_index(&self.schema.tables[table], index, "INDEXED BY ?");
        Ok(u64::try_from(self.query_number(&sql)?).ok())
    }

    async fn last_key(&mut self, table: usize) -> Result<Option<u64>, Trouble> {
        let sql = last_key(&self.schema.tables[table]);
        let last: Option<i64> = self.connection.query_row(&sql, [], |row| row.get(0)).map_err(trouble)?;
        Ok(last.and_then(|last| u64::try_from(last).ok()))
    }

    async fn remove_rows(&mut self, table: usize) -> Result<(), Trouble> {
        let sql = format!("DELETE FROM {}", table_name(&self.schema.tables[table]));
        self.connection.execute_batch(&sql).map_err(trouble)
    }

    async fn ask(&mut self, query: &Statement) -> Result<TextRows, Trouble> {
        self.rows(&query.text(Dialect::Sqlite, &self.schema.tables, table_name)).map_err(trouble)
    }

    async fn query_plan(&mut self, step: usize) -> Result<Option<QueryPlan>, Trouble> {
        let Some(Example { sql, with_values }) = example(&self.schema, step, Dialect::Sqlite) else { return Ok(None) };
        let rows = self.rows(&format!("EXPLAIN QUERY PLAN {with_values}")).map_err(trouble)?;
        Ok(Some(QueryPlan { sql, steps: query_plan::sqlite::steps(&rows) }))
    }

    async fn sum(&mut self, table: usize, column: usize) -> Result<Option<i128>, Trouble> {
        let table = &self.schema.tables[table];
        let sum =
            self.query_number(&format!("SELECT SUM({}) FROM {}", table.columns[column].name, table_name(table)))?;
        Ok(Some(i128::from(sum)))
    }

    async fn marker(&mut self) -> Result<Option<String>, Trouble> {
        Ok(None)
    }

    async fn remove(&mut self, cleaning: Cleaning) -> Result<Vec<String>, Trouble> {
        let names: Vec<String> = self.schema.tables.iter().map(table_name).collect();
        for name in names.iter().filter(|_| cleaning == Cleaning::Remove) {
            self.connection.execute_batch(&format!("DROP TABLE IF EXISTS {name}")).map_err(trouble)?;
        }
        Ok(names)
    }
}
