//! Any store behind one type, chosen once by the plan, so that nothing is boxed per operation.

use std::ops::Range;

use dbdyno_model::{Failure, Row, Session, Statement, Value};
use dbdyno_wire::TextRows;

use crate::cache_aside::CacheAsideSession;
use crate::forward::forward;
use crate::list::stores;
use crate::single::{SessionOf, SingleSession};
use crate::spread::SpreadSession;
use crate::{Administration, CacheCounters, Claim, Cleaning, QueryPlan, Trouble, Withdrawn};

/// Writes, from the list of stores, the enum of all sessions.
macro_rules! any {
    ($($Store:ident = $Config:ty;)+) => {
        /// A session with any store. There is one a client, and it stays where it is.
        #[allow(clippy::large_enum_variant)]
        pub enum AnySession {
            $($Store(SessionOf<$Config>),)+
            CacheAside(CacheAsideSession),
            Spread(SpreadSession),
        }

        forward!(AnySession, $($Store,)+ CacheAside, Spread);

        /// One enum and not one in the other: each costs an operation another future.
        impl From<SingleSession> for AnySession {
            fn from(session: SingleSession) -> Self {
                match session { $(SingleSession::$Store(session) => AnySession::$Store(session),)+ }
            }
        }
    };
}

stores!(any);

impl AnySession {
    /// Returns the hits and misses that the arrangement counted; `None` for a single store.
    #[inline]
    pub fn cache_counters(&self) -> Option<CacheCounters> {
        match self {
            AnySession::CacheAside(session) => Some(session.counters),
            _ => None,
        }
    }
}
