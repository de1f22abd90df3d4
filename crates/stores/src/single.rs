//! One store without an arrangement, and the sessions with it; a cache in front of a store is one too.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use dbdyno_model::{Failure, Row, Session, Statement, Value};
use dbdyno_net::Reactor;
use dbdyno_wire::TextRows;

use crate::cassandra::{Cassandra, CassandraSession};
use crate::embedded::{Embedded, EmbeddedSession};
use crate::forward::forward;
use crate::handlersocket::{Handlersocket, HandlersocketSession};
use crate::memcached::{Memcached, MemcachedSession};
use crate::mongodb::{Mongodb, MongodbSession};
use crate::mysql::{Mysql, MysqlSession};
use crate::pool::PoolSession;
use crate::postgres::{Postgres, PostgresSession};
use crate::redis::{Redis, RedisSession};
use crate::sqlite::{Sqlite, SqliteSession};
use crate::{Administration, Cache, Claim, Cleaning, Trouble, Withdrawn};

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

pub fn no_loop() -> Failure {
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
