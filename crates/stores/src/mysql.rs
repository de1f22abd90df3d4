//! Everything that speaks the MySQL protocol: prepared statements, each step's prepared once a session.

mod administration;
mod backends;
mod config;
mod loading;
mod statements;

use std::rc::Rc;

use dbdyno_model::{Failure, Field, Kind, Operation, Row, RowBuffer, Session, Value};
use dbdyno_net::{Address, Reactor};
use dbdyno_wire::Decoded;
use dbdyno_wire::mysql::{self as wire, Answer, Dialect, Greeting, Login, LoginStep, Param, ServerMessage, Transport};

use crate::SharedSchema;
use crate::multi_get::hand_over_all;
use crate::network::{
    Endpoint, Exchange, MOST_LOGIN_MESSAGES, endless_login, event_loop, protocol, while_logging_in, without_tls,
};
use crate::params::param;
use crate::sql::mysql_control;
use crate::sql_writes::{ParamWrites, sql_writes};
use crate::store_config::OpenStore;
use backends::Backends;
use config::{AccessPath, LoadWith, StatementProtocol};
pub use config::{MysqlConfig, MysqlPart};
pub use loading::MAX_ROW_SIZE_BYTES;
use statements::Statement;

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
        hand_over_all(keys, self.exchange.bytes(), (&self.fields, columns), each)
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
        self.query(mysql_control(&self.schema, operation)).await.map(drop)
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
