//! A pool of nodes that keeps results of queries under the text of the query, each on the node that consistent hashing says.

use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use dbdyno_model::{Failure, Row, Session, Value};
use dbdyno_net::{Address, Reactor, now_ns};
use dbdyno_wire::ketama::Continuum;

use crate::config::{Config, NodeConfig};
use crate::pool_node::{Expiry, NodeSession};
use crate::remapped_keys::{RemappedKeys, RequestedKeys};
use crate::result_query::ResultQuery;
use crate::single::Single;
use crate::store_config::Context;
use crate::{Administration, Cache, Claim, Cleaning, SharedSchema, Trouble, Withdrawn};

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

pub struct Pool {
    nodes: Vec<Single>,
    /// By node: true if it is somebody else's, and so has claims.
    are_attached: Arc<[bool]>,
    schema: SharedSchema,
    placement: Arc<Placement>,
    expiry: Arc<Expiry>,
    /// The query of each step.
    queries: Queries,
    /// The keys that were requested, if the pool changes.
    requested_keys: Option<Arc<RequestedKeys>>,
}

/// By step; `None` for one that neither asks a query nor changes the rows of one.
type Queries = Arc<[Option<ResultQuery>]>;

impl Pool {
    /// The pool of a `result-cache`; `None` of any other store.
    ///
    /// # Errors
    /// A node's name is not known, or nobody is left in the pool: in words for the user.
    pub fn of(config: &Config, context: &Context<'_>) -> Result<Option<Self>, String> {
        let Config::ResultCache { nodes, expire_s, leaves_s, joins_s, .. } = config else { return Ok(None) };
        let (schema, placement) = (context.schema, Arc::new(Placement::new(nodes, *leaves_s, *joins_s)?));
        let requested_keys =
            placement.then.as_ref().map(|_| Arc::new(RequestedKeys::new(schema.steps.len(), schema.rows)));
        Ok(Some(Self {
            nodes: nodes.iter().map(|node| node.store.store(context)).collect::<Result<_, _>>()?,
            are_attached: nodes.iter().map(|node| node.is_attached).collect(),
            schema: context.schema(),
            placement,
            expiry: Arc::new(Expiry::new(*expire_s)),
            queries: (0..schema.steps.len()).map(|step| ResultQuery::of(schema, step)).collect(),
            requested_keys,
        }))
    }

    /// How many of the requested results have another node since the pool changed; `None` if it has not.
    pub fn moved(&self) -> Option<RemappedKeys> {
        let (then, from_ns) = self.placement.then.as_ref()?;
        let requested_keys = self.requested_keys.as_ref().filter(|_| now_ns() >= *from_ns)?;
        let (mut text, mut key, mut asked, mut moved) = (vec![], vec![], 0, 0);
        for (step, row) in requested_keys.each() {
            let Some(query) = &self.queries[step] else { continue };
            query.write_key(Value::Int(row as i64), &mut text, &mut key);
            asked += 1;
            moved += u64::from(self.placement.first.node(&key) != then.node(&key));
        }
        Some(RemappedKeys { asked, moved, due: asked as f64 * self.placement.last_share })
    }

    pub async fn open(&self, reactor: Option<&Rc<Reactor>>) -> Result<PoolSession, Failure> {
        let mut nodes = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            nodes.push(NodeSession::new(node.open(reactor).await?)?);
        }
        let (placement, expiry) = (Arc::clone(&self.placement), Arc::clone(&self.expiry));
        let (queries, requested_keys) = (Arc::clone(&self.queries), self.requested_keys.clone());
        let (are_attached, schema) = (Arc::clone(&self.are_attached), SharedSchema::clone(&self.schema));
        let (text, key, node) = (vec![], vec![], 0);
        Ok(PoolSession { nodes, are_attached, schema, placement, expiry, queries, requested_keys, text, key, node })
    }
}

pub struct PoolSession {
    nodes: Vec<NodeSession>,
    are_attached: Arc<[bool]>,
    schema: SharedSchema,
    placement: Arc<Placement>,
    expiry: Arc<Expiry>,
    queries: Queries,
    requested_keys: Option<Arc<RequestedKeys>>,
    text: Vec<u8>,
    key: Vec<u8>,
    /// The node that answered last.
    node: usize,
}

impl PoolSession {
    /// Makes the key of a query with this value and finds its node; `None` for a step without a query.
    #[inline]
    fn route(&mut self, step: usize, value: Value<'_>) -> Option<(&ResultQuery, &mut NodeSession, &[u8])> {
        let query = self.queries[step].as_ref()?;
        query.write_key(value, &mut self.text, &mut self.key);
        self.node = self.placement.node(&self.key);
        Some((query, &mut self.nodes[self.node], &self.key))
    }

    /// The nodes that are somebody else's.
    fn attached(&mut self) -> impl Iterator<Item = &mut NodeSession> {
        self.nodes.iter_mut().zip(&*self.are_attached).filter_map(|(node, is_attached)| is_attached.then_some(node))
    }

    #[inline]
    fn mark(&self, step: usize, key: u64) {
        if let Some(requested_keys) = &self.requested_keys {
            requested_keys.mark(step, key);
        }
    }
}

impl Session for PoolSession {
    #[inline]
    async fn get(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
        self.mark(step, key);
        self.find(step, Value::Int(key as i64)).await
    }

    #[inline]
    async fn find(&mut self, step: usize, value: Value<'_>) -> Result<bool, Failure> {
        let Some((query, node, key)) = self.route(step, value) else { return Ok(false) };
        node.read_under(&query.answer, key).await
    }

    /// Reads the sums of the range that begins with the first parameter; 0 rows: they are not kept.
    #[inline]
    async fn sql(&mut self, step: usize, params: &[Value<'_>], each: &mut dyn FnMut(Row<'_>)) -> Result<u64, Failure> {
        let Some(&Value::Int(first)) = params.first() else { return Ok(0) };
        if !self.get(step, first.unsigned_abs()).await? {
            return Ok(0);
        }
        each(self.row());
        Ok(1)
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
        let expiry = Arc::clone(&self.expiry);
        let Some((_, node, key)) = self.route(step, filed) else { return Ok(()) };
        node.store_under(key, &expiry, row).await
    }

    /// Removes nothing if results expire by themselves.
    async fn forget(&mut self, step: usize, key: u64) -> Result<(), Failure> {
        if self.expiry.seconds.is_some() {
            return Ok(());
        }
        let Some((_, node, key)) = self.route(step, Value::Int(key as i64)) else { return Ok(()) };
        node.delete_under(key).await
    }
}

/// The claim of a table's results: that of its rows, with a word more.
fn of_results(claim: &str) -> String {
    format!(r#"{},"results":true}}"#, claim.strip_suffix('}').unwrap_or(claim))
}

/// A node of dbdyno's own begins empty and ends with the trial, so only attached ones carry claims.
impl Administration for PoolSession {
    async fn claim(&mut self, claims: &[String]) -> Result<(), Trouble> {
        let schema = SharedSchema::clone(&self.schema);
        let tables = 0..schema.tables.len();
        let queries: Vec<ResultQuery> = tables.flat_map(|table| ResultQuery::all(&schema, table)).collect();
        for node in self.attached() {
            for query in &queries {
                node.refuse_results(query).await?;
            }
        }
        self.renew(claims).await
    }

    async fn renew(&mut self, claims: &[String]) -> Result<(), Trouble> {
        let claims: Vec<String> = claims.iter().map(|claim| of_results(claim)).collect();
        for node in self.attached() {
            node.renew(&claims).await?;
        }
        Ok(())
    }

    async fn claims(&mut self) -> Result<Vec<String>, Trouble> {
        let mut claims = BTreeSet::new();
        for node in self.attached() {
            claims.extend(node.claims().await?);
        }
        Ok(claims.into_iter().collect())
    }

    async fn withdraw(&mut self, claim: &Claim, cleaning: Cleaning) -> Result<Withdrawn, Trouble> {
        let mut withdrawn = Withdrawn::default();
        for node in self.attached() {
            if node.claims().await?.contains(&claim.text) {
                withdrawn.extend(node.withdraw(claim, cleaning).await?);
            }
        }
        Ok(withdrawn)
    }

    async fn cannot_know(&mut self) -> Result<Option<String>, Trouble> {
        for node in self.attached() {
            if let Some(sentence) = node.cannot_know().await? {
                return Ok(Some(sentence));
            }
        }
        Ok(None)
    }

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
    use dbdyno_model::{Column, Kind, Operation, Source, Step, Table};

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
        let context = Context { secrets: &[], schema: &schema, timeout_ns: 1 };
        Pool::of(&serde_json::from_str(&config).unwrap(), &context).unwrap().unwrap()
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
