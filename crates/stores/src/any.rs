//! Any store behind one type, chosen once by the plan, so that nothing is boxed per operation.

use std::ops::Range;

use dbdyno_model::{Failure, Row, Session, Statement, Value};
use dbdyno_wire::TextRows;

use crate::cache_aside::CacheAsideSession;
use crate::cassandra::CassandraSession;
use crate::embedded::EmbeddedSession;
use crate::handlersocket::HandlersocketSession;
use crate::memcached::MemcachedSession;
use crate::mongodb::MongodbSession;
use crate::mysql::MysqlSession;
use crate::pool::PoolSession;
use crate::postgres::PostgresSession;
use crate::redis::RedisSession;
use crate::spread::SpreadSession;
use crate::sqlite::SqliteSession;
use crate::{Administration, Cache, CacheCounters, Claim, Trouble, Withdrawn};

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
            async fn claim(&mut self, claims: &[String]) -> Result<(), Trouble> {
                match self { $($any::$variant(s) => s.claim(claims).await),+ }
            }
            async fn renew(&mut self, claims: &[String]) -> Result<(), Trouble> {
                match self { $($any::$variant(s) => s.renew(claims).await),+ }
            }
            async fn claims(&mut self) -> Result<Vec<String>, Trouble> {
                match self { $($any::$variant(s) => s.claims().await),+ }
            }
            async fn withdraw(&mut self, claim: &Claim) -> Result<Withdrawn, Trouble> {
                match self { $($any::$variant(s) => s.withdraw(claim).await),+ }
            }
            fn cannot_know(&self) -> Option<&'static str> {
                match self { $($any::$variant(s) => s.cannot_know()),+ }
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
