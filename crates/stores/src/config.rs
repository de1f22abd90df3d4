//! The `store` object of a plan (docs/contract.md).

use std::path::PathBuf;

use dbdyno_net::{Address, Verify};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::engines::EngineConfig;

/// A password's place among the secrets.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Secret {
    pub secret: usize,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(untagged)]
pub enum AddressConfig {
    Tcp { host: String, port: u16 },
    Unix { unix: PathBuf },
}

impl From<AddressConfig> for Address {
    fn from(config: AddressConfig) -> Self {
        match config {
            AddressConfig::Tcp { host, port } => Address::Tcp { host, port },
            AddressConfig::Unix { unix } => Address::Unix(unix),
        }
    }
}

/// What is asked of a server's certificate (`dbdyno_net::Verify`).
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum TlsVerify {
    Nothing,
    Authority,
    Host,
}

impl From<TlsVerify> for Verify {
    fn from(config: TlsVerify) -> Self {
        match config {
            TlsVerify::Nothing => Verify::Nothing,
            TlsVerify::Authority => Verify::Authority,
            TlsVerify::Host => Verify::Host,
        }
    }
}

/// That connections are encrypted, and whom they trust.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct TlsConfig {
    pub verify: TlsVerify,
    /// A PEM file of authorities; `None`: this host's.
    pub ca: Option<PathBuf>,
}

/// How Redis holds a row.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// A hash where the workload changes single columns, else a string.
    #[default]
    Auto,
    String,
    Hash,
}

/// How rows come into a server of the MySQL protocol, the fastest first.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum LoadWith {
    /// COM_STMT_BULK_EXECUTE, which only MariaDB has.
    BulkExecute,
    /// LOAD DATA LOCAL, which a server can forbid.
    LoadData,
    /// INSERT of many rows.
    Insert,
}

/// Whether writes of the MongoDB protocol are answered.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Write {
    #[default]
    Acknowledged,
    /// Sent and forgotten: `w: 0`.
    Unacknowledged,
}

/// By what statement rows are read from a server of the MySQL protocol.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum AccessPath {
    /// `SELECT`.
    #[default]
    Sql,
    /// `HANDLER … READ`, past the optimizer.
    Handler,
}

/// How statements are sent to a server of the MySQL protocol.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum StatementProtocol {
    /// Prepared once, then executed.
    #[default]
    Prepared,
    /// As text, parsed each time.
    Text,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields, remote = "Self")]
pub enum Config {
    Mysql {
        address: AddressConfig,
        user: String,
        password: Option<Secret>,
        database: String,
        #[serde(default)]
        table_options: String,
        /// `None`: the fastest that the server has.
        load_with: Option<LoadWith>,
        #[serde(default)]
        access: AccessPath,
        #[serde(default)]
        protocol: StatementProtocol,
        tls: Option<TlsConfig>,
        /// Of the kind `mysql`: the servers, known to this one as `dbdyno_1`, `dbdyno_2` …, that have the rows of its tables.
        #[serde(default)]
        backends: Vec<Config>,
    },
    Postgres {
        address: AddressConfig,
        user: String,
        password: Option<Secret>,
        database: String,
        tls: Option<TlsConfig>,
    },
    Redis {
        address: AddressConfig,
        user: Option<String>,
        password: Option<Secret>,
        #[serde(default)]
        database: u32,
        #[serde(default)]
        layout: Layout,
        tls: Option<TlsConfig>,
    },
    Memcached {
        address: AddressConfig,
    },
    Mongodb {
        address: AddressConfig,
        /// `None`: nobody is logged in.
        user: Option<String>,
        password: Option<Secret>,
        database: String,
        /// The database that knows the user.
        #[serde(default = "admin")]
        auth_database: String,
        #[serde(default)]
        write: Write,
    },
    Handlersocket {
        address: AddressConfig,
        write_address: AddressConfig,
        password: Option<Secret>,
        database: String,
        /// The same server's SQL; `None`: nothing is prepared, loaded or checked.
        sql: Option<Box<Config>>,
    },
    Sqlite {
        path: PathBuf,
        #[serde(default = "wal")]
        journal_mode: String,
        #[serde(default = "full")]
        synchronous: String,
        cache_size_kib: Option<u64>,
        mmap_size_bytes: Option<u64>,
    },
    /// Any of [`EngineConfig::KINDS`].
    #[serde(skip)]
    Engine(EngineConfig),
    Cassandra {
        address: AddressConfig,
        user: Option<String>,
        password: Option<Secret>,
        keyspace: String,
        consistency: String,
        /// Of a keyspace that is made.
        replication_factor: u32,
    },
    CacheAside {
        cache: Box<Config>,
        store: Box<Config>,
    },
    /// Nodes that each hold all rows.
    Spread {
        nodes: Vec<Config>,
        /// Among how many of them clients are divided, from the first on; `None`: all.
        own_nodes: Option<usize>,
    },
    ResultCache {
        /// Of the kind `memcached`, by their names in the continuum.
        nodes: Vec<NodeConfig>,
        store: Box<Config>,
        /// For how long a result is kept; 0: until a row of it is changed.
        #[serde(default)]
        expire_s: u32,
        /// When the last node leaves the pool, in seconds since the load client began.
        leaves_s: Option<f64>,
        /// When it joins.
        joins_s: Option<f64>,
    },
}

/// A node of a pool, and its share of the keys.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeConfig {
    pub address: AddressConfig,
    #[serde(default = "one")]
    pub weight: u64,
}

fn one() -> u64 {
    1
}

fn admin() -> String {
    "admin".into()
}

fn wal() -> String {
    "WAL".into()
}

fn full() -> String {
    "FULL".into()
}

/// The engines have a list of their own, so they are read by it; every other kind is a variant here.
impl<'de> Deserialize<'de> for Config {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = serde_json::Value::deserialize(deserializer)?;
        let is_engine = object["kind"].as_str().is_some_and(|kind| EngineConfig::KINDS.contains(&kind));
        match is_engine {
            true => EngineConfig::deserialize(object).map(Config::Engine),
            false => Config::deserialize(object),
        }
        .map_err(D::Error::custom)
    }
}

impl Config {
    /// The word in `kind`.
    pub fn kind(&self) -> &'static str {
        match self {
            Config::Mysql { .. } => "mysql",
            Config::Postgres { .. } => "postgres",
            Config::Redis { .. } => "redis",
            Config::Memcached { .. } => "memcached",
            Config::Mongodb { .. } => "mongodb",
            Config::Handlersocket { .. } => "handlersocket",
            Config::Sqlite { .. } => "sqlite",
            Config::Engine(engine) => engine.kind(),
            Config::Cassandra { .. } => "cassandra",
            Config::CacheAside { .. } => "cache-aside",
            Config::Spread { .. } => "spread",
            Config::ResultCache { .. } => "result-cache",
        }
    }

    /// Sockets that one client has: an arrangement's has one to each of its stores.
    pub fn connections(&self) -> u64 {
        match self {
            Config::Handlersocket { .. } => 2,
            Config::CacheAside { cache, store } => cache.connections() + store.connections(),
            // Its own node, and the one where it reads what it wrote.
            Config::Spread { nodes, .. } => nodes.iter().take(2).map(Config::connections).sum(),
            Config::ResultCache { nodes, store, .. } => nodes.len() as u64 + store.connections(),
            single => u64::from(!single.is_embedded()),
        }
    }

    /// Embedded stores run in the client's own thread.
    pub fn is_embedded(&self) -> bool {
        match self {
            Config::Sqlite { .. } | Config::Engine(_) => true,
            Config::Mysql { .. } | Config::Postgres { .. } | Config::Redis { .. } | Config::Memcached { .. } => false,
            Config::Mongodb { .. } | Config::Cassandra { .. } | Config::Handlersocket { .. } => false,
            Config::CacheAside { cache, store } => cache.is_embedded() || store.is_embedded(),
            Config::Spread { .. } => false,
            Config::ResultCache { store, .. } => store.is_embedded(),
        }
    }
}
