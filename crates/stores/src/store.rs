//! Any store that a plan can name, made of its configuration.

use std::rc::Rc;
use std::sync::Arc;

use dbdyno_model::Failure;
use dbdyno_net::Reactor;

use crate::acknowledged::Acknowledged;
use crate::any::AnySession;
use crate::cache_aside::CacheAsideSession;
use crate::cassandra::{Cassandra, consistency};
use crate::config::{Config, Write};
use crate::effective_settings::EffectiveSettings;
use crate::handlersocket::Handlersocket;
use crate::memcached::Memcached;
use crate::mongodb::Mongodb;
use crate::mysql::Mysql;
use crate::network::Endpoint;
use crate::pool::Pool;
use crate::postgres::Postgres;
use crate::redis::{Redis, is_hash};
use crate::remapped_keys::RemappedKeys;
use crate::single::{CacheSession, Single, SingleSession, no_loop};
use crate::spread::{Spread, elsewhere};
use crate::sqlite::Sqlite;
use crate::{Schema, SharedSchema, capabilities};

/// What stands in front of a store.
enum Front {
    One(Box<Single>),
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
            Config::Spread { nodes, own_nodes } => (capabilities::check_nodes(nodes, *own_nodes)?, None),
            Config::ResultCache { store, .. } => (&**store, None),
            single => (single, None),
        };
        let pool = Pool::of(config, &schema, timeout_ns)?;
        let build = Builder { secrets, schema: &schema, timeout_ns };
        for part in [Some(store), cache].into_iter().flatten() {
            capabilities::check_all(&schema, part)?;
        }
        if cache.is_some() || pool.is_some() {
            capabilities::check_aside(&schema, config)?;
        }
        let acknowledged = pool.is_some().then(|| Arc::new(Acknowledged::new(SharedSchema::clone(&schema))));
        let cache = match cache {
            Some(config) => Some(Front::One(Box::new(build.cache(config)?))),
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

    /// How many of the results that were asked for have another node since the pool changed; `None` of anything else.
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
        self.embedded
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

    /// What a library that runs in this process says of itself; `None` where the store is elsewhere.
    pub fn effective_settings(&self) -> Option<EffectiveSettings> {
        match &self.single {
            Single::Embedded(store) => Some(store.effective_settings().clone()),
            Single::Sqlite(_) => Some(EffectiveSettings::of_version(rusqlite::version())),
            _ => None,
        }
    }

    /// Opens the session of a client; `reactor` is the calling thread's, `None` where there is none (embedded stores need none).
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

    /// Opens a session for administration: with every node, where there are several.
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
            Front::Pool(pool) => Ok(CacheSession::Pool(pool.open(reactor.ok_or_else(no_loop)?).await?)),
            Front::One(single) => match single.open(reactor).await? {
                SingleSession::Memcached(s) => Ok(CacheSession::Memcached(s)),
                SingleSession::Redis(s) => Ok(CacheSession::Redis(s)),
                _ => Err(Failure::Connect("this store cannot be a cache".into())),
            },
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
            Config::Mysql { .. } => Single::Mysql(self.mysql("the store", config)?),
            Config::Postgres { address, user, password, database, tls } => Single::Postgres(Postgres {
                endpoint: endpoint(address)?.encrypted(tls.as_ref())?,
                user: user.clone(),
                password: self.secret(*password)?.unwrap_or_default(),
                database: database.clone(),
                schema: schema(),
            }),
            Config::Redis { address, user, password, database, layout, tls } => Single::Redis(Redis {
                endpoint: endpoint(address)?.encrypted(tls.as_ref())?,
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
                    sql: sql
                        .as_deref()
                        .map(|config| self.mysql("the sql of handlersocket", config).map(Box::new))
                        .transpose()?,
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
            Config::Engine(engine) => Single::Embedded(engine.open(self.schema)?),
            other => return Err(format!("{0} inside {0} is not possible", other.kind())),
        })
    }

    /// `part`: what is to be of that kind.
    fn mysql(&self, part: &str, config: &Config) -> Result<Mysql, String> {
        let Config::Mysql {
            address,
            user,
            password,
            database,
            table_options,
            load_with,
            access,
            protocol,
            tls,
            backends,
        } = config
        else {
            return Err(format!("{part} is {}: it must be mysql", config.kind()));
        };
        Ok(Mysql {
            endpoint: Endpoint::new(address.clone().into(), self.timeout_ns)?.encrypted(tls.as_ref())?,
            user: user.clone(),
            password: self.secret(*password)?.unwrap_or_default(),
            database: database.clone(),
            table_options: table_options.clone(),
            load_with: *load_with,
            access: *access,
            protocol: *protocol,
            backends: backends.iter().map(|config| self.mysql("a backend", config)).collect::<Result<_, _>>()?,
            schema: SharedSchema::clone(self.schema),
        })
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

    use crate::capabilities::tests::{MEMCACHED, refusal};

    #[test]
    fn only_a_key_value_server_can_be_a_cache() {
        let sqlite = r#"{"kind": "sqlite", "path": "/x"}"#;
        let aside = |cache: &str| format!(r#"{{"kind": "cache-aside", "cache": {cache}, "store": {sqlite}}}"#);
        let get = Operation::Get { table: 0 };
        assert!(refusal(&aside(sqlite), get).unwrap().contains("memcached and redis"));
        assert_eq!(refusal(&aside(MEMCACHED), get), None);
    }
}
