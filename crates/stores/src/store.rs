//! Any store that a plan can name, made of its configuration.

use std::rc::Rc;
use std::sync::Arc;

use dbdyno_model::Failure;
use dbdyno_net::Reactor;

use crate::acknowledged_versions::AcknowledgedVersions;
use crate::any::AnySession;
use crate::cache::CacheSession;
use crate::cache_aside::CacheAsideSession;
use crate::config::Config;
use crate::effective_settings::EffectiveSettings;
use crate::pool::Pool;
use crate::remapped_keys::RemappedKeys;
use crate::single::{Single, SingleConfig, SingleSession};
use crate::spread::{Spread, elsewhere};
use crate::store_config::Context;
use crate::{Schema, SharedSchema, capabilities};

/// The arrangement in front of a store.
enum Front {
    One(Box<Single>),
    Pool(Pool),
}

/// Any store that a plan can name. Shared by all threads.
pub struct Store {
    kind: &'static str,
    is_embedded: bool,
    can_pipeline: bool,
    is_acknowledging: bool,
    tells_deletions: bool,
    layout: Option<&'static str>,
    single: Single,
    cache: Option<Front>,
    acknowledged: Option<Arc<AcknowledgedVersions>>,
    spread: Option<Spread>,
}

impl Store {
    /// # Errors
    /// The store cannot be used like this, or cannot do one of the steps: in words for the user.
    pub fn new(config: &Config, secrets: &[String], schema: Schema, timeout_ns: u64) -> Result<Self, String> {
        let is_spread = matches!(config, Config::Spread { .. });
        let (elsewhere, schema) = if is_spread { elsewhere(schema) } else { (Arc::default(), schema) };
        let schema = Arc::new(schema);
        let nodes = match config {
            Config::Spread { nodes, own_nodes } => capabilities::check_nodes(nodes, *own_nodes)?,
            _ => vec![],
        };
        let (store, cache) = match config {
            Config::Single(single) => (single, None),
            Config::CacheAside { cache, store } => (config.part(store)?, Some(config.part(cache)?)),
            Config::Spread { .. } => (nodes[0], None),
            Config::ResultCache { store, .. } => (config.part(store)?, None),
        };
        let context = Context { secrets, schema: &schema, timeout_ns };
        let pool = Pool::of(config, &context)?;
        for part in [Some(store), cache].into_iter().flatten() {
            capabilities::check_all(&schema, part)?;
        }
        if cache.is_some() || pool.is_some() {
            capabilities::check_aside(&schema, config.kind())?;
        }
        let acknowledged = pool.is_some().then(|| Arc::new(AcknowledgedVersions::new(SharedSchema::clone(&schema))));
        let cache = match cache {
            Some(config) => Some(Front::One(Box::new(cache_of(config, &context)?))),
            None => pool.map(Front::Pool),
        };
        let spread = match config {
            Config::Spread { own_nodes, .. } => Some(Spread {
                nodes: nodes.iter().map(|node| node.store(&context)).collect::<Result<_, _>>()?,
                elsewhere,
                own_nodes: own_nodes.unwrap_or(nodes.len()),
            }),
            _ => None,
        };
        Ok(Self {
            kind: config.kind(),
            is_embedded: config.is_embedded(),
            can_pipeline: cache.is_none() && store.can_pipeline(&schema),
            is_acknowledging: store.is_acknowledging(),
            tells_deletions: store.tells_deletions(),
            layout: store.layout(&schema),
            single: store.store(&context)?,
            cache,
            acknowledged,
            spread,
        })
    }

    /// How many of the requested results have another node since the pool changed; `None` of anything else.
    pub fn remapped_keys(&self) -> Option<RemappedKeys> {
        match &self.cache {
            Some(Front::Pool(pool)) => pool.moved(),
            _ => None,
        }
    }

    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Embedded stores run in the client's own thread.
    pub fn is_embedded(&self) -> bool {
        self.is_embedded
    }

    /// Returns whether sessions can send several requests before they read the first answer.
    pub fn can_pipeline(&self) -> bool {
        self.can_pipeline
    }

    /// Returns whether writes are answered, so that what was done can be held against what was counted.
    pub fn is_acknowledging(&self) -> bool {
        self.is_acknowledging
    }

    /// Returns whether a deletion says if the row was there.
    pub fn tells_deletions(&self) -> bool {
        self.tells_deletions
    }

    /// How the store holds a row, if it has a choice.
    pub fn layout(&self) -> Option<&'static str> {
        self.layout
    }

    /// Returns the version and settings of a library in this process; `None` for a server.
    pub fn effective_settings(&self) -> Option<EffectiveSettings> {
        self.single.effective_settings()
    }

    /// Opens the session of a client; `reactor` is the calling thread's, `None` if there is none (embedded stores need none).
    ///
    /// # Errors
    /// The store cannot be reached or refuses.
    pub async fn open_for(&self, client: u64, reactor: Option<&Rc<Reactor>>) -> Result<AnySession, Failure> {
        match &self.spread {
            Some(spread) => match spread.own_node_alone(client) {
                Some(node) => Ok(node.open(reactor).await?.into()),
                None => Ok(AnySession::Spread(spread.open_for(client, reactor).await?)),
            },
            None => self.open(reactor).await,
        }
    }

    /// Opens a session for administration: with every node, if there are several.
    ///
    /// # Errors
    /// The store cannot be reached or refuses.
    pub async fn open(&self, reactor: Option<&Rc<Reactor>>) -> Result<AnySession, Failure> {
        if let Some(spread) = &self.spread {
            return Ok(AnySession::Spread(spread.open_all(reactor).await?));
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
            Front::Pool(pool) => Ok(CacheSession::Pool(pool.open(reactor).await?)),
            Front::One(single) => match single.open(reactor).await? {
                SingleSession::Memcached(s) => Ok(CacheSession::Memcached(s)),
                SingleSession::Redis(s) => Ok(CacheSession::Redis(s)),
                _ => Err(Failure::Connect("this store cannot be a cache".into())),
            },
        }
    }
}

fn cache_of(config: &SingleConfig, context: &Context<'_>) -> Result<Single, String> {
    match config {
        SingleConfig::Memcached(_) => config.store(context),
        SingleConfig::Redis(redis) => SingleConfig::Redis(redis.of_cache()).store(context),
        other => Err(format!("{} cannot be the cache of cache-aside: use memcached or redis", other.kind())),
    }
}

#[cfg(test)]
mod tests {
    use dbdyno_model::Operation;

    use crate::capabilities::tests::{MEMCACHED, refusal};

    #[test]
    fn only_a_key_value_server_can_be_a_cache() {
        let sqlite = r#"{"kind": "sqlite", "path": "/x"}"#;
        let aside = |cache: &str| format!(r#"{{"kind": "cache-aside", "cache": {cache}, "store": {sqlite}}}"#);
        let get = Operation::Get { table: 0 };
        assert!(refusal(&aside(sqlite), get).unwrap().contains("memcached or redis"));
        assert_eq!(refusal(&aside(MEMCACHED), get), None);
    }
}
