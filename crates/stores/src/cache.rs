//! The sessions that can stand in front of a store, behind one type.

use std::ops::Range;

use dbdyno_model::{Failure, Row, Session, Statement, Value};
use dbdyno_wire::TextRows;

use crate::forward::forward;
use crate::memcached::MemcachedSession;
use crate::pool::PoolSession;
use crate::redis::RedisSession;
use crate::{Administration, Cache, Claim, Cleaning, QueryPlan, Trouble, Withdrawn};

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
