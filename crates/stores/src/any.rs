//! Any store behind one type, chosen once by the plan, so that nothing is boxed per operation.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use dbdyno_model::{Failure, Row, Session, Statement, Value};
use dbdyno_net::Reactor;
use dbdyno_wire::TextRows;

use crate::acknowledged::Acknowledged;
use crate::cache_aside::CacheAsideSession;
use crate::cassandra::{Cassandra, CassandraSession, consistency};
use crate::config::{Config, Write};
use crate::embedded::{Embedded, EmbeddedSession, Engine};
use crate::handlersocket::{Handlersocket, HandlersocketSession};
use crate::kyotocabinet::Kyotocabinet;
use crate::lmdb::Lmdb;
use crate::memcached::{Memcached, MemcachedSession};
use crate::mongodb::{Mongodb, MongodbSession};
use crate::mysql::{Mysql, MysqlSession};
use crate::network::Endpoint;
use crate::pool::{Pool, PoolSession};
use crate::postgres::{Postgres, PostgresSession};
use crate::redis::{Redis, RedisSession, is_hash};
use crate::rocksdb::Rocksdb;
use crate::spread::{Spread, SpreadSession, elsewhere};
use crate::sqlite::{Sqlite, SqliteSession};
use crate::tkrzw::Tkrzw;
use crate::tokyocabinet::Tokyocabinet;
use crate::{Administration, Cache, CacheCounters, Schema, SharedSchema, Trouble, able};

/// Implements traits for an enum by handing every call to the variant.
macro_rules! forward {
    ($any:ident, $($variant:ident),+) => {
        impl Session for $any {
            #[inline]
            async fn get(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
                match self { $($any::$variant(s) => s.get(step, key).await),+ }
            }
            #[inline]
            async fn find(&mut self, step: usize, value: Value<'_>) -> Result<bool, Failure> {
                match self { $($any::$variant(s) => s.find(step, value).await),+ }
            }
            #[inline]
            async fn update(&mut self, step: usize, key: u64, version: u64) -> Result<bool, Failure> {
                match self { $($any::$variant(s) => s.update(step, key, version).await),+ }
            }
            #[inline]
            async fn add(&mut self, step: usize, key: u64, delta: i64) -> Result<bool, Failure> {
                match self { $($any::$variant(s) => s.add(step, key, delta).await),+ }
            }
            #[inline]
            async fn insert(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
                match self { $($any::$variant(s) => s.insert(step, key).await),+ }
            }
            #[inline]
            async fn control(&mut self, step: usize) -> Result<(), Failure> {
                match self { $($any::$variant(s) => s.control(step).await),+ }
            }
            async fn abandon(&mut self) -> Result<(), Failure> {
                match self { $($any::$variant(s) => s.abandon().await),+ }
            }
            async fn sql(
                &mut self,
                step: usize,
                params: &[Value<'_>],
                each: &mut dyn FnMut(Row<'_>),
            ) -> Result<u64, Failure> {
                match self { $($any::$variant(s) => s.sql(step, params, each).await),+ }
            }
            async fn get_many(
                &mut self,
                step: usize,
                keys: &[u64],
                each: &mut dyn FnMut(usize, Option<Row<'_>>),
            ) -> Result<(), Failure> {
                match self { $($any::$variant(s) => s.get_many(step, keys, each).await),+ }
            }
            #[inline]
            fn row(&self) -> Row<'_> {
                match self { $($any::$variant(s) => s.row()),+ }
            }
            #[inline]
            fn release(&mut self) {
                match self { $($any::$variant(s) => s.release()),+ }
            }
        }

        impl Administration for $any {
            async fn prepare(&mut self, marker: &str) -> Result<(), Trouble> {
                match self { $($any::$variant(s) => s.prepare(marker).await),+ }
            }
            async fn load(&mut self, table: usize, keys: Range<u64>) -> Result<(), Trouble> {
                match self { $($any::$variant(s) => s.load(table, keys).await),+ }
            }
            fn loads_by(&self) -> &'static str {
                match self { $($any::$variant(s) => s.loads_by()),+ }
            }
            async fn present(&mut self, table: usize, keys: Range<u64>) -> Result<Option<u64>, Trouble> {
                match self { $($any::$variant(s) => s.present(table, keys).await),+ }
            }
            async fn index(&mut self, table: usize) -> Result<(), Trouble> {
                match self { $($any::$variant(s) => s.index(table).await),+ }
            }
            async fn settle(&mut self, table: usize) -> Result<(), Trouble> {
                match self { $($any::$variant(s) => s.settle(table).await),+ }
            }
            async fn count(&mut self, table: usize) -> Result<Option<u64>, Trouble> {
                match self { $($any::$variant(s) => s.count(table).await),+ }
            }
            async fn count_by_index(&mut self, table: usize, index: usize) -> Result<Option<u64>, Trouble> {
                match self { $($any::$variant(s) => s.count_by_index(table, index).await),+ }
            }
            async fn last_key(&mut self, table: usize) -> Result<Option<u64>, Trouble> {
                match self { $($any::$variant(s) => s.last_key(table).await),+ }
            }
            async fn remove_rows(&mut self, table: usize) -> Result<(), Trouble> {
                match self { $($any::$variant(s) => s.remove_rows(table).await),+ }
            }
            async fn ask(&mut self, query: &Statement) -> Result<TextRows, Trouble> {
                match self { $($any::$variant(s) => s.ask(query).await),+ }
            }
            async fn sum(&mut self, table: usize, column: usize) -> Result<Option<i128>, Trouble> {
                match self { $($any::$variant(s) => s.sum(table, column).await),+ }
            }
            async fn marker(&mut self) -> Result<Option<String>, Trouble> {
                match self { $($any::$variant(s) => s.marker().await),+ }
            }
            async fn remove(&mut self) -> Result<Vec<String>, Trouble> {
                match self { $($any::$variant(s) => s.remove().await),+ }
            }
        }
    };
}

/// A session that can stand in front of a store.
pub enum CacheSession {
    Memcached(MemcachedSession),
    Redis(RedisSession),
    Pool(PoolSession),
}

forward!(CacheSession, Memcached, Redis, Pool);

impl Cache for CacheSession {
    #[inline]
    async fn fill(&mut self, step: usize, filed: Value<'_>, row: Row<'_>) -> Result<(), Failure> {
        match self {
            CacheSession::Memcached(s) => s.fill(step, filed, row).await,
            CacheSession::Redis(s) => s.fill(step, filed, row).await,
            CacheSession::Pool(s) => s.fill(step, filed, row).await,
        }
    }

    #[inline]
    async fn forget(&mut self, step: usize, key: u64) -> Result<(), Failure> {
        match self {
            CacheSession::Memcached(s) => s.forget(step, key).await,
            CacheSession::Redis(s) => s.forget(step, key).await,
            CacheSession::Pool(s) => s.forget(step, key).await,
        }
    }
}

/// A session with one store, no arrangement.
pub enum SingleSession {
    Mysql(MysqlSession),
    Postgres(PostgresSession),
    Redis(RedisSession),
    Memcached(MemcachedSession),
    Mongodb(MongodbSession),
    Handlersocket(HandlersocketSession),
    Sqlite(SqliteSession),
    Embedded(EmbeddedSession),
    Cassandra(CassandraSession),
}

forward!(SingleSession, Mysql, Postgres, Redis, Memcached, Mongodb, Handlersocket, Sqlite, Embedded, Cassandra);

/// A session with any store. There is one a client, and it stays where it is.
#[allow(clippy::large_enum_variant)]
pub enum AnySession {
    Mysql(MysqlSession),
    Postgres(PostgresSession),
    Redis(RedisSession),
    Memcached(MemcachedSession),
    Mongodb(MongodbSession),
    Handlersocket(HandlersocketSession),
    Sqlite(SqliteSession),
    Embedded(EmbeddedSession),
    Cassandra(CassandraSession),
    CacheAside(CacheAsideSession),
    Spread(SpreadSession),
}

forward!(
    AnySession,
    Mysql,
    Postgres,
    Redis,
    Memcached,
    Mongodb,
    Handlersocket,
    Sqlite,
    Embedded,
    Cassandra,
    CacheAside,
    Spread
);

/// One enum and not one in the other: each costs an operation another future.
impl From<SingleSession> for AnySession {
    fn from(session: SingleSession) -> Self {
        match session {
            SingleSession::Mysql(s) => AnySession::Mysql(s),
            SingleSession::Postgres(s) => AnySession::Postgres(s),
            SingleSession::Redis(s) => AnySession::Redis(s),
            SingleSession::Memcached(s) => AnySession::Memcached(s),
            SingleSession::Mongodb(s) => AnySession::Mongodb(s),
            SingleSession::Handlersocket(s) => AnySession::Handlersocket(s),
            SingleSession::Sqlite(s) => AnySession::Sqlite(s),
            SingleSession::Embedded(s) => AnySession::Embedded(s),
            SingleSession::Cassandra(s) => AnySession::Cassandra(s),
        }
    }
}

impl AnySession {
    /// What the arrangement counted; `None` for a single store.
    #[inline]
    pub fn cache_counters(&self) -> Option<CacheCounters> {
        match self {
            AnySession::CacheAside(session) => Some(session.counters),
            _ => None,
        }
    }
}

/// A store as sessions are opened with it.
#[derive(Clone)]
pub enum Single {
    Mysql(Mysql),
    Postgres(Postgres),
    Redis(Redis),
    Memcached(Memcached),
    Mongodb(Mongodb),
    Handlersocket(Handlersocket),
    Sqlite(Sqlite),
    Embedded(Embedded),
    Cassandra(Arc<Cassandra>),
}

/// What stands in front of a store.
enum Front {
    One(Single),
    Pool(Pool),
}

/// Any store that a plan can name. Shared by all threads.
pub struct Store {
    kind: &'static str,
    embedded: bool,
    single: Single,
    cache: Option<Front>,
    acknowledged: Option<Arc<Acknowledged>>,
    spread: Option<Spread>,
    layout: Option<&'static str>,
}

impl Store {
    /// # Errors
    /// The store cannot be used like this, or cannot do one of the steps: in words for the user.
    pub fn new(config: &Config, secrets: &[String], schema: Schema, timeout_ns: u64) -> Result<Self, String> {
        let is_spread = matches!(config, Config::Spread { .. });
        let (elsewhere, schema) = if is_spread { elsewhere(schema) } else { (Arc::default(), schema) };
        let schema = Arc::new(schema);
        let (store, cache) = match config {
            Config::CacheAside { cache, store } => (&**store, Some(&**cache)),
            Config::Spread { nodes, own_nodes } => (able::check_nodes(nodes, *own_nodes)?, None),
            Config::ResultCache { store, .. } => (&**store, None),
            single => (single, None),
        };
        let pool = Pool::of(config, &schema, timeout_ns)?;
        let build = Builder { secrets, schema: &schema, timeout_ns };
        for part in [Some(store), cache].into_iter().flatten() {
            able::check_all(&schema, part)?;
        }
        if cache.is_some() || pool.is_some() {
            able::check_aside(&schema, config)?;
        }
        let acknowledged = pool.is_some().then(|| Arc::new(Acknowledged::new(SharedSchema::clone(&schema))));
        let cache = match cache {
            Some(config) => Some(Front::One(build.cache(config)?)),
            None => pool.map(Front::Pool),
        };
        let single = build.single(store)?;
        let spread = build.spread(config, elsewhere)?;
        let layout = match &single {
            Single::Redis(redis) => Some(if redis.is_hash { "hash" } else { "string" }),
            _ => None,
        };
        let kind = config.kind();
        Ok(Self { kind, embedded: config.is_embedded(), single, cache, acknowledged, spread, layout })
    }

    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Embedded stores run in the client's own thread.
    pub fn is_embedded(&self) -> bool {
        self.embedded
    }

    /// Whether rows are filed under keys that follow from the schema, without tables that could carry a marker.
    pub fn is_key_value(&self) -> bool {
        matches!(self.single, Single::Redis(_) | Single::Memcached(_)) || self.cache.is_some()
    }

    /// Whether sessions can send several requests before they read the first answer.
    pub fn can_pipeline(&self) -> bool {
        let can = match &self.single {
            Single::Redis(redis) => !redis.is_hash,
            Single::Memcached(_) | Single::Postgres(_) | Single::Cassandra(_) | Single::Handlersocket(_) => true,
            Single::Mysql(_) | Single::Mongodb(_) | Single::Sqlite(_) | Single::Embedded(_) => false,
        };
        self.cache.is_none() && can
    }

    /// Whether writes are answered, so that what was done can be held against what was counted.
    pub fn is_acknowledging(&self) -> bool {
        !matches!(&self.single, Single::Mongodb(store) if store.write == Write::Unacknowledged)
    }

    /// How the store holds a row, where it has a choice.
    pub fn layout(&self) -> Option<&'static str> {
        self.layout
    }

    /// Opens the session of a client; `reactor` is the calling thread's, `None` where there is none (embedded stores need none).
    ///
    /// # Errors
    /// The store cannot be reached or refuses.
    pub async fn open_for(&self, client: u64, reactor: Option<&Rc<Reactor>>) -> Result<AnySession, Failure> {
        match &self.spread {
            Some(spread) => spread.open_for(client, reactor).await,
            None => self.open(reactor).await,
        }
    }

    /// Opens a session for administration: with every node, where there are several.
    ///
    /// # Errors
    /// The store cannot be reached or refuses.
    pub async fn open(&self, reactor: Option<&Rc<Reactor>>) -> Result<AnySession, Failure> {
        if let Some(spread) = &self.spread {
            return spread.open_all(reactor).await;
        }
        let store = self.single.open(reactor).await?;
        match &self.cache {
            None => Ok(store.into()),
            Some(front) => {
                let cache = front.open(reactor).await?;
                Ok(AnySession::CacheAside(CacheAsideSession::new(cache, store, self.acknowledged.clone())))
            }
        }
    }
}

impl Front {
    async fn open(&self, reactor: Option<&Rc<Reactor>>) -> Result<CacheSession, Failure> {
        match self {
            Front::Pool(pool) => Ok(CacheSession::Pool(pool.open(reactor.ok_or_else(no_loop)?).await?)),
            Front::One(single) => match single.open(reactor).await? {
                SingleSession::Memcached(s) => Ok(CacheSession::Memcached(s)),
                SingleSession::Redis(s) => Ok(CacheSession::Redis(s)),
                _ => Err(Failure::Connect("this store cannot be a cache".into())),
            },
        }
    }
}

fn no_loop() -> Failure {
    Failure::Connect("a network store was opened outside an event loop".into())
}

impl Single {
    pub async fn open(&self, reactor: Option<&Rc<Reactor>>) -> Result<SingleSession, Failure> {
        match self {
            Single::Sqlite(store) => Ok(SingleSession::Sqlite(store.open()?)),
            Single::Embedded(store) => Ok(SingleSession::Embedded(store.open()?)),
            Single::Mysql(store) => Ok(SingleSession::Mysql(store.open(reactor.ok_or_else(no_loop)?).await?)),
            Single::Postgres(store) => Ok(SingleSession::Postgres(store.open(reactor.ok_or_else(no_loop)?).await?)),
            Single::Redis(store) => Ok(SingleSession::Redis(store.open(reactor.ok_or_else(no_loop)?).await?)),
            Single::Memcached(store) => Ok(SingleSession::Memcached(store.open(reactor.ok_or_else(no_loop)?).await?)),
            Single::Mongodb(store) => Ok(SingleSession::Mongodb(store.open(reactor.ok_or_else(no_loop)?).await?)),
            Single::Cassandra(store) => Ok(SingleSession::Cassandra(store.open(reactor.ok_or_else(no_loop)?).await?)),
            Single::Handlersocket(store) => {
                Ok(SingleSession::Handlersocket(store.open(reactor.ok_or_else(no_loop)?).await?))
            }
        }
    }
}

struct Builder<'a> {
    secrets: &'a [String],
    schema: &'a SharedSchema,
    timeout_ns: u64,
}

impl Builder<'_> {
    fn single(&self, config: &Config) -> Result<Single, String> {
        let schema = || SharedSchema::clone(self.schema);
        let endpoint = |address: &crate::AddressConfig| Endpoint::new(address.clone().into(), self.timeout_ns);
        Ok(match config {
            Config::Mysql { address, user, password, database, table_options, load_with, access, protocol } => {
                Single::Mysql(Mysql {
                    endpoint: endpoint(address)?,
                    user: user.clone(),
                    password: self.secret(*password)?.unwrap_or_default(),
                    database: database.clone(),
                    table_options: table_options.clone(),
                    load_with: *load_with,
                    access: *access,
                    protocol: *protocol,
                    schema: schema(),
                })
            }
            Config::Postgres { address, user, password, database } => Single::Postgres(Postgres {
                endpoint: endpoint(address)?,
                user: user.clone(),
                password: self.secret(*password)?.unwrap_or_default(),
                database: database.clone(),
                schema: schema(),
            }),
            Config::Redis { address, user, password, database, layout } => Single::Redis(Redis {
                endpoint: endpoint(address)?,
                user: user.clone(),
                password: self.secret(*password)?,
                database: *database,
                is_hash: is_hash(*layout, &self.schema.steps),
                schema: schema(),
            }),
            Config::Memcached { address } => {
                Single::Memcached(Memcached { endpoint: endpoint(address)?, schema: schema() })
            }
            Config::Mongodb { address, user, password, database, auth_database, write } => Single::Mongodb(Mongodb {
                endpoint: endpoint(address)?,
                user: user.clone().unwrap_or_default(),
                password: self.secret(*password)?.unwrap_or_default(),
                database: database.clone(),
                auth_database: auth_database.clone(),
                write: *write,
                schema: schema(),
            }),
            Config::Cassandra { address, user, password, keyspace, consistency: level, replication_factor } => {
                Single::Cassandra(Arc::new(Cassandra {
                    endpoint: endpoint(address)?,
                    user: user.clone().unwrap_or_default(),
                    password: self.secret(*password)?,
                    keyspace: keyspace.clone(),
                    replication_factor: *replication_factor,
                    consistency: consistency(level)?,
                    parameters: (0..self.schema.steps.len()).map(|step| self.schema.parameter_kinds(step)).collect(),
                    schema: schema(),
                    cluster: Default::default(),
                }))
            }
            Config::Handlersocket { address, write_address, password, database, sql } => {
                Single::Handlersocket(Handlersocket {
                    reading: endpoint(address)?,
                    writing: endpoint(write_address)?,
                    password: self.secret(*password)?,
                    database: database.clone(),
                    sql: sql.as_deref().map(|config| self.sql(config)).transpose()?,
                    schema: schema(),
                })
            }
            embedded => self.in_process(embedded)?,
        })
    }

    fn spread(&self, config: &Config, elsewhere: Arc<[bool]>) -> Result<Option<Spread>, String> {
        let Config::Spread { nodes, own_nodes } = config else { return Ok(None) };
        let own_nodes = own_nodes.unwrap_or(nodes.len());
        let nodes = nodes.iter().map(|node| self.single(node)).collect::<Result<_, _>>()?;
        Ok(Some(Spread { nodes, elsewhere, own_nodes }))
    }

    fn in_process(&self, config: &Config) -> Result<Single, String> {
        Ok(match config {
            Config::Sqlite { path, journal_mode, synchronous, cache_size_kib, mmap_size_bytes } => {
                Single::Sqlite(Sqlite {
                    path: path.clone(),
                    journal_mode: journal_mode.clone(),
                    synchronous: synchronous.clone(),
                    cache_size_kib: *cache_size_kib,
                    mmap_size_bytes: *mmap_size_bytes,
                    timeout_ns: self.timeout_ns,
                    schema: SharedSchema::clone(self.schema),
                })
            }
            Config::Lmdb { path, sync, map_size_bytes } => {
                self.embedded(Lmdb::new(path, *sync, *map_size_bytes, self.schema)?)
            }
            Config::Rocksdb(config) => self.embedded(Rocksdb::new(config, self.schema)?),
            Config::Tokyocabinet(config) => self.embedded(Tokyocabinet::new(config, self.schema)?),
            Config::Kyotocabinet(config) => self.embedded(Kyotocabinet::new(config, self.schema)?),
            Config::Tkrzw(config) => self.embedded(Tkrzw::new(config, self.schema)?),
            other => return Err(format!("{0} inside {0} is not possible", other.kind())),
        })
    }

    fn embedded(&self, engine: impl Engine + 'static) -> Single {
        Single::Embedded(Embedded::new(engine, SharedSchema::clone(self.schema)))
    }

    fn sql(&self, config: &Config) -> Result<Box<Mysql>, String> {
        let Single::Mysql(sql) = self.single(config)? else {
            return Err(format!("the sql of handlersocket is {}: it must be mysql", config.kind()));
        };
        Ok(Box::new(sql))
    }

    /// A cache keeps whole rows, whatever the workload changes: it only ever forgets them.
    fn cache(&self, config: &Config) -> Result<Single, String> {
        match config {
            Config::Memcached { .. } => self.single(config),
            Config::Redis { .. } => match self.single(config)? {
                Single::Redis(redis) => Ok(Single::Redis(Redis { is_hash: false, ..redis })),
                other => Ok(other),
            },
            other => Err(format!("{} cannot be the cache of cache-aside: there are memcached and redis", other.kind())),
        }
    }

    fn secret(&self, secret: Option<crate::Secret>) -> Result<Option<String>, String> {
        let find = |s: crate::Secret| self.secrets.get(s.secret).cloned().ok_or(s.secret);
        secret.map(find).transpose().map_err(|i| format!("the plan's secret {i} is not on line 2"))
    }
}

#[cfg(test)]
mod tests {
    use dbdyno_model::Operation;

    use crate::able::tests::{MEMCACHED, refusal};

    #[test]
    fn only_a_key_value_server_can_be_a_cache() {
        let sqlite = r#"{"kind": "sqlite", "path": "/x"}"#;
        let aside = |cache: &str| format!(r#"{{"kind": "cache-aside", "cache": {cache}, "store": {sqlite}}}"#);
        let get = Operation::Get { table: 0 };
        assert!(refusal(&aside(sqlite), get).unwrap().contains("memcached and redis"));
        assert_eq!(refusal(&aside(MEMCACHED), get), None);
    }
}
