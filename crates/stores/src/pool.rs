//! A pool of memcached nodes that keeps results of queries under the text of the query, each on the node that consistent hashing says.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use dbdyno_model::{Dialect, Failure, Operation, Row, Session, Value, write_decimal};
use dbdyno_net::{Address, Reactor, now_ns};
use dbdyno_wire::ketama::Continuum;

use crate::config::{Config, NodeConfig};
use crate::keys::write_digest;
use crate::memcached::{Memcached, MemcachedSession};
use crate::network::Endpoint;
use crate::remapped_keys::{RemappedKeys, RequestedKeys};
use crate::store_config::OpenStore;
use crate::{Administration, Cache, SharedSchema, Trouble, sql};

/// The nodes of the pool over time: the last node can leave, or join, in the middle of a run.
#[derive(Debug)]
pub struct Placement {
    pub first: Continuum,
    /// The next continuum, and the time from which it applies (`now_ns`).
    pub then: Option<(Continuum, u64)>,
    /// The last node's share of all weights.
    last_share: f64,
}

impl Placement {
    /// # Errors
    /// Nobody is left in the pool: in words for the user.
    pub fn new(nodes: &[NodeConfig], leaves_s: Option<f64>, joins_s: Option<f64>) -> Result<Self, String> {
        let fewer = nodes.len().saturating_sub(1);
        let (first, then) = match (leaves_s, joins_s) {
            (None, None) => (nodes.len(), None),
            (Some(at_s), None) => (nodes.len(), Some((fewer, at_s))),
            (None, Some(at_s)) => (fewer, Some((nodes.len(), at_s))),
            (Some(_), Some(_)) => return Err("a node of result-cache leaves or joins: give one of the two".into()),
        };
        let least = then.map_or(first, |(then, _)| first.min(then));
        if nodes[..least].iter().all(|node| node.weight == 0) {
            return Err("result-cache needs a node that stays, with a weight above 0".into());
        }
        let names: Vec<(String, u64)> =
            nodes.iter().map(|node| (Address::from(node.address.clone()).to_string(), node.weight)).collect();
        let of = |count: usize| Continuum::new(names[..count].iter().map(|(name, weight)| (name.as_str(), *weight)));
        let from_ns = |at_s: f64| now_ns() + (at_s * 1e9) as u64;
        let all: u64 = nodes.iter().map(|node| node.weight).sum();
        let last_share = nodes.last().map_or(0.0, |node| node.weight as f64 / all as f64);
        Ok(Self { first: of(first), then: then.map(|(count, at_s)| (of(count), from_ns(at_s))), last_share })
    }

    #[inline]
    fn node(&self, key: &[u8]) -> usize {
        match &self.then {
            Some((then, from_ns)) if now_ns() >= *from_ns => then.node(key),
            _ => self.first.node(key),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Pool {
    pub nodes: Vec<Memcached>,
    pub placement: Arc<Placement>,
    pub expire_s: u32,
    pub schema: SharedSchema,
    /// The keys that were requested, if the pool changes.
    requested_keys: Option<Arc<RequestedKeys>>,
}

impl Pool {
    /// The pool of a `result-cache`; `None` of any other store.
    ///
    /// # Errors
    /// A node's name is not known, or nobody is left in the pool: in words for the user.
    pub fn of(config: &Config, schema: &SharedSchema, timeout_ns: u64) -> Result<Option<Self>, String> {
        let Config::ResultCache { nodes, expire_s, leaves_s, joins_s, .. } = config else { return Ok(None) };
        let placement = Arc::new(Placement::new(nodes, *leaves_s, *joins_s)?);
        let memcached = |node: &NodeConfig| {
            let endpoint = Endpoint::new(node.address.clone().into(), timeout_ns)?;
            Ok::<_, String>(Memcached { endpoint, schema: SharedSchema::clone(schema) })
        };
        let nodes = nodes.iter().map(memcached).collect::<Result<_, _>>()?;
        let requested_keys =
            placement.then.as_ref().map(|_| Arc::new(RequestedKeys::new(schema.steps.len(), schema.rows)));
        Ok(Some(Self { nodes, placement, expire_s: *expire_s, schema: SharedSchema::clone(schema), requested_keys }))
    }

    /// How many of the requested results have another node since the pool changed; `None` if it has not.
    pub fn moved(&self) -> Option<RemappedKeys> {
        let (then, from_ns) = self.placement.then.as_ref()?;
        let requested_keys = self.requested_keys.as_ref().filter(|_| now_ns() >= *from_ns)?;
        let queries: Vec<_> = (0..self.schema.steps.len()).map(|step| query(&self.schema, step)).collect();
        let (mut text, mut key, mut asked, mut moved) = (vec![], vec![], 0, 0);
        for (step, row) in requested_keys.each() {
            write_key(&queries[step], Value::Int(row as i64), &mut text, &mut key);
            asked += 1;
            moved += u64::from(self.placement.first.node(&key) != then.node(&key));
        }
        Some(RemappedKeys { asked, moved, due: asked as f64 * self.placement.last_share })
    }

    pub async fn open(&self, reactor: Option<&Rc<Reactor>>) -> Result<PoolSession, Failure> {
        let mut nodes = Vec::new();
        for node in &self.nodes {
            nodes.push(node.open(reactor).await?);
        }
        let queries = (0..self.schema.steps.len()).map(|step| query(&self.schema, step)).collect();
        let placement = Arc::clone(&self.placement);
        let expiry = format!(" 0 {} ", self.expire_s).into_bytes();
        let (text, key, requested_keys) = (Vec::new(), Vec::new(), self.requested_keys.clone());
        Ok(PoolSession { nodes, placement, queries, expiry, text, key, node: 0, requested_keys })
    }
}

/// The text, up to its value, of the query that a step asks, or that a step which changes a row makes wrong; empty if there is none.
fn query(schema: &SharedSchema, step: usize) -> Vec<u8> {
    let table = schema.steps[step].operation.table();
    let asks = |operation: Operation| matches!(operation, Operation::Get { table: asked } if asked == table);
    let asking = match schema.steps[step].operation {
        Operation::Get { .. } | Operation::Find { .. } => Some(&schema.steps[step]),
        _ => schema.steps.iter().find(|step| asks(step.operation)),
    };
    let text = asking.map(|step| sql::statement(schema, step, Dialect::Mysql)).unwrap_or_default();
    text.trim_end_matches('?').as_bytes().to_vec()
}

/// Replaces `key` by what the result of a query with this value is filed under; `text` is overwritten.
#[inline]
fn write_key(query: &[u8], value: Value<'_>, text: &mut Vec<u8>, key: &mut Vec<u8>) {
    text.clear();
    text.extend_from_slice(query);
    match value {
        Value::Int(n) => write_decimal(n.unsigned_abs(), text),
        Value::Text(value) => text.extend_from_slice(value),
        Value::Null => {}
    }
    write_digest(text, key);
}

pub struct PoolSession {
    nodes: Vec<MemcachedSession>,
    placement: Arc<Placement>,
    /// One entry for each step.
    queries: Vec<Vec<u8>>,
    /// Flags and time to live, as a `set` has them.
    expiry: Vec<u8>,
    text: Vec<u8>,
    key: Vec<u8>,
    /// The node that answered last.
    node: usize,
    requested_keys: Option<Arc<RequestedKeys>>,
}

impl PoolSession {
    /// Makes the key of a query with this value, and finds its node.
    #[inline]
    fn route(&mut self, step: usize, value: Value<'_>) {
        write_key(&self.queries[step], value, &mut self.text, &mut self.key);
        self.node = self.placement.node(&self.key);
    }
}

impl Session for PoolSession {
    #[inline]
    async fn get(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
        if let Some(requested_keys) = &self.requested_keys {
            requested_keys.mark(step, key);
        }
        self.find(step, Value::Int(key as i64)).await
    }

    #[inline]
    async fn find(&mut self, step: usize, value: Value<'_>) -> Result<bool, Failure> {
        self.route(step, value);
        self.nodes[self.node].read_under(step, &self.key).await
    }

    async fn update(&mut self, _: usize, _: u64, _: u64) -> Result<bool, Failure> {
        Err(Failure::Server("a cache of results cannot update".into()))
    }

    async fn add(&mut self, _: usize, _: u64, _: i64) -> Result<bool, Failure> {
        Err(Failure::Server("a cache of results cannot add".into()))
    }

    #[inline]
    fn row(&self) -> Row<'_> {
        self.nodes[self.node].row()
    }
}

impl Cache for PoolSession {
    async fn fill(&mut self, step: usize, filed: Value<'_>, row: Row<'_>) -> Result<(), Failure> {
        self.route(step, filed);
        self.nodes[self.node].store_under(&self.key, &self.expiry, row).await
    }

    /// Removes nothing if results expire by themselves.
    async fn forget(&mut self, step: usize, key: u64) -> Result<(), Failure> {
        if self.expiry != b" 0 0 " || self.queries[step].is_empty() {
            return Ok(());
        }
        self.route(step, Value::Int(key as i64));
        self.nodes[self.node].delete_under(&self.key).await
    }
}

/// Results have keys that only who asked the query can know, so every node is dbdyno's own and carries no marker.
impl Administration for PoolSession {
    async fn load(&mut self, _: usize, _: Range<u64>) -> Result<(), Trouble> {
        Err(Trouble::Refused("a cache of results is not loaded".into()))
    }

    fn loads_by(&self) -> &'static str {
        "nothing"
    }

    async fn present(&mut self, _: usize, _: Range<u64>) -> Result<Option<u64>, Trouble> {
        Ok(None)
    }

    async fn count(&mut self, _: usize) -> Result<Option<u64>, Trouble> {
        Ok(None)
    }

    async fn sum(&mut self, _: usize, _: usize) -> Result<Option<i128>, Trouble> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use dbdyno_model::{Column, Kind, Source, Step, Table};

    use super::*;
    use crate::Schema;

    fn pool(change: &str) -> Pool {
        let node = |port: u16| format!(r#"{{"address": {{"host": "127.0.0.1", "port": {port}}}, "weight": 1}}"#);
        let nodes = [1, 2, 3, 4].map(node).join(", ");
        let store = r#"{"kind": "memcached", "address": {"host": "127.0.0.1", "port": 5}}"#;
        let config = format!(r#"{{"kind": "result-cache", "nodes": [{nodes}], "store": {store}{change}}}"#);
        let tables = vec![Table::new("t", vec![Column::new("id", Kind::Int, Source::Key)])];
        let steps = vec![Step::new("get", Operation::Get { table: 0 })];
        let schema = Arc::new(Schema { tables, steps, statements: vec![], rows: 10_000 });
        Pool::of(&serde_json::from_str(&config).unwrap(), &schema, 1).unwrap().unwrap()
    }

    #[test]
    fn keys_that_were_asked_for_are_counted_with_those_that_moved() {
        for change in [r#", "joins_s": 0"#, r#", "leaves_s": 0"#] {
            let pool = pool(change);
            (1..=8000).for_each(|key| pool.requested_keys.as_ref().unwrap().mark(0, key));
            let keys = pool.moved().unwrap();
            assert_eq!((keys.asked, keys.due), (8000, 2000.0));
            assert!((1600..2400).contains(&keys.moved), "{keys:?}");
        }
        assert!(pool(r#", "leaves_s": 1000"#).moved().is_none(), "not yet");
        assert!(pool("").moved().is_none());
    }
}
