//! A node of a pool of result caches: memcached or Redis, with names that are the pool's.

use std::ops::Range;

use dbdyno_model::{Failure, Row, Session, Statement, Table, Value};
use dbdyno_wire::TextRows;

use crate::claim::unmarked;
use crate::forward::forward;
use crate::key_set::KeySet;
use crate::keys::RESULT_PREFIX;
use crate::memcached::{self, MemcachedSession};
use crate::redis::{self, RedisSession};
use crate::result_query::ResultQuery;
use crate::single::SingleSession;
use crate::{Administration, Claim, Cleaning, QueryPlan, Trouble, Withdrawn};

/// How long results are kept, in the words of each protocol.
#[derive(Debug)]
pub struct Expiry {
    /// `None`: until they are removed.
    pub seconds: Option<Vec<u8>>,
    /// Flags and time to live of a `set`.
    flags_and_seconds: Vec<u8>,
}

impl Expiry {
    /// 0 seconds: until they are removed.
    pub fn new(seconds: u32) -> Self {
        let digits = (seconds > 0).then(|| seconds.to_string().into_bytes());
        Self { seconds: digits, flags_and_seconds: format!(" 0 {seconds} ").into_bytes() }
    }
}

/// A session with a node.
#[allow(clippy::large_enum_variant)]
pub enum NodeSession {
    Memcached(MemcachedSession),
    Redis(RedisSession),
}

forward!(NodeSession, Memcached, Redis);

impl NodeSession {
    /// # Errors
    /// The store cannot be a node.
    pub fn new(session: SingleSession) -> Result<Self, Failure> {
        match session {
            SingleSession::Memcached(session) => Ok(Self::Memcached(session)),
            SingleSession::Redis(session) => Ok(Self::Redis(session)),
            _ => Err(Failure::Connect("this store cannot be a node of result-cache".into())),
        }
    }

    /// Reads the result that is kept under `name`; false if there is none.
    #[inline]
    pub async fn read_under(&mut self, answer: &Table, name: &[u8]) -> Result<bool, Failure> {
        match self {
            Self::Memcached(session) => session.read_under(answer, name).await,
            Self::Redis(session) => session.read_under(answer, name).await,
        }
    }

    #[inline]
    pub async fn store_under(&mut self, name: &[u8], expiry: &Expiry, row: Row<'_>) -> Result<(), Failure> {
        match self {
            Self::Memcached(session) => session.store_under(name, &expiry.flags_and_seconds, row).await,
            Self::Redis(session) => session.store_under(name, expiry.seconds.as_deref(), row).await,
        }
    }

    #[inline]
    pub async fn delete_under(&mut self, name: &[u8]) -> Result<(), Failure> {
        match self {
            Self::Memcached(session) => session.delete_under(name).await,
            Self::Redis(session) => session.delete_under(name).await,
        }
    }

    /// # Errors
    /// A result of this query is there, or what has its key.
    pub async fn refuse_results(&mut self, query: &ResultQuery) -> Result<(), Trouble> {
        let (key_set, numbers) = (KeySet::Results(query), 1..query.results() + 1);
        let (is_any, todo) = match self {
            Self::Memcached(session) => (session.is_any_there(&key_set, numbers).await?, memcached::EVICTED),
            Self::Redis(session) => (session.count_keys(&key_set, numbers).await? > 0, redis::ELSEWHERE),
        };
        let names = format!("{}*", RESULT_PREFIX.escape_ascii());
        if is_any { Err(unmarked(&names, todo)) } else { Ok(()) }
    }
}
