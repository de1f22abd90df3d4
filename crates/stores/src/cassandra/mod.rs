//! Cassandra and what speaks its protocol: prepared statements, each row asked of a node that has it.

mod administration;
mod config;
mod ring;
mod several;

use std::rc::Rc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use dbdyno_model::{Dialect, Failure, Field, Kind, Operation, Row, RowBuffer, Session, Step, Value};
use dbdyno_net::Reactor;
use dbdyno_wire::cql::{self as wire, Answer, Consistency, LoginStep, Prepared, ServerError};
use dbdyno_wire::{Param, TextRows};

use crate::multi_get::hand_over_all;
use crate::network::{Endpoint, Exchange, event_loop, while_logging_in};
use crate::params::{field, param, params};
use crate::sql::{TABLE_PREFIX, statement};
use crate::store_config::OpenStore;
use crate::{Schema, SharedSchema};

pub use config::CassandraConfig;
use ring::Ring;
use several::Place;

/// Statements of steps are alike in all of them.
const DIALECT: Dialect = Dialect::Mysql;
/// How often a statement is prepared anew that the server does not know any more. If sessions prepare the same one at the same time the
/// server (4.0.2 and later) drops it for a moment.
const ATTEMPTS: usize = 5;
/// Errors of the protocol's table after which a session is opened anew, or after which a write may still have happened.
const BOOTSTRAPPING: u32 = 0x1002;
const WRITE_TIMEOUT: u32 = 0x1100;
const READ_TIMEOUT: u32 = 0x1200;
const UNPREPARED: u32 = 0x2500;

/// A store as sessions are opened with it; they share what it has learned of the cluster.
#[derive(Debug)]
pub struct Cassandra {
    pub endpoint: Endpoint,
    pub user: String,
    pub password: Option<String>,
    pub keyspace: String,
    pub consistency: Consistency,
    pub schema: SharedSchema,
    /// The kinds of the parameters of each step's statement.
    pub parameters: Vec<Vec<Kind>>,
    pub cluster: Cluster,
}

/// The state of the cluster that all sessions share.
#[derive(Debug, Default)]
pub struct Cluster {
    /// Read once, by the session that was opened first.
    ring: OnceLock<Ring>,
    /// Sessions take turns in which node does what no key says a node for.
    opened: AtomicUsize,
}

/// The statement of a step as it is prepared, its tables in their keyspace.
pub fn cql(schema: &Schema, keyspace: &str, step: usize) -> String {
    let step = match schema.steps[step].operation {
        // An INSERT replaces the row that is there.
        Operation::Put { table, .. } => &Step::new("put", Operation::Insert { table }),
        _ => &schema.steps[step],
    };
    qualified(&statement(schema, step, DIALECT), keyspace)
}

fn qualified(statement: &str, keyspace: &str) -> String {
    statement.replace(TABLE_PREFIX, &format!("{keyspace}.{TABLE_PREFIX}"))
}

/// A connection to one node, and what is prepared there: a statement for each step, and the insertion into a table that is being loaded.
struct Node {
    exchange: Exchange,
    statements: Vec<Prepared>,
    insertion: Option<(usize, Prepared)>,
    /// Requests that are sent, or about to be, and not answered.
    outstanding: usize,
}

pub struct CassandraSession {
    store: Rc<CassandraHandle>,
    reactor: Rc<Reactor>,
    /// By their number in the ring; connected to when the first row is asked of them.
    nodes: Vec<Option<Node>>,
    /// The node that answers in place of each node: itself, unless it could not be connected to.
    instead: Vec<usize>,
    home: usize,
    /// The node that answered last.
    last: usize,
    generated: RowBuffer,
    fields: Vec<Field>,
    places: Vec<Place>,
}

type CassandraHandle = std::sync::Arc<Cassandra>;

impl OpenStore for CassandraHandle {
    type Session = CassandraSession;

    async fn open(&self, reactor: Option<&Rc<Reactor>>) -> Result<CassandraSession, Failure> {
        let reactor = event_loop(reactor)?;
        let mut first = self.connect(&self.endpoint, reactor).await?;
        let ring = match self.cluster.ring.get() {
            Some(ring) => ring,
            None => {
                let ring = Ring::read(&mut first.exchange, &self.endpoint).await?;
                self.cluster.ring.get_or_init(|| ring)
            }
        };
        let count = ring.nodes.len();
        let mut nodes: Vec<Option<Node>> = (0..count).map(|_| None).collect();
        nodes[0] = Some(first);
        Ok(CassandraSession {
            store: Rc::new(CassandraHandle::clone(self)),
            reactor: Rc::clone(reactor),
            nodes,
            instead: (0..count).collect(),
            home: self.cluster.opened.fetch_add(1, Ordering::Relaxed) % count,
            last: 0,
            generated: RowBuffer::default(),
            fields: Vec::new(),
            places: Vec::new(),
        })
    }
}

impl Cassandra {
    async fn connect(&self, endpoint: &Endpoint, reactor: &Rc<Reactor>) -> Result<Node, Failure> {
        let mut exchange = endpoint.connect(reactor).await?;
        self.log_in(&mut exchange).await.map_err(while_logging_in)?;
        Ok(Node { exchange, statements: Vec::new(), insertion: None, outstanding: 0 })
    }

    async fn log_in(&self, exchange: &mut Exchange) -> Result<(), Failure> {
        wire::startup(exchange.begin());
        let mut step = exchange.ask(wire::login_step).await?;
        if step == LoginStep::Authenticate {
            let Some(password) = &self.password else {
                return Err(Failure::Server("the server requires a user and a password: give both".into()));
            };
            wire::credentials(exchange.begin(), &self.user, password);
            step = exchange.ask(wire::login_step).await?;
        }
        match step {
            LoginStep::Done => Ok(()),
            LoginStep::Refused(error) => Err(Failure::Server(worded(&error))),
            LoginStep::Authenticate => Err(Failure::Protocol("the server asked for the password twice".into())),
        }
    }
}

fn worded(error: &ServerError) -> String {
    format!("{} (code 0x{:04x})", error.text, error.code)
}

#[cold]
fn refused(error: &ServerError) -> Failure {
    let message = worded(error);
    match error.code {
        WRITE_TIMEOUT | READ_TIMEOUT => Failure::Timeout(message),
        BOOTSTRAPPING | UNPREPARED => Failure::Connection(message),
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

#[cold]
fn unconnected() -> Failure {
    Failure::Connection("the node is not connected".into())
}

async fn query(exchange: &mut Exchange, cql: &str, consistency: Consistency) -> Result<TextRows, Failure> {
    wire::query(exchange.begin(), cql, consistency);
    exchange.ask(wire::text_answer).await?.map_err(|error| refused(&error))
}

impl Node {
    async fn prepare(&mut self, cql: &str, consistency: Consistency) -> Result<Prepared, Failure> {
        wire::prepare(self.exchange.begin(), cql);
        let prepared = self.exchange.ask(|bytes| wire::prepared(bytes, consistency)).await?;
        prepared.map_err(|error| refused(&error))
    }

    fn forget_statements(&mut self) {
        self.statements.clear();
        self.insertion = None;
    }

    #[cold]
    async fn prepare_steps(&mut self, store: &Cassandra) -> Result<(), Failure> {
        for step in 0..store.schema.steps.len() {
            let prepared = match cql(&store.schema, &store.keyspace, step).as_str() {
                // A kind of transaction has none.
                "" => Prepared::default(),
                cql => self.prepare(cql, store.consistency).await?,
            };
            self.statements.push(prepared);
        }
        self.exchange.begin();
        Ok(())
    }
}

impl CassandraSession {
    /// The node that has row `key`, or answers for it.
    #[inline]
    fn node_of(&self, key: u64) -> usize {
        match self.store.cluster.ring.get() {
            Some(ring) if self.nodes.len() > 1 => ring.node_of(wire::token_of_int(key as i32)),
            _ => 0,
        }
    }

    /// Returns the node that stands for `node`, connected to, its steps prepared.
    #[inline]
    async fn ready(&mut self, node: usize) -> Result<usize, Failure> {
        let node = self.instead[node];
        match &self.nodes[node] {
            Some(ready) if !ready.statements.is_empty() => Ok(node),
            _ => self.get_ready(node).await,
        }
    }

    #[cold]
    async fn get_ready(&mut self, node: usize) -> Result<usize, Failure> {
        let node = self.connected(node).await?;
        let Some(there) = &mut self.nodes[node] else { return Err(unconnected()) };
        if there.statements.is_empty() {
            there.prepare_steps(&self.store).await?;
        }
        Ok(node)
    }

    /// Returns the node that stands for `node`, connected to. If a node cannot be reached, any other is asked in its place: that one asks
    /// the replicas.
    async fn connected(&mut self, node: usize) -> Result<usize, Failure> {
        let node = self.instead[node];
        if self.nodes[node].is_some() {
            return Ok(node);
        }
        let Some(ring) = self.store.cluster.ring.get() else { return Err(unconnected()) };
        match self.store.connect(&ring.nodes[node], &self.reactor).await {
            Ok(connected) => {
                self.nodes[node] = Some(connected);
                Ok(node)
            }
            Err(_) => {
                self.instead[node] = 0;
                Ok(0)
            }
        }
    }

    /// Executes a step's statement on `node`; rows end up in `self.fields`.
    #[inline]
    async fn execute<'p>(
        &mut self,
        node: usize,
        step: usize,
        params: impl ExactSizeIterator<Item = Param<'p>> + Clone,
    ) -> Result<Answer, Failure> {
        let mut answer = self.execute_once(node, step, params.clone()).await?;
        for _ in 1..ATTEMPTS {
            if !matches!(&answer, Answer::Error(ServerError { code: UNPREPARED, .. })) {
                break;
            }
            self.nodes[self.last].iter_mut().for_each(Node::forget_statements);
            answer = self.execute_once(node, step, params.clone()).await?;
        }
        Ok(answer)
    }

    #[inline]
    async fn execute_once<'p>(
        &mut self,
        node: usize,
        step: usize,
        params: impl ExactSizeIterator<Item = Param<'p>>,
    ) -> Result<Answer, Failure> {
        self.last = self.ready(node).await?;
        let Self { nodes, fields, last, .. } = self;
        let Some(Node { exchange, statements, .. }) = &mut nodes[*last] else { return Err(unconnected()) };
        let statement = &statements[step];
        wire::execute(exchange.begin(), statement, 0, params);
        let decode = |bytes: &[u8]| {
            fields.clear();
            wire::answer(bytes, 0, &statement.columns, |cell| fields.push(field(cell)))
        };
        exchange.ask(decode).await
    }

    #[inline]
    async fn read(&mut self, node: usize, step: usize, kind: Kind, value: Value<'_>) -> Result<bool, Failure> {
        match self.execute(node, step, std::iter::once(param(kind, value))).await? {
            Answer::Rows(1) => Ok(true),
            Answer::Rows(0) => Ok(false),
            other => Err(unexpected(&other)),
        }
    }

    /// A write does not read, so it never says that there was no such row.
    #[inline]
    async fn write<'p>(
        &mut self,
        node: usize,
        step: usize,
        params: impl ExactSizeIterator<Item = Param<'p>> + Clone,
    ) -> Result<bool, Failure> {
        match self.execute(node, step, params).await? {
            Answer::Done => Ok(true),
            other => Err(unexpected(&other)),
        }
    }

    #[inline]
    async fn write_row(&mut self, step: usize, key: u64, version: u64) -> Result<bool, Failure> {
        let store = Rc::clone(&self.store);
        let table = store.schema.table_of_operation(store.schema.steps[step].operation);
        let mut generated = std::mem::take(&mut self.generated);
        table.generate(key, version, &mut generated);
        let result = self.write(self.node_of(key), step, params(table.columns.iter(), generated.row())).await;
        self.generated = generated;
        result
    }

    async fn read_many(
        &mut self,
        step: usize,
        keys: &[u64],
        each: &mut dyn FnMut(usize, Option<Row<'_>>),
    ) -> Result<(), Failure> {
        match self.execute(self.home, step, keys.iter().map(|&key| Param::Int(key as i64))).await? {
            Answer::Rows(_) => {}
            other => return Err(unexpected(&other)),
        }
        let columns = self.store.schema.table_of_operation(self.store.schema.steps[step].operation).columns.len();
        hand_over_all(keys, self.bytes(), (&self.fields, columns), each)
    }

    fn bytes(&self) -> &[u8] {
        self.nodes[self.last].as_ref().map_or(&[], |node| node.exchange.bytes())
    }
}

impl Session for CassandraSession {
    #[inline]
    async fn get(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
        self.read(self.node_of(key), step, Kind::Int, Value::Int(key as i64)).await
    }

    /// An index is kept by each node for its own rows: whoever is asked asks all of them.
    #[inline]
    async fn find(&mut self, step: usize, value: Value<'_>) -> Result<bool, Failure> {
        let Operation::Find { table, column } = self.store.schema.steps[step].operation else { return Ok(false) };
        let kind = self.store.schema.tables[table].columns[column].kind;
        self.read(self.home, step, kind, value).await
    }

    #[inline]
    async fn update(&mut self, step: usize, key: u64, version: u64) -> Result<bool, Failure> {
        let store = Rc::clone(&self.store);
        let Operation::Update { table } = store.schema.steps[step].operation else { return Ok(false) };
        let columns = &store.schema.tables[table].columns;
        let mut generated = std::mem::take(&mut self.generated);
        generated.clear();
        for column in columns.iter().filter(|c| c.is_versioned()) {
            column.generate(key, version, &mut generated);
        }
        generated.push(Value::Int(key as i64));
        let (node, row, kinds) = (self.node_of(key), generated.row(), &store.parameters[step]);
        let values = kinds.iter().enumerate().map(|(i, &kind)| param(kind, row.value(i)));
        let result = self.write(node, step, values).await;
        self.generated = generated;
        result
    }

    #[inline]
    async fn insert(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
        self.write_row(step, key, 0).await
    }

    #[inline]
    async fn put(&mut self, step: usize, key: u64, version: u64) -> Result<(), Failure> {
        self.write_row(step, key, version).await.map(drop)
    }

    #[inline]
    async fn delete(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
        self.write(self.node_of(key), step, std::iter::once(Param::Int(key as i64))).await
    }

    async fn add(&mut self, _step: usize, _key: u64, _delta: i64) -> Result<bool, Failure> {
        Err(Failure::Server("cassandra can only add to a counter column".into()))
    }

    async fn get_many(
        &mut self,
        step: usize,
        keys: &[u64],
        each: &mut dyn FnMut(usize, Option<Row<'_>>),
    ) -> Result<(), Failure> {
        if matches!(self.store.schema.steps[step].operation, Operation::GetMany { .. }) {
            return self.read_many(step, keys, each).await;
        }
        for _ in 0..ATTEMPTS {
            self.ask_each(step, keys).await?;
            if !self.is_unprepared() {
                break;
            }
        }
        for i in 0..keys.len() {
            let is_there = self.answered(i, step)?;
            each(i, is_there.then(|| self.row()));
        }
        Ok(())
    }

    #[inline]
    fn row(&self) -> Row<'_> {
        Row::new(self.bytes(), &self.fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_after_which_a_write_may_have_happened_are_told_from_others() {
        let failure = |code| refused(&ServerError { code, text: "no".into() });
        assert!(matches!(failure(WRITE_TIMEOUT), Failure::Timeout(m) if m == "no (code 0x1100)"));
        assert!(matches!(failure(UNPREPARED), Failure::Connection(_)));
        assert!(matches!(failure(0x2200), Failure::Server(_)));
        assert!(matches!(unexpected(&Answer::Rows(2)), Failure::Mismatch(m) if m.starts_with("2 rows")));
        assert!(matches!(unexpected(&Answer::Done), Failure::Protocol(_)));
    }

    #[test]
    fn tables_are_named_with_their_keyspace() {
        let statement = qualified("SELECT id FROM dbdyno_bm WHERE id = ?", "dbdyno_data");
        assert_eq!(statement, "SELECT id FROM dbdyno_data.dbdyno_bm WHERE id = ?");
    }
}
