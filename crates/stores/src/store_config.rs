//! The declarations of a store without an arrangement: its object in a plan, its operations, how it is opened.

use std::rc::Rc;

use dbdyno_model::{Failure, Operation, Session, Table};
use dbdyno_net::Reactor;
use serde::de::DeserializeOwned;

use crate::connection_config::{AddressConfig, Secret, TlsConfig};
use crate::effective_settings::EffectiveSettings;
use crate::network::Endpoint;
use crate::{Administration, Schema, SharedSchema};

/// The `store` object of a plan, without its `kind`.
pub trait StoreConfig: DeserializeOwned {
    /// The words in `kind` that name the store.
    const KINDS: &'static [&'static str];
    /// Sockets that one client has; 0: the store is embedded and runs in the client's own thread.
    const CONNECTIONS: u64 = 1;
    /// True if its servers can be the nodes of `spread`.
    const IS_NODE: bool = false;
    type Store: OpenStore;

    /// # Errors
    /// The store has no such settings.
    fn read(_kind: &str, settings: serde_json::Value) -> serde_json::Result<Self> {
        serde_json::from_value(settings)
    }

    /// The word in `kind`.
    fn kind(&self) -> &'static str {
        Self::KINDS[0]
    }

    /// Returns whether it can do an operation. Those that all stores can do, or none alone, are not asked about.
    fn can_do(&self, schema: &Schema, operation: Operation) -> bool;

    /// Returns whether it lets a row expire by itself after so many seconds.
    fn can_expire(&self, _schema: &Schema, _ttl_s: u32) -> bool {
        false
    }

    /// Returns whether sessions can send several requests before they read the first answer.
    fn can_pipeline(&self, _schema: &Schema) -> bool {
        false
    }

    /// Returns whether writes are answered, so that what was done can be held against what was counted.
    fn is_acknowledging(&self) -> bool {
        true
    }

    /// Returns whether a deletion says if the row was there.
    fn tells_deletions(&self) -> bool {
        true
    }

    /// How it holds a row, if it has a choice.
    fn layout(&self, _schema: &Schema) -> Option<&'static str> {
        None
    }

    /// The longest row that it takes; `None`: it tells itself.
    fn most_row_size_bytes(&self) -> Option<usize> {
        None
    }

    /// # Errors
    /// It does not take the keys of this table: in words for the user.
    fn check_keys(&self, _table: &Table) -> Result<(), String> {
        Ok(())
    }

    /// # Errors
    /// The store cannot be used like this: in words for the user.
    fn store(&self, context: &Context<'_>) -> Result<Self::Store, String>;
}

/// A store, shared by all threads.
#[allow(async_fn_in_trait)] // Sessions stay on the thread that opened them.
pub trait OpenStore {
    type Session: Session + Administration;

    /// Opens a session; `reactor` is the calling thread's, `None` if there is none (embedded stores need none).
    ///
    /// # Errors
    /// The store cannot be reached or refuses.
    async fn open(&self, reactor: Option<&Rc<Reactor>>) -> Result<Self::Session, Failure>;

    /// Returns the version and settings of a library in this process; `None` for a server.
    fn effective_settings(&self) -> Option<EffectiveSettings> {
        None
    }
}

/// The parts of the plan that a store needs beside its own object.
pub struct Context<'a> {
    pub secrets: &'a [String],
    pub schema: &'a SharedSchema,
    pub timeout_ns: u64,
}

impl Context<'_> {
    pub fn schema(&self) -> SharedSchema {
        SharedSchema::clone(self.schema)
    }

    /// # Errors
    /// The host's name is not known, or nobody can be trusted like this: in words for the user.
    pub fn endpoint(&self, address: &AddressConfig, tls: Option<&TlsConfig>) -> Result<Endpoint, String> {
        Endpoint::new(address.clone().into(), self.timeout_ns)?.encrypted(tls)
    }

    /// # Errors
    /// The plan came without it: in words for the user.
    pub fn secret(&self, secret: Option<Secret>) -> Result<Option<String>, String> {
        let find = |s: Secret| self.secrets.get(s.secret).cloned().ok_or(s.secret);
        secret.map(find).transpose().map_err(|i| format!("the plan's secret {i} is not on line 2"))
    }
}
