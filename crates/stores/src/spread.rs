//! Spread: several nodes that each hold all rows, as those of one cluster do. A client does everything at its own node, but for what is to
//! be read elsewhere. Administration is the first node's, and what is counted must be the same at every node.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use dbdyno_model::{Failure, Operation, Row, Session, Statement, Value};
use dbdyno_net::Reactor;
use dbdyno_wire::TextRows;

use crate::single::{Single, SingleSession};
use crate::{Administration, Cleaning, QueryPlan, Schema, Trouble};

/// Returns the steps that read at another node than the client's own, and the schema in which they read at the node they are sent to.
pub fn elsewhere(schema: Schema) -> (Arc<[bool]>, Schema) {
    let is_elsewhere = schema.steps.iter().map(|step| matches!(step.operation, Operation::GetElsewhere { .. }));
    let (places, mut schema) = (is_elsewhere.collect(), schema.clone());
    for step in &mut schema.steps {
        if let Operation::GetElsewhere { table } = step.operation {
            step.operation = Operation::Get { table };
        }
    }
    (places, schema)
}

/// Nodes that each hold all rows, which steps are for another node than the client's own, and among how many clients are divided.
pub struct Spread {
    pub nodes: Vec<Single>,
    pub elsewhere: Arc<[bool]>,
    pub own_nodes: usize,
}

impl Spread {
    /// The only node that a client asks; `None` if it also reads elsewhere. Without the others it costs what one node costs.
    pub fn own_node_alone(&self, client: u64) -> Option<&Single> {
        (!self.elsewhere.contains(&true)).then(|| &self.nodes[self.own(client)])
    }

    pub async fn open_for(&self, client: u64, reactor: Option<&Rc<Reactor>>) -> Result<SpreadSession, Failure> {
        self.open(self.own(client), 2, reactor).await
    }

    pub async fn open_all(&self, reactor: Option<&Rc<Reactor>>) -> Result<SpreadSession, Failure> {
        self.open(0, self.nodes.len(), reactor).await
    }

    fn own(&self, client: u64) -> usize {
        client as usize % self.own_nodes
    }

    async fn open(&self, first: usize, count: usize, reactor: Option<&Rc<Reactor>>) -> Result<SpreadSession, Failure> {
        let mut sessions = Vec::with_capacity(count);
        for node in self.nodes.iter().cycle().skip(first).take(count) {
            sessions.push(node.open(reactor).await?);
        }
        Ok(SpreadSession::new(sessions, Arc::clone(&self.elsewhere)))
    }
}

/// Sessions with a client's own node and with the next one; for administration with every node, the first one first.
pub struct SpreadSession {
    nodes: Vec<SingleSession>,
    elsewhere: Arc<[bool]>,
    /// The node that read the last row.
    read_at: usize,
}

impl SpreadSession {
    pub fn new(nodes: Vec<SingleSession>, elsewhere: Arc<[bool]>) -> Self {
        Self { nodes, elsewhere, read_at: 0 }
    }

    #[inline]
    fn own(&mut self) -> &mut SingleSession {
        self.read_at = 0;
        &mut self.nodes[0]
    }

    fn first(&mut self) -> &mut SingleSession {
        &mut self.nodes[0]
    }

    /// Has each node wait for what the others have acknowledged before it answers. Galera alone needs that, and knows how.
    async fn catch_up(&mut self) -> Result<(), Trouble> {
        for node in &mut self.nodes {
            if let SingleSession::Mysql(session) = node {
                session.read_what_is_acknowledged().await?;
            }
        }
        Ok(())
    }
}

/// The answer of all nodes, or how they differ.
fn agreed<T: PartialEq + Copy + std::fmt::Display>(answers: &[Option<T>]) -> Result<Option<T>, Trouble> {
    let Some((first, others)) = answers.split_first() else { return Ok(None) };
    if others.iter().all(|other| other == first) {
        return Ok(*first);
    }
    let said = |n: &Option<T>| n.map_or("nothing".to_string(), |n| n.to_string());
    let said = answers.iter().map(said).collect::<Vec<_>>().join(", ");
    Err(Trouble::Failed(Failure::Mismatch(format!("the nodes hold different rows; counts by node: {said}"))))
}

impl Session for SpreadSession {
    #[inline]
    async fn get(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
        self.read_at = usize::from(self.elsewhere[step]);
        self.nodes[self.read_at].get(step, key).await
    }

    async fn find(&mut self, step: usize, value: Value<'_>) -> Result<bool, Failure> {
        self.own().find(step, value).await
    }

    async fn update(&mut self, step: usize, key: u64, version: u64) -> Result<bool, Failure> {
        self.own().update(step, key, version).await
    }

    async fn add(&mut self, step: usize, key: u64, delta: i64) -> Result<bool, Failure> {
        self.own().add(step, key, delta).await
    }

    async fn insert(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
        self.own().insert(step, key).await
    }

    async fn put(&mut self, step: usize, key: u64, version: u64) -> Result<(), Failure> {
        self.own().put(step, key, version).await
    }

    async fn delete(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
        self.own().delete(step, key).await
    }

    async fn scan(&mut self, step: usize, first: u64, most: u64, each: &mut dyn FnMut(Row<'_>)) -> Result<(), Failure> {
        self.own().scan(step, first, most, each).await
    }

    async fn control(&mut self, step: usize) -> Result<(), Failure> {
        self.own().control(step).await
    }

    async fn quit(&mut self) {
        for node in &mut self.nodes {
            node.quit().await;
        }
    }

    async fn abandon(&mut self) -> Result<(), Failure> {
        self.own().abandon().await
    }

    async fn sql(&mut self, step: usize, params: &[Value<'_>], each: &mut dyn FnMut(Row<'_>)) -> Result<u64, Failure> {
        self.own().sql(step, params, each).await
    }

    async fn get_many(
        &mut self,
        step: usize,
        keys: &[u64],
        each: &mut dyn FnMut(usize, Option<Row<'_>>),
    ) -> Result<(), Failure> {
        self.own().get_many(step, keys, each).await
    }

    #[inline]
    fn row(&self) -> Row<'_> {
        self.nodes[self.read_at].row()
    }
}

impl Administration for SpreadSession {
    async fn prepare(&mut self, marker: &str) -> Result<(), Trouble> {
        self.first().prepare(marker).await
    }

    async fn load(&mut self, table: usize, keys: Range<u64>) -> Result<(), Trouble> {
        self.first().load(table, keys).await
    }

    fn loads_by(&self) -> &'static str {
        self.nodes[0].loads_by()
    }

    async fn present(&mut self, table: usize, keys: Range<u64>) -> Result<Option<u64>, Trouble> {
        self.first().present(table, keys).await
    }

    async fn index(&mut self, table: usize) -> Result<(), Trouble> {
        self.first().index(table).await
    }

    async fn settle(&mut self, table: usize) -> Result<(), Trouble> {
        self.first().settle(table).await
    }

    async fn count(&mut self, table: usize) -> Result<Option<u64>, Trouble> {
        self.catch_up().await?;
        let mut answers = vec![];
        for node in &mut self.nodes {
            answers.push(node.count(table).await?);
        }
        agreed(&answers)
    }

    async fn count_by_index(&mut self, table: usize, index: usize) -> Result<Option<u64>, Trouble> {
        self.catch_up().await?;
        let mut answers = vec![];
        for node in &mut self.nodes {
            answers.push(node.count_by_index(table, index).await?);
        }
        agreed(&answers)
    }

    async fn last_key(&mut self, table: usize) -> Result<Option<u64>, Trouble> {
        self.catch_up().await?;
        self.first().last_key(table).await
    }

    async fn remove_rows(&mut self, table: usize) -> Result<(), Trouble> {
        self.first().remove_rows(table).await
    }

    async fn ask(&mut self, query: &Statement) -> Result<TextRows, Trouble> {
        self.catch_up().await?;
        self.first().ask(query).await
    }

    async fn query_plan(&mut self, step: usize) -> Result<Option<QueryPlan>, Trouble> {
        self.first().query_plan(step).await
    }

    async fn sum(&mut self, table: usize, column: usize) -> Result<Option<i128>, Trouble> {
        self.catch_up().await?;
        let mut answers = vec![];
        for node in &mut self.nodes {
            answers.push(node.sum(table, column).await?);
        }
        agreed(&answers)
    }

    async fn marker(&mut self) -> Result<Option<String>, Trouble> {
        self.first().marker().await
    }

    async fn remove(&mut self, cleaning: Cleaning) -> Result<Vec<String>, Trouble> {
        self.first().remove(cleaning).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capabilities::tests::{MEMCACHED, refusal};

    const NODE: &str = r#"{"kind": "mysql", "address": {"host": "127.0.0.1", "port": 1}, "user": "u", "password": null, "database": "d"}"#;

    #[test]
    fn only_among_several_nodes_can_be_read_elsewhere() {
        let get = Operation::GetElsewhere { table: 0 };
        assert_eq!(refusal(NODE, get).unwrap(), "mysql cannot do the step s: get-elsewhere on bm");
        let spread = |nodes: &str| format!(r#"{{"kind": "spread", "nodes": [{nodes}]}}"#);
        assert_eq!(refusal(&spread(&format!("{NODE}, {NODE}")), get), None);
        assert!(refusal(&spread(NODE), get).unwrap().contains("at least two"));
        assert!(refusal(&spread(&format!("{NODE}, {MEMCACHED}")), get).unwrap().contains("memcached cannot be a node"));
        let inside = format!("{NODE}, {}", spread(NODE));
        assert!(refusal(&spread(&inside), get).unwrap().contains("spread cannot be a node"));
        let idle = spread(&format!("{NODE}, {NODE}")).replace("\"nodes\"", "\"own_nodes\": 3, \"nodes\"");
        assert!(refusal(&idle, get).unwrap().contains("own_nodes"));
    }

    #[test]
    fn nodes_that_differ_are_said_to() {
        assert_eq!(agreed(&[Some(3), Some(3)]), Ok(Some(3)));
        assert_eq!(agreed::<u64>(&[None, None]), Ok(None));
        let Err(Trouble::Failed(Failure::Mismatch(said))) = agreed(&[Some(3), Some(2), None]) else { panic!() };
        assert!(said.ends_with("3, 2, nothing"), "{said}");
    }
}
