//! Everything that speaks the MySQL protocol: prepared statements, each step's prepared once a session.

mod backends;
mod config;
mod loading;
mod statements;

use std::ops::Range;
use std::rc::Rc;

use dbdyno_model::{
    Dialect as Sql, Failure, Field, Kind, Operation, Row, RowBuffer, Session, Statement as Query, Value,
};
use dbdyno_net::{Address, Reactor};
use dbdyno_wire::mysql::{self as wire, Answer, Dialect, Greeting, Login, LoginStep, Param, ServerMessage, Transport};
use dbdyno_wire::{Decoded, Malformed, TextRows};

use crate::multi_get::MultiGet;
use crate::network::{
    Endpoint, Exchange, MOST_LOGIN_MESSAGES, endless_login, event_loop, while_logging_in, without_tls,
};
use crate::params::param;
use crate::sql::{
    TABLE_PREFIX, control, count_by_index, count_keys, create_indexes, create_table, last_key, table_name,
    table_options,
};
use crate::sql_writes::{ParamWrites, sql_writes};
use crate::store_config::OpenStore;
use crate::{Administration, Cleaning, MARKER, QueryPlan, SharedSchema, Trouble};
use backends::Backends;
use config::{AccessPath, LoadWith, StatementProtocol};
pub use config::{MysqlConfig, MysqlPart};
pub use loading::MAX_ROW_SIZE_BYTES;
use statements::{Statement, escape_into};

/// To make an index, or to count rows, takes as long as the table is large: no operation's time-out is meant for that.
const WHOLE_TABLE_NS: u64 = 3600 * 1_000_000_000;

#[derive(Clone, Debug)]
pub struct Mysql {
    pub endpoint: Endpoint,
    pub user: String,
    pub password: String,
    pub database: String,
    pub table_options: String,
    pub load_with: Option<LoadWith>,
    pub access: AccessPath,
    pub protocol: StatementProtocol,
    /// The servers that have the rows of this one's tables.
    pub backends: Vec<Mysql>,
    pub schema: SharedSchema,
}

/// Errors of a transaction that can be tried again: a lock waited for in vain, a deadlock (also a failed certification of Galera), a row changed
/// since the snapshot, a failed certification of Group Replication, a write conflict of TiDB.
const CONFLICTS: [u16; 5] = [1205, 1213, 1020, 3101, 9007];

pub struct MysqlSession {
    exchange: Exchange,
    dialect: Dialect,
    schema: SharedSchema,
    table_options: String,
    access: AccessPath,
    protocol: StatementProtocol,
    statements: Vec<Statement>,
    /// True if a transaction has begun and not ended.
    is_open: bool,
    backends: Backends,
    loader: loading::Loader,
    generated: RowBuffer,
    fields: Vec<Field>,
}

impl OpenStore for Mysql {
    type Session = MysqlSession;

    async fn open(&self, reactor: Option<&Rc<Reactor>>) -> Result<MysqlSession, Failure> {
        let reactor = event_loop(reactor)?;
        let mut exchange = self.endpoint.connect(reactor).await?;
        let greeting = self.log_in(&mut exchange).await.map_err(while_logging_in)?;
        Ok(MysqlSession {
            exchange,
            dialect: greeting.dialect(),
            loader: loading::Loader::new(self.load_with, greeting.can_bulk_execute()),
            schema: SharedSchema::clone(&self.schema),
            table_options: self.table_options.clone(),
            access: self.access,
            protocol: self.protocol,
            statements: Vec::new(),
            is_open: false,
            backends: Backends::new(self.backends.clone(), reactor),
            generated: RowBuffer::default(),
            fields: Vec::new(),
        })
    }
}

impl Mysql {
    fn transport(&self) -> Transport {
        match self.endpoint.address {
            Address::Unix(_) => Transport::Unix,
            Address::Tcp { .. } if self.endpoint.encryption.is_some() => Transport::Tls,
            Address::Tcp { .. } => Transport::Tcp,
        }
    }

    async fn log_in(&self, exchange: &mut Exchange) -> Result<Greeting, Failure> {
        let (mut sequence, payload) = exchange.next(whole_packet).await?;
        let greeting = wire::greeting(&payload).map_err(protocol)?;
        let (mut login, payload) =
            Login::begin(&greeting, &self.user, &self.password, Some(&self.database), self.transport())
                .map_err(protocol)?;
        if self.endpoint.encryption.is_some() {
            let request = greeting.tls_request(&payload).ok_or_else(without_tls)?;
            sequence = sequence.wrapping_add(1);
            wire::frame(exchange.begin(), sequence, |out| out.extend_from_slice(request));
            exchange.send().await?;
            exchange.encrypt(&self.endpoint).await?;
        }
        let mut send = Some(payload);
        for _ in 0..MOST_LOGIN_MESSAGES {
            if let Some(payload) = send.take() {
                wire::frame(exchange.begin(), sequence.wrapping_add(1), |out| out.extend_from_slice(&payload));
                exchange.send().await?;
            }
            let (next, payload) = exchange.next(whole_packet).await?;
            sequence = next;
            match login.next(&payload).map_err(protocol)? {
                LoginStep::Send(payload) => send = Some(payload),
                LoginStep::Read => {}
                LoginStep::Done => return Ok(greeting),
                LoginStep::Refused { code, text } => return Err(Failure::Server(format!("{text} (error {code})"))),
            }
        }
        Err(endless_login())
    }
}

fn protocol(malformed: Malformed) -> Failure {
    Failure::Protocol(malformed.0)
}

fn whole_packet(bytes: &[u8]) -> Decoded<((u8, Vec<u8>), usize)> {
    Ok(wire::packet(bytes, 0)?.map(|p| ((p.sequence, bytes[p.start..p.end].to_vec()), p.end)))
}

/// Errors 1021 (disk full), 1114 (table full) and storage engine error 28 (no space) mean that no room is left.
#[cold]
fn refused(error: &ServerMessage) -> Failure {
    let message = format!("{} (error {})", error.text, error.code);
    let is_full = matches!(error.code, 1021 | 1114) || (error.code == 1030 && error.text.contains("28"));
    match error.code {
        _ if is_full => Failure::Full(message),
        code if CONFLICTS.contains(&code) => Failure::Conflict(message),
        _ => Failure::Server(message),
    }
}

impl MysqlSession {
    #[inline]
    async fn read(&mut self, step: usize, value: Value<'_>) -> Result<bool, Failure> {
        if self.statements.is_empty() {
            self.prepare_statements().await?;
        }
        match self.execute(step, std::iter::once(param(Kind::Int, value))).await? {
            Answer::Rows(1) => Ok(true),
            Answer::Rows(0) => Ok(false),
            Answer::Rows(n) => Err(Failure::Mismatch(format!("{n} rows, expected one"))),
            other => Err(Failure::Protocol(format!("expected rows, got {other:?}"))),
        }
    }

    /// Reads any number of rows, which are then in `self.fields`.
    async fn read_rows<'p>(
        &mut self,
        step: usize,
        params: impl ExactSizeIterator<Item = Param<'p>> + Clone,
    ) -> Result<(), Failure> {
        if self.statements.is_empty() {
            self.prepare_statements().await?;
        }
        match self.execute(step, params).await? {
            Answer::Rows(_) => Ok(()),
            other => Err(Failure::Protocol(format!("expected rows, got {other:?}"))),
        }
    }

    /// Runs a statement in the text protocol.
    async fn query(&mut self, sql: &str) -> Result<wire::TextRows, Failure> {
        let dialect = Dialect { cached_metadata: false, ..self.dialect };
        wire::query(self.exchange.begin(), sql.as_bytes());
        let rows = self.exchange.ask(|bytes| wire::text_answer(bytes, dialect)).await?;
        rows.map_err(|error| refused(&error))
    }

    /// From now on a read waits for what any node of the cluster has acknowledged before it: Galera's nodes apply that in their own time.
    /// Servers that know no such setting need none.
    pub async fn read_what_is_acknowledged(&mut self) -> Result<(), Failure> {
        match self.query("SET SESSION wsrep_sync_wait = 1").await {
            Err(Failure::Server(_)) => Ok(()),
            result => result.map(drop),
        }
    }

    /// One value of a statement's only row.
    async fn query_one(&mut self, sql: &str) -> Result<Option<String>, Failure> {
        Ok(self.query(sql).await?.pop().and_then(|mut row| row.pop()).flatten())
    }

    /// Makes a table with this comment, in the place of one of dbdyno's.
    async fn create(&mut self, table: usize, comment: &str) -> Result<(), Trouble> {
        let name = table_name(&self.schema.tables[table]);
        let there = self
            .query_one(&format!(
                "SELECT table_comment FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = '{name}'"
            ))
            .await?;
        match there {
            Some(there) if !there.starts_with(MARKER) && there != comment => {
                return Err(Trouble::Refused(format!(
                    "a table {name} without dbdyno's marker exists, and dbdyno does not drop it. Use another database"
                )));
            }
            Some(_) => drop(self.query(&format!("DROP TABLE {name}")).await?),
            None => {}
        }
        let table = &self.schema.tables[table];
        let mut sql = format!("{} {} COMMENT='", create_table(table, Sql::Mysql), self.table_options);
        escape_into(&mut sql, comment);
        sql.push('\'');
        sql.push_str(&self.backends.partitions(&name).unwrap_or_else(|| table_options(table, Sql::Mysql)));
        self.query(&sql).await?;
        Ok(())
    }

    /// Makes the secondary indexes that a table still lacks.
    async fn add_indexes(&mut self, table: usize) -> Result<(), Failure> {
        let table = &self.schema.tables[table];
        let (name, indexes) = (table_name(table), create_indexes(table));
        self.exchange.be_patient(WHOLE_TABLE_NS);
        for (index, sql) in indexes {
            let there = format!(
                "SELECT index_name FROM information_schema.statistics \
                 WHERE table_schema = DATABASE() AND table_name = '{name}' AND index_name = '{index}'"
            );
            if self.query_one(&there).await?.is_none() {
                self.query(&self.backends.index(sql)).await?;
            }
        }
        Ok(())
    }

    /// The tables that carry a marker: those of the schema, or all if it is empty.
    fn marked_tables(&self) -> String {
        let names: Vec<String> = self.schema.tables.iter().map(|t| format!("'{}'", table_name(t))).collect();
        let named = match names.len() {
            0 => format!("LIKE '{}%'", TABLE_PREFIX.replace('_', "\\_")),
            _ => format!("IN ({})", names.join(", ")),
        };
        let mark = self.backends.comment().map_or_else(|| format!("LIKE '{MARKER}%'"), |way| format!("= '{way}'"));
        format!(
            "FROM information_schema.tables WHERE table_schema = DATABASE() \
             AND table_name {named} AND table_comment {mark}"
        )
    }

    async fn highest_mark(&mut self) -> Result<Option<String>, Failure> {
        self.query_one(&format!("SELECT MAX(table_comment) {}", self.marked_tables())).await
    }

    async fn drop_marked(&mut self, cleaning: Cleaning) -> Result<Vec<String>, Failure> {
        let rows = self.query(&format!("SELECT table_name {}", self.marked_tables())).await?;
        let names: Vec<String> = rows.into_iter().flatten().flatten().collect();
        for name in names.iter().filter(|_| cleaning == Cleaning::Remove) {
            self.query(&format!("DROP TABLE {name}")).await?;
        }
        Ok(names)
    }
}

impl ParamWrites for MysqlSession {
    fn is_prepared(&self) -> bool {
        !self.statements.is_empty()
    }

    async fn prepare_all(&mut self) -> Result<(), Failure> {
        self.prepare_statements().await
    }

    fn kinds(&mut self, step: usize) -> &mut Vec<Kind> {
        &mut self.statements[step].parameters
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
        if self.statements.is_empty() {
            self.prepare_statements().await?;
        }
        match self.execute(step, params).await? {
            Answer::Affected(rows) => Ok(rows > 0),
            other => Err(Failure::Protocol(format!("expected a number of rows, got {other:?}"))),
        }
    }
}

impl Session for MysqlSession {
    #[inline]
    async fn get(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
        self.read(step, Value::Int(key as i64)).await
    }

    async fn get_many(
        &mut self,
        step: usize,
        keys: &[u64],
        each: &mut dyn FnMut(usize, Option<Row<'_>>),
    ) -> Result<(), Failure> {
        self.read_rows(step, keys.iter().map(|&key| Param::Int(key as i64))).await?;
        let columns = self.schema.table_of_operation(self.schema.steps[step].operation).columns.len();
        let (mut multi_get, bytes) = (MultiGet::new(keys), self.exchange.bytes());
        self.fields.chunks_exact(columns).try_for_each(|fields| multi_get.hand_over(Row::new(bytes, fields), each))?;
        multi_get.finish(each);
        Ok(())
    }

    #[inline]
    async fn find(&mut self, step: usize, value: Value<'_>) -> Result<bool, Failure> {
        self.read(step, value).await
    }

    sql_writes!();

    async fn scan(&mut self, step: usize, first: u64, most: u64, each: &mut dyn FnMut(Row<'_>)) -> Result<(), Failure> {
        self.read_rows(step, [Param::Int(first as i64), Param::Int(most as i64)].into_iter()).await?;
        let columns = self.schema.table_of_operation(self.schema.steps[step].operation).columns.len();
        let bytes = self.exchange.bytes();
        self.fields.chunks_exact(columns).for_each(|fields| each(Row::new(bytes, fields)));
        Ok(())
    }

    async fn control(&mut self, step: usize) -> Result<(), Failure> {
        // Within a transaction that only reads, MariaDB prepares no statement that writes.
        if self.statements.is_empty() {
            self.prepare_statements().await?;
        }
        let operation = self.schema.steps[step].operation;
        self.is_open = matches!(operation, Operation::Begin { .. });
        self.query(control(operation)).await.map(drop)
    }

    /// A connection that ends without this is counted as aborted, and may be logged.
    async fn quit(&mut self) {
        wire::quit(self.exchange.begin());
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
        let kinds = std::mem::take(&mut self.statements[step].parameters);
        let answer = self.execute(step, kinds.iter().zip(values).map(|(&kind, &value)| param(kind, value))).await;
        let statement = &mut self.statements[step];
        statement.parameters = kinds;
        let (columns, bytes) = (statement.columns(), self.exchange.bytes());
        match answer? {
            Answer::Rows(rows) => {
                self.fields.chunks_exact(columns.max(1)).for_each(|fields| each(Row::new(bytes, fields)));
                Ok(rows)
            }
            Answer::Affected(rows) => Ok(rows),
            Answer::Error(error) => Err(refused(&error)),
        }
    }

    #[inline]
    fn row(&self) -> Row<'_> {
        Row::new(self.exchange.bytes(), &self.fields)
    }
}

impl Administration for MysqlSession {
    async fn prepare(&mut self, marker: &str) -> Result<(), Trouble> {
        let comment = self.backends.comment().unwrap_or_else(|| marker.into());
        for table in 0..self.schema.tables.len() {
            for backend in self.backends.sessions().await? {
                backend.create(table, marker).await?;
            }
            self.create(table, &comment).await?;
        }
        Ok(())
    }

    async fn load(&mut self, table: usize, keys: Range<u64>) -> Result<(), Trouble> {
        self.load_rows(table, keys).await.map_err(Trouble::Failed)
    }

    fn loads_by(&self) -> &'static str {
        self.loader.way()
    }

    async fn present(&mut self, table: usize, keys: Range<u64>) -> Result<Option<u64>, Trouble> {
        self.exchange.be_patient(WHOLE_TABLE_NS);
        let sql = count_keys(&self.schema.tables[table], &keys);
        Ok(self.query_one(&sql).await?.and_then(|n| n.parse().ok()))
    }

    async fn index(&mut self, table: usize) -> Result<(), Trouble> {
        for backend in self.backends.sessions().await? {
            backend.add_indexes(table).await?;
        }
        Ok(self.add_indexes(table).await?)
    }

    async fn count(&mut self, table: usize) -> Result<Option<u64>, Trouble> {
        self.exchange.be_patient(WHOLE_TABLE_NS);
        let name = table_name(&self.schema.tables[table]);
        Ok(self.query_one(&format!("SELECT COUNT(*) FROM {name}")).await?.and_then(|n| n.parse().ok()))
    }

    async fn count_by_index(&mut self, table: usize, index: usize) -> Result<Option<u64>, Trouble> {
        self.exchange.be_patient(WHOLE_TABLE_NS);
        let sql = count_by_index(&self.schema.tables[table], index, "FORCE INDEX (?)");
        Ok(self.query_one(&sql).await?.and_then(|n| n.parse().ok()))
    }

    async fn last_key(&mut self, table: usize) -> Result<Option<u64>, Trouble> {
        let sql = last_key(&self.schema.tables[table]);
        Ok(self.query_one(&sql).await?.and_then(|n| n.parse().ok()))
    }

    async fn remove_rows(&mut self, table: usize) -> Result<(), Trouble> {
        self.exchange.be_patient(WHOLE_TABLE_NS);
        let sql = format!("TRUNCATE TABLE {}", table_name(&self.schema.tables[table]));
        Ok(self.query(&sql).await.map(drop)?)
    }

    async fn ask(&mut self, query: &Query) -> Result<TextRows, Trouble> {
        self.exchange.be_patient(WHOLE_TABLE_NS);
        let sql = query.text(Sql::Mysql, &self.schema.tables, table_name);
        Ok(self.query(&sql).await?)
    }

    async fn query_plan(&mut self, step: usize) -> Result<Option<QueryPlan>, Trouble> {
        Ok(self.explain(step).await?)
    }

    async fn sum(&mut self, table: usize, column: usize) -> Result<Option<i128>, Trouble> {
        let table = &self.schema.tables[table];
        let sql = format!("SELECT SUM({}) FROM {}", table.columns[column].name, table_name(table));
        Ok(self.query_one(&sql).await?.and_then(|n| n.parse().ok()))
    }

    async fn marker(&mut self) -> Result<Option<String>, Trouble> {
        let marked = self.backends.sessions().await?.first_mut();
        match marked {
            Some(backend) => Ok(backend.highest_mark().await?),
            None => Ok(self.highest_mark().await?),
        }
    }

    async fn remove(&mut self, cleaning: Cleaning) -> Result<Vec<String>, Trouble> {
        let mut names = self.drop_marked(cleaning).await?;
        for backend in self.backends.sessions().await? {
            names = backend.drop_marked(cleaning).await?;
        }
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_or_table_is_told_from_other_errors() {
        let failure = |code, text: &str| refused(&ServerMessage { code, text: text.into() });
        assert!(matches!(failure(1114, "The table is full"), Failure::Full(_)));
        assert!(matches!(failure(1030, "Got error 28 \"No space left on device\""), Failure::Full(_)));
        assert!(matches!(failure(1213, "Deadlock found"), Failure::Conflict(m) if m == "Deadlock found (error 1213)"));
        assert!(matches!(failure(1064, "You have an error"), Failure::Server(_)));
    }
}
