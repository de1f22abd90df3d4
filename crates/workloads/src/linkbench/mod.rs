//! linkbench: the social graph of Facebook as its benchmark has it (Armstrong, Ponnekanti, Borthakur and Callaghan, "LinkBench: a database
//! benchmark based on the Facebook social graph", SIGMOD 2013; the parameters of `config/FBWorkload.properties`).
//!
//! Nodes are read and written by their keys. Links have statements of their own, and their numbers are kept beside them.

mod graph;
mod statements;

use std::sync::Arc;

use dbdyno_model::{
    Choices, Column, Difference, Failed, Index, Kind, Operations, Population, Row, Sizes, Source, Statement, Step,
    Table, Value,
};

use crate::access::Zipf;
use crate::buffers::{give_back, lent};
use crate::options::Options;
use crate::reach::Insertions;
use crate::weights::weighted;
use crate::{Access, Check, Workload};
use graph::{Counts, Degrees, Link, Links, SIGMA, TYPES, VERSIONS, VISIBLE, link_data};
use statements::{
    ADD_NODE, BEGIN, COMMIT, COUNT_DOWN, COUNT_LINKS, COUNT_UP, DELETE_NODE, GET_LINK, GET_LINK_LIST, GET_NODE,
    HIDE_LINK, INSERT_LINK, KINDS, REVIVE_LINK, UPDATE_LINK, UPDATE_NODE,
};

const NODE: usize = 0;

const NODE_DATA_WIDTH: u16 = 8000;
const NODE_DATA_MEDIAN: f64 = 128.0;

/// The most links that a list has.
const LONGEST_LIST: u64 = 10_000;

/// How likely it is that a link is there that is read, written anew, added, or deleted (`ID2Chooser` of LinkBench).
const READ_EXISTS: f64 = 0.5;
const UPDATE_EXISTS: f64 = 0.9;
const ADD_EXISTS: f64 = 0.05;
const DELETE_EXISTS: f64 = 0.9;

/// Zipf's exponents.
const LINK_READS: f64 = 0.8;
const LINK_WRITES: f64 = 0.741;
const NODE_READS: f64 = 0.625;
const NODE_UPDATES: f64 = 0.606;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    GetLinkList,
    GetNode,
    AddLink,
    UpdateLink,
    UpdateNode,
    CountLinks,
    DeleteLink,
    AddNode,
    DeleteNode,
    GetLink,
}

/// The operations, by the steps that stand for them, with their shares in ten millionths of a percent.
const MIX: [(Operation, &str, u64); 10] = [
    (Operation::GetLinkList, "getlinklist", 507_119_145),
    (Operation::GetNode, "getnode", 129_326_683),
    (Operation::AddLink, "addlink", 89_886_601),
    (Operation::UpdateLink, "updatelink", 80_122_125),
    (Operation::UpdateNode, "updatenode", 73_664_370),
    (Operation::CountLinks, "countlink", 48_863_567),
    (Operation::DeleteLink, "deletelink", 29_907_664),
    (Operation::AddNode, "addnode", 25_732_789),
    (Operation::DeleteNode, "deletenode", 10_115_914),
    (Operation::GetLink, "getlink", 5_261_142),
];
const ALL: u64 = 1_000_000_000;

/// How nodes are chosen.
#[derive(Clone, Copy, Debug)]
struct Accesses {
    link_reads: Access,
    link_writes: Access,
    node_reads: Access,
    node_updates: Access,
}

#[derive(Clone, Debug)]
pub struct LinkBench {
    nodes: u64,
    accesses: Accesses,
    degrees: Arc<Degrees>,
    link_data: Column,
    insertions: Insertions,
    tables: [Table; 3],
    steps: Vec<Step>,
    statements: Vec<Statement>,
    checks: [Check; 2],
}

impl LinkBench {
    pub fn new(nodes: u64) -> Self {
        let degrees = Arc::new(Degrees::new());
        let zipf = |exponent| Access::Scrambled(Zipf::new(nodes, exponent));
        let accesses = Accesses {
            link_reads: zipf(LINK_READS),
            link_writes: zipf(LINK_WRITES),
            node_reads: zipf(NODE_READS),
            node_updates: zipf(NODE_UPDATES),
        };
        Self {
            nodes,
            accesses,
            link_data: link_data(),
            insertions: Insertions { last: nodes },
            tables: [node(), link(nodes, &degrees), link_count(nodes, &degrees)],
            degrees,
            steps: statements::steps(&MIX.map(|(_, name, _)| name)),
            statements: statements::statements(link_data().kind),
            checks: checks(),
        }
    }

    /// A link of this node and type that was loaded with this probability.
    fn link(&self, id1: u64, exists: f64, choices: &mut Choices) -> Link {
        let kind = choices.below(TYPES);
        let links = self.degrees.of_type(id1, kind);
        let range = ((links as f64 / exists).ceil() as u64).max(1);
        Link { id1, kind, id2: id1 + choices.below(range) }
    }

    fn read_link(&self, exists: f64, choices: &mut Choices) -> Link {
        self.link(self.accesses.link_reads.key(choices, self.nodes), exists, choices)
    }

    fn written_link(&self, exists: f64, choices: &mut Choices) -> Link {
        self.link(self.accesses.link_writes.key(choices, self.nodes), exists, choices)
    }

    /// Reads the visible links of a node, those of the latest time first.
    async fn get_link_list<O: Operations>(&self, operations: &mut O, link: Link) -> Result<(), Failed> {
        let (mut different, mut scratch, mut earlier) = (None, vec![], i64::MAX);
        let mut each = |row: Row<'_>| {
            different = different.take().or_else(|| self.check_link(link, row, &mut scratch).err());
            match row.value(2) {
                Value::Int(time) if time <= earlier => earlier = time,
                time => different = different.take().or_else(|| Some(Difference::new("link.time", earlier, time))),
            }
        };
        let rows = operations.sql(GET_LINK_LIST, &[link.id1(), link.link_type()], &mut each).await?;
        operations.verify(GET_LINK_LIST, rows, || at_most(LONGEST_LIST, rows, different))
    }

    async fn get_link<O: Operations>(&self, operations: &mut O, link: Link) -> Result<(), Failed> {
        let (mut different, mut scratch) = (None, vec![]);
        let mut each = |row: Row<'_>| different = self.check_link(link, row, &mut scratch).err();
        let rows = operations.sql(GET_LINK, &[link.id1(), link.link_type(), link.id2()], &mut each).await?;
        operations.verify(GET_LINK, rows, || at_most(1, rows, different))
    }

    /// A link is right if it is whole: its data and its time are of the version it says it has.
    fn check_link(&self, asked: Link, row: Row<'_>, scratch: &mut Vec<u8>) -> Result<(), Box<Difference>> {
        let (Value::Int(id2), Value::Int(version)) = (row.value(0), row.value(3)) else {
            return Err(Difference::new("link.id2", "a number", row.value(0)));
        };
        let link = Link { id2: id2 as u64, ..asked };
        if !self.link_data.matches(link.seed(), version as u64, row.value(1), scratch) {
            return Err(Difference::new("link.data", format!("that of version {version}"), row.value(1)));
        }
        if row.value(2) != link.time(version as u64) {
            return Err(Difference::new("link.time", link.time(version as u64), row.value(2)));
        }
        Ok(())
    }

    /// Inserts a link, or writes one that is there anew, and counts it if it was not there or hidden.
    async fn write_link<O: Operations>(&self, operations: &mut O, link: Link, version: u64) -> Result<(), Failed> {
        let mut buffer = lent();
        self.link_data.generate(link.seed(), version, &mut buffer);
        let done = self.write_data(operations, link, version, buffer.row().value(0)).await;
        give_back(buffer);
        done
    }

    async fn write_data<O: Operations>(
        &self,
        operations: &mut O,
        link: Link,
        version: u64,
        data: Value<'_>,
    ) -> Result<(), Failed> {
        let (time, number) = (link.time(version), Value::Int(version as i64));
        let [link_type, id1, id2] = [link.link_type(), link.id1(), link.id2()];
        operations.control(BEGIN).await?;
        let new = [link_type, id1, id2, Value::Int(VISIBLE), data, time, number];
        let changed = [data, time, number, link_type, id1, id2];
        let is_counted =
            write(operations, INSERT_LINK, &new).await? || write(operations, REVIVE_LINK, &changed).await?;
        if is_counted {
            write(operations, COUNT_UP, &[id1, link_type, time]).await?;
        } else if !write(operations, UPDATE_LINK, &changed).await? {
            return Err(operations.conflict(UPDATE_LINK, "the link is hidden: another transaction has hidden it"));
        }
        operations.control(COMMIT).await
    }

    async fn delete_link<O: Operations>(&self, operations: &mut O, link: Link) -> Result<(), Failed> {
        let [link_type, id1, id2] = [link.link_type(), link.id1(), link.id2()];
        operations.control(BEGIN).await?;
        if write(operations, HIDE_LINK, &[link_type, id1, id2]).await? {
            let is_counted = write(operations, COUNT_DOWN, &[id1, link_type]).await?;
            operations.verify(COUNT_DOWN, 0, || {
                if is_counted { Ok(()) } else { Err(Difference::new("numbers of links written", 1, 0)) }
            })?;
        }
        operations.control(COMMIT).await
    }

    async fn count_links<O: Operations>(&self, operations: &mut O, link: Link) -> Result<(), Failed> {
        let mut least = 0;
        let mut each = |row: Row<'_>| least = if let Value::Int(links) = row.value(0) { links } else { -1 };
        let rows = operations.sql(COUNT_LINKS, &[link.id1(), link.link_type()], &mut each).await?;
        operations.verify(COUNT_LINKS, rows, || {
            let different = (least < 0).then(|| Difference::new("linkcount.links", "0 or more", least));
            at_most(1, rows, different)
        })
    }
}

/// Returns whether a row was written.
async fn write<O: Operations>(operations: &mut O, step: usize, values: &[Value<'_>]) -> Result<bool, Failed> {
    operations.sql(step, values, &mut |_| {}).await.map(|rows| rows > 0)
}

/// The first row that differs, or else too many rows.
fn at_most(most: u64, rows: u64, different: Option<Box<Difference>>) -> Result<(), Box<Difference>> {
    match different {
        Some(difference) => Err(difference),
        None if rows > most => Err(Difference::new("links", format!("at most {most}"), rows)),
        None => Ok(()),
    }
}

fn node() -> Table {
    let sizes = Sizes::LogNormal { median: NODE_DATA_MEDIAN, sigma: SIGMA };
    let data = Column::new("data", Kind::Varchar(NODE_DATA_WIDTH), Source::VersionedLetters { salt: 4 });
    let columns = vec![
        Column::new("id", Kind::Int, Source::Key),
        Column::new("type", Kind::Int, Source::Linear { first: 2048, step: 0 }),
        Column::new("version", Kind::Int, Source::Version),
        Column::new("time", Kind::Int, Source::Number { salt: 3, below: i32::MAX as u32 }),
        data.sized(sizes),
    ];
    Table { is_volatile: true, ..Table::new("node", columns) }
}

fn populated(name: &str, rows: u64, rule: Arc<dyn Population>, columns: &[(&str, Kind)]) -> Table {
    let columns = columns.iter().map(|&(name, kind)| Column::new(name, kind, Source::Population)).collect();
    Table { rows: Some(rows), population: Some(rule), ..Table::new(name, columns) }
}

fn link(nodes: u64, degrees: &Arc<Degrees>) -> Table {
    let columns = [
        ("link_type", Kind::BigInt),
        ("id1", Kind::BigInt),
        ("id2", Kind::BigInt),
        ("visibility", Kind::TinyInt),
        ("data", link_data().kind),
        ("time", Kind::BigInt),
        ("version", Kind::Int),
    ];
    let links = Links { degrees: Arc::clone(degrees), data: link_data() };
    // The index has all that a list of links asks for, as in LinkBench.
    let indexes = vec![Index::new(&[1, 0, 3, 5, 2, 6, 4])];
    Table { primary_key: 3, indexes, ..populated("link", degrees.total(nodes), Arc::new(links), &columns) }
}

fn link_count(nodes: u64, degrees: &Arc<Degrees>) -> Table {
    let columns = [
        ("id", Kind::BigInt),
        ("link_type", Kind::BigInt),
        ("links", Kind::Int),
        ("time", Kind::BigInt),
        ("version", Kind::BigInt),
    ];
    let counts = Arc::new(Counts(Arc::clone(degrees)));
    Table { primary_key: 2, ..populated("linkcount", nodes * TYPES, counts, &columns) }
}

fn checks() -> [Check; 2] {
    let differing = "SELECT id, link_type, SUM(amount) FROM (\
         SELECT id, link_type, links AS amount FROM {linkcount} UNION ALL \
         SELECT id1, link_type, -COUNT(*) FROM {link} WHERE visibility = 1 GROUP BY id1, link_type\
         ) AS parts GROUP BY id, link_type HAVING SUM(amount) <> 0 LIMIT 100";
    let query = Statement::new(differing, &[], &[Kind::BigInt, Kind::BigInt, Kind::BigInt]);
    let what = "nodes whose number of links is not that of their visible links".into();
    [Check::RowsInserted { table: NODE }, Check::FindsNothing { what, query }]
}

impl Workload for LinkBench {
    const NAME: &'static str = "linkbench";
    const TRANSACTION: &'static str = "request";

    fn from_options(options: &mut Options<'_>) -> Result<Self, String> {
        Ok(Self::new(options.rows))
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

    fn continue_after(&mut self, last: u64) {
        self.insertions = Insertions { last };
    }

    async fn transaction<O: Operations>(&self, operations: &mut O, choices: &mut Choices) -> Result<(), Failed> {
        let drawn = weighted(&MIX, |&(_, _, share)| share, choices.below(ALL));
        operations.kind(KINDS + drawn);
        let Accesses { node_reads, node_updates, .. } = self.accesses;
        match MIX[drawn].0 {
            Operation::GetNode => operations.get(GET_NODE, node_reads.key(choices, self.nodes)).await,
            Operation::UpdateNode => {
                let key = node_updates.key(choices, self.nodes);
                operations.update(UPDATE_NODE, key, choices.below(VERSIONS)).await
            }
            Operation::AddNode => {
                let key = self.insertions.key(choices, choices.inserted);
                choices.inserted += 1;
                operations.insert(ADD_NODE, key).await
            }
            Operation::DeleteNode => operations.delete(DELETE_NODE, choices.key(self.nodes)).await,
            Operation::GetLinkList => self.get_link_list(operations, self.read_link(1.0, choices)).await,
            Operation::CountLinks => self.count_links(operations, self.read_link(1.0, choices)).await,
            Operation::GetLink => self.get_link(operations, self.read_link(READ_EXISTS, choices)).await,
            Operation::AddLink => {
                let link = self.written_link(ADD_EXISTS, choices);
                self.write_link(operations, link, choices.below(VERSIONS)).await
            }
            Operation::UpdateLink => {
                let link = self.written_link(UPDATE_EXISTS, choices);
                self.write_link(operations, link, choices.below(VERSIONS)).await
            }
            Operation::DeleteLink => self.delete_link(operations, self.written_link(DELETE_EXISTS, choices)).await,
        }
    }
}

#[cfg(test)]
mod tests;
