//! One store without an arrangement, and the sessions with it.

use std::ops::Range;
use std::rc::Rc;

use dbdyno_model::{Failure, Operation, Row, Session, Statement, Step, Value};
use dbdyno_net::Reactor;
use dbdyno_wire::TextRows;

use crate::effective_settings::EffectiveSettings;
use crate::forward::forward;
use crate::limits::check_row;
use crate::list::stores;
use crate::store_config::{Context, OpenStore, StoreConfig};
use crate::{Administration, Claim, Cleaning, QueryPlan, Schema, Trouble, Withdrawn};

/// A session with the store of a configuration.
pub type SessionOf<C> = <<C as StoreConfig>::Store as OpenStore>::Session;

/// Writes, from the list of stores, the enums of their configurations, of them and of their sessions, and the dispatch.
macro_rules! single {
    ($($Store:ident = $Config:ty;)+) => {
        /// The `store` object of a plan for one store.
        #[derive(Clone, Debug)]
        pub enum SingleConfig {
            $($Store($Config),)+
        }

        /// A store as sessions are opened with it.
        pub enum Single {
            $($Store(<$Config as StoreConfig>::Store),)+
        }

        /// A session with one store, no arrangement.
        pub enum SingleSession {
            $($Store(SessionOf<$Config>),)+
        }

        forward!(SingleSession, $($Store),+);

        /// Evaluates `body` with the store's own configuration.
        macro_rules! each {
            ($single:expr, $config:ident => $body:expr) => {
                match $single { $(SingleConfig::$Store($config) => $body,)+ }
            };
        }

        impl SingleConfig {
            /// # Errors
            /// There is no such kind of store, or it has no such settings.
            pub fn read(kind: &str, settings: serde_json::Value) -> Result<Self, String> {
                $(if <$Config>::KINDS.contains(&kind) {
                    return <$Config>::read(kind, settings).map(Self::$Store).map_err(|error| error.to_string());
                })+
                Err(format!("kind = {kind:?}: there are {} and arrangements", Self::kinds().join(", ")))
            }

            /// The words in `kind` that name a store.
            pub fn kinds() -> Vec<&'static str> {
                [$(<$Config>::KINDS),+].concat()
            }

            /// Those of them whose servers can be nodes.
            pub fn node_kinds() -> Vec<&'static str> {
                [$(if <$Config>::IS_NODE { <$Config>::KINDS } else { &[] }),+].concat()
            }

            pub fn is_node(&self) -> bool {
                match self { $(Self::$Store(_) => <$Config>::IS_NODE),+ }
            }

            /// Sockets that one client has; 0: embedded.
            pub fn connections(&self) -> u64 {
                match self { $(Self::$Store(_) => <$Config>::CONNECTIONS),+ }
            }

            /// # Errors
            /// The store cannot be used like this: in words for the user.
            pub fn store(&self, context: &Context<'_>) -> Result<Single, String> {
                match self { $(Self::$Store(config) => config.store(context).map(Single::$Store)),+ }
            }
        }

        impl Single {
            /// # Errors
            /// The store cannot be reached or refuses.
            pub async fn open(&self, reactor: Option<&Rc<Reactor>>) -> Result<SingleSession, Failure> {
                match self { $(Self::$Store(store) => store.open(reactor).await.map(SingleSession::$Store)),+ }
            }

            pub fn effective_settings(&self) -> Option<EffectiveSettings> {
                match self { $(Self::$Store(store) => store.effective_settings()),+ }
            }
        }
    };
}

stores!(single);

impl SingleConfig {
    /// The word in `kind`.
    pub fn kind(&self) -> &'static str {
        each!(self, config => config.kind())
    }

    pub fn can_do(&self, schema: &Schema, step: &Step) -> bool {
        match step.operation {
            // Only among several nodes is there an elsewhere.
            Operation::GetElsewhere { .. } => false,
            Operation::Transaction => true,
            Operation::Put { ttl_s, .. } if ttl_s > 0 => each!(self, config => config.can_expire(schema, ttl_s)),
            operation => each!(self, config => config.can_do(schema, operation)),
        }
    }

    pub fn can_pipeline(&self, schema: &Schema) -> bool {
        each!(self, config => config.can_pipeline(schema))
    }

    pub fn is_acknowledging(&self) -> bool {
        each!(self, config => config.is_acknowledging())
    }

    pub fn tells_deletions(&self) -> bool {
        each!(self, config => config.tells_deletions())
    }

    pub fn layout(&self, schema: &Schema) -> Option<&'static str> {
        each!(self, config => config.layout(schema))
    }

    /// # Errors
    /// A table's keys or rows are longer than the store, or its protocol, takes: in words for the user.
    pub fn check_sizes(&self, schema: &Schema) -> Result<(), String> {
        let most = each!(self, config => config.most_row_size_bytes());
        schema.tables.iter().try_for_each(|table| {
            each!(self, config => config.check_keys(table))?;
            most.map_or(Ok(()), |most| check_row(table, self.kind(), most))
        })
    }
}
