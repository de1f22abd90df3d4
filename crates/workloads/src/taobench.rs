//! taobench: the objects and edges of a social graph, as Meta's benchmark has them (Cheng, Shi, Kabcenell and others, "TAOBench: an end-to-end
//! benchmark for social network workloads", VLDB 2022; the parameters of its files `workload_a.json` and `workload_o.json`).

use std::sync::Arc;

use dbdyno_model::{
    Choices, Column, Difference, Failed, Kind, Operation, Operations, Population, Row, RowBuffer, Source, Statement,
    Step, Table, Value, mix,
};

use crate::buffers::{give_back, lent};
use crate::cumulative::{Cumulative, quantile};
use crate::options::Options;
use crate::reach::Insertions;
use crate::weights::{total, weighted};
use crate::{Check, Workload};

const OBJECTS: usize = 0;
const EDGES: usize = 1;

const GET_OBJECT: usize = 0;
const UPDATE_OBJECT: usize = 1;
const ADD_OBJECT: usize = 2;
const GET_EDGE: usize = 3;
const GET_EDGE_RANGE: usize = 4;
const COUNT_EDGES: usize = 5;
const UPDATE_EDGE: usize = 6;
const ADD_EDGE: usize = 7;
const BEGIN: usize = 8;
const BEGIN_READ_ONLY: usize = 9;
const COMMIT: usize = 10;
const KINDS: usize = 11;

const VALUE: Kind = Kind::Varchar(150);
/// Versions are below this: they fit a column of 32 bits.
const VERSIONS: u64 = 1 << 31;
/// Nanoseconds, from the beginning of 2026 on, of a year.
const FIRST_NS: i64 = 1_767_225_600_000_000_000;
const YEAR_NS: u64 = 365 * 24 * 3600 * 1_000_000_000;

/// The types of edges, from 0, with their weights: unique, bidirectional, both, and others.
const TYPES: [(i64, u64); 4] = [(0, 52), (1, 200), (2, 20), (3, 728)];

/// The steps of reads and of writes, with their weights.
const READS: [(usize, u64); 4] = [(GET_OBJECT, 475), (GET_EDGE, 68), (GET_EDGE_RANGE, 376), (COUNT_EDGES, 39)];
const READS_OF_TRANSACTIONS: [(usize, u64); 2] = [(GET_OBJECT, 1), (GET_EDGE, 5)];
const WRITES: [(usize, u64); 4] = [(ADD_OBJECT, 111), (UPDATE_OBJECT, 214), (ADD_EDGE, 10), (UPDATE_EDGE, 380)];

/// How many operations a transaction has.
const SIZES_OF_READS: [(u64, f64); 24] = [
    (1, 0.0),
    (2, 29.4575),
    (3, 46.0592),
    (4, 54.9236),
    (5, 60.6054),
    (6, 64.8914),
    (7, 68.2450),
    (8, 71.0903),
    (9, 72.8620),
    (10, 74.3434),
    (12, 77.4416),
    (15, 79.9628),
    (20, 82.6926),
    (25, 84.5018),
    (30, 85.9319),
    (40, 88.5011),
    (50, 90.2599),
    (75, 93.2147),
    (100, 95.2742),
    (150, 97.1656),
    (200, 98.5397),
    (300, 99.3865),
    (400, 99.7688),
    (500, 100.0),
];
const SIZES_OF_WRITES: [(u64, f64); 14] = [
    (1, 0.0),
    (2, 10.8505),
    (3, 40.3171),
    (4, 75.7029),
    (5, 80.2589),
    (6, 80.8696),
    (7, 92.0783),
    (12, 92.3252),
    (20, 92.5033),
    (21, 97.8923),
    (25, 97.8972),
    (26, 99.9917),
    (40, 99.9975),
    (103, 100.0),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    Read,
    Write,
    ReadTransaction,
    WriteTransaction,
}

/// The requests, by the names of the steps that stand for them.
const REQUESTS: [(Request, &str); 4] = [
    (Request::Read, "read"),
    (Request::Write, "write"),
    (Request::ReadTransaction, "read_transaction"),
    (Request::WriteTransaction, "write_transaction"),
];

/// The weights of the requests.
type Mix = [(usize, u64); 4];
/// The values of the option `mix`, the default first: of one application, and of all.
const MIXES: [(&str, Mix); 2] =
    [("a", [(0, 171), (1, 57), (2, 15), (3, 1)]), ("o", [(0, 8387), (1, 19), (2, 242), (3, 1)])];

#[derive(Clone, Debug)]
pub struct TaoBench {
    rows: u64,
    mix: Mix,
    value: Column,
    insertions: Insertions,
    tables: [Table; 2],
    steps: Vec<Step>,
    statements: Vec<Statement>,
    checks: [Check; 2],
}

/// The item that this number chooses, each as often as its weight says.
fn chosen<T: Copy>(items: &[(T, u64)], number: u64) -> T {
    let weight = |&(_, weight): &(T, u64)| weight;
    items[weighted(items, weight, number % total(items, weight))].0
}

/// The edge that leads from an object: each has one.
#[derive(Clone, Copy, Debug)]
struct Edge {
    id1: u64,
    id2: u64,
    kind: i64,
}

impl Edge {
    fn of(object: u64, rows: u64) -> Self {
        let seed = mix(object);
        Self { id1: object, id2: 1 + seed % rows, kind: chosen(&TYPES, mix(seed)) }
    }

    fn key(&self) -> [Value<'static>; 3] {
        [Value::Int(self.id1 as i64), Value::Int(self.id2 as i64), Value::Int(self.kind)]
    }

    fn timestamp(&self, version: u64) -> Value<'static> {
        Value::Int(FIRST_NS + (mix(mix(self.id1) ^ version) % YEAR_NS) as i64)
    }
}

/// The edges as they are loaded, in version 0.
#[derive(Debug)]
struct Edges {
    rows: u64,
    value: Column,
}

impl Population for Edges {
    fn make(&self, number: u64, out: &mut RowBuffer) {
        let edge = Edge::of(number, self.rows);
        edge.key().into_iter().for_each(|value| out.push(value));
        out.push(edge.timestamp(0));
        self.value.generate(number, 0, out);
        out.push(Value::Int(0));
    }
}

impl TaoBench {
    fn new(rows: u64, mix: Mix) -> Self {
        Self {
            rows,
            mix,
            value: edge_value(),
            insertions: Insertions { last: rows },
            tables: [objects(), edges(rows)],
            steps: steps(),
            statements: statements(),
            checks: checks(rows),
        }
    }

    /// The object and edge that an operation is about: those that were loaded, as often each.
    fn drawn(&self, choices: &mut Choices) -> Edge {
        Edge::of(choices.key(self.rows), self.rows)
    }

    async fn read<O: Operations>(&self, operations: &mut O, step: usize, edge: Edge) -> Result<(), Failed> {
        let [id1, id2, kind] = edge.key();
        match step {
            GET_OBJECT => operations.get(GET_OBJECT, edge.id1).await,
            GET_EDGE => self.read_edge(operations, GET_EDGE, &[id1, id2, kind], edge).await,
            GET_EDGE_RANGE => self.read_edge(operations, GET_EDGE_RANGE, &[id1, kind], edge).await,
            _ => {
                let mut count = 0;
                let mut each = |row: Row<'_>| count = if let Value::Int(n) = row.value(0) { n } else { 0 };
                operations.sql(COUNT_EDGES, &[id1, kind], &mut each).await?;
                operations.verify(COUNT_EDGES, 1, || exactly("edges", 1, count))
            }
        }
    }

    /// Reads the one edge that there is. It is right if all of it is of the version it says it has.
    async fn read_edge<O: Operations>(
        &self,
        operations: &mut O,
        step: usize,
        params: &[Value<'_>],
        edge: Edge,
    ) -> Result<(), Failed> {
        let (mut different, mut scratch) = (None, vec![]);
        let mut each = |row: Row<'_>| different = different.take().or(self.check(edge, row, &mut scratch).err());
        let rows = operations.sql(step, params, &mut each).await?;
        operations.verify(step, rows, || different.map_or_else(|| exactly("edges", 1, rows as i64), Err))
    }

    fn check(&self, edge: Edge, row: Row<'_>, scratch: &mut Vec<u8>) -> Result<(), Box<Difference>> {
        let Value::Int(version) = row.value(3) else {
            return Err(Difference::new("edges.version", "a number", row.value(3)));
        };
        let expected = [Value::Int(edge.id2 as i64), edge.timestamp(version as u64)];
        for (i, name) in [(0, "edges.id2"), (1, "edges.timestamp")] {
            if row.value(i) != expected[i] {
                return Err(Difference::new(name, expected[i], row.value(i)));
            }
        }
        if !self.value.matches(edge.id1, version as u64, row.value(2), scratch) {
            return Err(Difference::new("edges.value", format!("that of version {version}"), row.value(2)));
        }
        Ok(())
    }

    async fn write<O: Operations>(&self, operations: &mut O, step: usize, choices: &mut Choices) -> Result<(), Failed> {
        let (drawn, version) = (self.drawn(choices), choices.below(VERSIONS));
        match step {
            UPDATE_OBJECT => operations.update(UPDATE_OBJECT, drawn.id1, version).await,
            ADD_OBJECT => operations.insert(ADD_OBJECT, self.new_key(choices)).await,
            ADD_EDGE => {
                let edge = Edge::of(self.new_key(choices), self.rows);
                self.write_edge(operations, ADD_EDGE, edge, 0).await
            }
            _ => self.write_edge(operations, UPDATE_EDGE, drawn, version).await,
        }
    }

    /// A key of this client's own.
    fn new_key(&self, choices: &mut Choices) -> u64 {
        let key = self.insertions.key(choices, choices.inserted);
        choices.inserted += 1;
        key
    }

    async fn write_edge<O: Operations>(
        &self,
        operations: &mut O,
        step: usize,
        edge: Edge,
        version: u64,
    ) -> Result<(), Failed> {
        let mut buffer = lent();
        self.value.generate(edge.id1, version, &mut buffer);
        let [id1, id2, kind] = edge.key();
        let (timestamp, number) = (edge.timestamp(version), Value::Int(version as i64));
        let params = [timestamp, buffer.row().value(0), number, id1, id2, kind];
        let done = operations.sql(step, &params, &mut |_| {}).await;
        give_back(buffer);
        let rows = done?;
        operations.verify(step, 0, || exactly("edges written", 1, rows as i64))
    }
}

fn exactly(what: &str, expected: i64, actual: i64) -> Result<(), Box<Difference>> {
    if expected == actual { Ok(()) } else { Err(Difference::new(what, expected, actual)) }
}

fn edge_value() -> Column {
    Column::new("value", VALUE, Source::VersionedLetters { salt: 2 })
}

fn objects() -> Table {
    let columns = vec![
        Column::new("id", Kind::Int, Source::Key),
        Column::new("timestamp", Kind::BigInt, Source::Number { salt: 3, below: u32::MAX }),
        Column::new("value", VALUE, Source::VersionedLetters { salt: 1 }),
        Column::new("version", Kind::Int, Source::Version),
    ];
    Table::new("objects", columns)
}

fn edges(rows: u64) -> Table {
    let columns = [
        ("id1", Kind::BigInt),
        ("id2", Kind::BigInt),
        ("type", Kind::BigInt),
        ("timestamp", Kind::BigInt),
        ("value", VALUE),
        ("version", Kind::Int),
    ];
    let columns = columns.map(|(name, kind)| Column::new(name, kind, Source::Population)).to_vec();
    let population: Arc<dyn Population> = Arc::new(Edges { rows, value: edge_value() });
    Table { primary_key: 3, rows: Some(rows), population: Some(population), ..Table::new("edges", columns) }
}

fn steps() -> Vec<Step> {
    let sql = |statement| Operation::Sql { statement };
    let steps = [
        ("get_object", Operation::Get { table: OBJECTS }),
        ("update_object", Operation::Update { table: OBJECTS }),
        ("add_object", Operation::Insert { table: OBJECTS }),
        ("get_edge", sql(0)),
        ("get_edge_range", sql(1)),
        ("count_edges", sql(2)),
        ("update_edge", sql(3)),
        ("add_edge", sql(4)),
        ("begin", Operation::Begin { read_only: false }),
        ("begin_read_only", Operation::Begin { read_only: true }),
        ("commit", Operation::Commit),
    ];
    let kinds = REQUESTS.map(|(_, name)| (name, Operation::Transaction));
    steps.into_iter().chain(kinds).map(|(name, operation)| Step::new(name, operation)).collect()
}

fn statements() -> Vec<Statement> {
    let columns = [Kind::BigInt, Kind::BigInt, VALUE, Kind::Int];
    let written = [Kind::BigInt, VALUE, Kind::Int, Kind::BigInt, Kind::BigInt, Kind::BigInt];
    let select = "SELECT id2, timestamp, value, version FROM {edges} WHERE";
    let key = [Kind::BigInt; 3];
    vec![
        Statement::new(&format!("{select} id1 = ? AND id2 = ? AND type = ?"), &key, &columns),
        Statement::new(&format!("{select} id1 = ? AND type = ? ORDER BY timestamp DESC"), &key[..2], &columns),
        Statement::new("SELECT COUNT(*) FROM {edges} WHERE id1 = ? AND type = ?", &key[..2], &[Kind::BigInt]),
        Statement::new(
            "UPDATE {edges} SET timestamp = ?, value = ?, version = ? WHERE id1 = ? AND id2 = ? AND type = ?",
            &written,
            &[],
        ),
        Statement::new(
            "INSERT INTO {edges} (timestamp, value, version, id1, id2, type) VALUES (?, ?, ?, ?, ?, ?)",
            &written,
            &[],
        ),
    ]
}

fn checks(rows: u64) -> [Check; 2] {
    let differing = format!(
        "SELECT o.id, COUNT(e.id1) FROM {{objects}} o LEFT JOIN {{edges}} e ON e.id1 = o.id WHERE o.id <= {rows} \
         GROUP BY o.id HAVING COUNT(e.id1) <> 1 LIMIT 100"
    );
    let query = Statement::new(&differing, &[], &[Kind::Int, Kind::BigInt]);
    let what = "loaded objects without their one edge".into();
    [Check::RowsInserted { table: OBJECTS }, Check::FindsNothing { what, query }]
}

/// How many operations a transaction has.
fn size(sizes: &Cumulative, choices: &mut Choices) -> u64 {
    quantile(sizes, (choices.below(1_000_000) as f64 + 0.5) / 10_000.0)
}

impl Workload for TaoBench {
    const NAME: &'static str = "taobench";
    const TRANSACTION: &'static str = "request";

    fn from_options(options: &mut Options<'_>) -> Result<Self, String> {
        Ok(Self::new(options.rows, options.one_of("mix", &MIXES)?))
    }

    fn tables(&self) -> &[Table] {
        &self.tables
    }

    fn steps(&self) -> &[Step] {
        &self.steps
    }

    fn statements(&self) -> &[Statement] {
        &self.statements
    }

    fn checks(&self) -> &[Check] {
        &self.checks
    }

    /// Edges are added by a statement.
    fn growing_tables(&self) -> Vec<usize> {
        vec![OBJECTS, EDGES]
    }

    fn continue_after(&mut self, last: u64) {
        self.insertions = Insertions { last };
    }

    async fn transaction<O: Operations>(&self, operations: &mut O, choices: &mut Choices) -> Result<(), Failed> {
        let drawn = chosen(&self.mix, choices.next_u64());
        operations.kind(KINDS + drawn);
        match REQUESTS[drawn].0 {
            Request::Read => {
                let step = chosen(&READS, choices.next_u64());
                self.read(operations, step, self.drawn(choices)).await
            }
            Request::Write => {
                let step = chosen(&WRITES, choices.next_u64());
                self.write(operations, step, choices).await
            }
            Request::ReadTransaction => {
                operations.control(BEGIN_READ_ONLY).await?;
                for _ in 0..size(&SIZES_OF_READS, choices) {
                    let step = chosen(&READS_OF_TRANSACTIONS, choices.next_u64());
                    self.read(operations, step, self.drawn(choices)).await?;
                }
                operations.control(COMMIT).await
            }
            Request::WriteTransaction => {
                operations.control(BEGIN).await?;
                for _ in 0..size(&SIZES_OF_WRITES, choices) {
                    let step = chosen(&WRITES, choices.next_u64());
                    self.write(operations, step, choices).await?;
                }
                operations.control(COMMIT).await
            }
        }
    }
}

#[cfg(test)]
mod tests;
