//! The `store` object of a plan (docs/contract.md).

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::connection_config::AddressConfig;
use crate::single::SingleConfig;

#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields, remote = "Self")]
pub enum Config {
    /// Any of [`SingleConfig::kinds`].
    #[serde(skip)]
    Single(SingleConfig),
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
        /// Nodes of the kinds `memcached` and `redis`, by their names in the continuum.
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

/// A node of a pool, and its share of the keys. A plan says this beside the keys of its store, whose kind is `memcached` if none is given.
#[derive(Clone, Debug)]
pub struct NodeConfig {
    pub address: AddressConfig,
    pub weight: u64,
    /// True if it is somebody else's: results there are claimed before, and removed after the run.
    pub is_attached: bool,
    pub store: SingleConfig,
}

impl<'de> Deserialize<'de> for NodeConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut object = Map::<String, Value>::deserialize(deserializer)?;
        let kind = object.remove("kind").unwrap_or_else(|| "memcached".into());
        let weight = object.remove("weight").map_or(Ok(1), u64::deserialize).map_err(D::Error::custom)?;
        let is_attached = object.remove("attached").map_or(Ok(false), bool::deserialize).map_err(D::Error::custom)?;
        let address = object.get("address").ok_or_else(|| D::Error::missing_field("address"))?;
        let address = AddressConfig::deserialize(address).map_err(D::Error::custom)?;
        let store = SingleConfig::read(kind.as_str().unwrap_or_default(), Value::Object(object));
        match store.map_err(D::Error::custom)? {
            store @ (SingleConfig::Memcached(_) | SingleConfig::Redis(_)) => {
                Ok(Self { address, weight, is_attached, store })
            }
            other => Err(D::Error::custom(format!("{} keeps no results: use memcached or redis", other.kind()))),
        }
    }
}

const ARRANGEMENTS: [&str; 3] = ["cache-aside", "spread", "result-cache"];

/// The stores have their own list, so they are read by it; arrangements are variants here.
impl<'de> Deserialize<'de> for Config {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut object = Map::<String, Value>::deserialize(deserializer)?;
        let kind =
            object.get("kind").and_then(Value::as_str).ok_or_else(|| D::Error::missing_field("kind"))?.to_owned();
        if ARRANGEMENTS.contains(&&*kind) {
            return Config::deserialize(Value::Object(object)).map_err(D::Error::custom);
        }
        object.remove("kind");
        SingleConfig::read(&kind, Value::Object(object)).map(Config::Single).map_err(D::Error::custom)
    }
}

impl Config {
    /// The word in `kind`.
    pub fn kind(&self) -> &'static str {
        match self {
            Config::Single(single) => single.kind(),
            Config::CacheAside { .. } => "cache-aside",
            Config::Spread { .. } => "spread",
            Config::ResultCache { .. } => "result-cache",
        }
    }

    /// Sockets that one client has: an arrangement's has one to each of its stores.
    pub fn connections(&self) -> u64 {
        match self {
            Config::Single(single) => single.connections(),
            Config::CacheAside { cache, store } => cache.connections() + store.connections(),
            // Its own node, and the one where it reads what it wrote.
            Config::Spread { nodes, .. } => nodes.iter().take(2).map(Config::connections).sum(),
            Config::ResultCache { nodes, store, .. } => nodes.len() as u64 + store.connections(),
        }
    }

    /// Embedded stores run in the client's own thread.
    pub fn is_embedded(&self) -> bool {
        match self {
            Config::Single(single) => single.connections() == 0,
            Config::CacheAside { cache, store } => cache.is_embedded() || store.is_embedded(),
            Config::Spread { .. } => false,
            Config::ResultCache { store, .. } => store.is_embedded(),
        }
    }

    /// A part of this arrangement as a store.
    ///
    /// # Errors
    /// It is an arrangement, too: in words for the user.
    pub fn part<'a>(&self, part: &'a Config) -> Result<&'a SingleConfig, String> {
        match part {
            Config::Single(single) => Ok(single),
            other => Err(format!("{} inside {} is not possible", other.kind(), self.kind())),
        }
    }
}
