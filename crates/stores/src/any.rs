//! Any store behind one type, chosen once by the plan, so that nothing is boxed per operation.

use std::ops::Range;

use dbdyno_model::{Failure, Row, Session, Statement, Value};
use dbdyno_wire::TextRows;

use crate::cache_aside::CacheAsideSession;
use crate::cassandra::CassandraSession;
use crate::embedded::EmbeddedSession;
use crate::forward::forward;
use crate::handlersocket::HandlersocketSession;
use crate::memcached::MemcachedSession;
use crate::mongodb::MongodbSession;
use crate::mysql::MysqlSession;
use crate::postgres::PostgresSession;
use crate::redis::RedisSession;
use crate::single::SingleSession;
use crate::spread::SpreadSession;
use crate::sqlite::SqliteSession;
use crate::{Administration, CacheCounters, Claim, Cleaning, Trouble, Withdrawn};

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
