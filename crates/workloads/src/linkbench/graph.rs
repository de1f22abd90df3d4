//! The graph of LinkBench: how many links each node has, and the rows of links and of their numbers.
//!
//! Among each thousand nodes as many have so many links as in `config/Distribution.dat` of LinkBench, so that a small graph has the same
//! distribution as a large one.

use std::sync::Arc;

use dbdyno_model::{Column, Kind, Population, RowBuffer, Sizes, Source, Value, mix};

use crate::cumulative::quantile;

/// Links, and percent of the nodes that have at most as many. The last is where the distribution is cut.
pub const DEGREES: [(u64, f64); 35] = [
    (0, 19.7474),
    (1, 72.9846),
    (2, 86.7375),
    (3, 91.8168),
    (4, 94.4591),
    (5, 95.8686),
    (6, 96.7778),
    (7, 97.3793),
    (8, 97.8167),
    (9, 98.1147),
    (10, 98.3410),
    (12, 98.6746),
    (14, 98.8878),
    (16, 99.0327),
    (18, 99.1394),
    (20, 99.2221),
    (25, 99.3691),
    (30, 99.4650),
    (35, 99.5326),
    (40, 99.5862),
    (50, 99.6518),
    (60, 99.6943),
    (70, 99.7225),
    (84, 99.7507),
    (100, 99.7735),
    (150, 99.8158),
    (200, 99.8398),
    (224, 99.8542),
    (300, 99.8696),
    (400, 99.8879),
    (500, 99.8996),
    (740, 99.9187),
    (1000, 99.9321),
    (1250, 99.9422),
    (1548, 99.9501),
];

/// So many nodes have all degrees.
pub const BLOCK: u64 = 1000;
/// Prime to the block, so that the degrees are spread over it.
const SPREAD: u64 = 617;

pub const TYPES: u64 = 2;
/// The first type of links, as in LinkBench.
const FIRST_TYPE: i64 = 123_456_789;

pub const VISIBLE: i64 = 1;
pub const HIDDEN: i64 = 0;

/// Versions are below this: they fit a column of 32 bits.
pub const VERSIONS: u64 = 1 << 31;
/// Milliseconds, from the beginning of 2026 on.
const FIRST_MS: i64 = 1_767_225_600_000;
const YEAR_MS: u64 = 365 * 24 * 3600 * 1000;

const LINK_DATA_WIDTH: u16 = 150;
const LINK_DATA_MEDIAN: f64 = 8.0;
/// The deviation of the logarithm of sizes, of nodes and links.
pub const SIGMA: f64 = 1.0;

/// The number of links of nodes, which repeats with each block of them.
#[derive(Debug)]
pub struct Degrees {
    /// By node of the block, its links, and those of the nodes before it.
    links: Vec<u64>,
    before: Vec<u64>,
}

impl Degrees {
    pub fn new() -> Self {
        let percent = |node: u64| ((node * SPREAD % BLOCK) as f64 + 0.5) * 100.0 / BLOCK as f64;
        let links: Vec<u64> = (0..BLOCK).map(|node| quantile(&DEGREES, percent(node))).collect();
        let mut before = vec![0];
        links.iter().for_each(|links| before.push(before[before.len() - 1] + links));
        Self { links, before }
    }

    /// The links of a node, from 1, of all types.
    pub fn of(&self, node: u64) -> u64 {
        self.links[((node - 1) % BLOCK) as usize]
    }

    /// Its links of one type, from 0: types take turns.
    pub fn of_type(&self, node: u64, kind: u64) -> u64 {
        (self.of(node) + TYPES - 1 - kind) / TYPES
    }

    /// All links of the first so many nodes.
    pub fn total(&self, nodes: u64) -> u64 {
        nodes / BLOCK * self.before[BLOCK as usize] + self.before[(nodes % BLOCK) as usize]
    }

    /// The link with this number, from 1.
    fn link(&self, number: u64) -> Link {
        let (block, within) = ((number - 1) / self.total(BLOCK), (number - 1) % self.total(BLOCK));
        let node = self.before.partition_point(|&before| before <= within) as u64 - 1;
        let (id1, position) = (block * BLOCK + node + 1, within - self.before[node as usize]);
        Link { id1, kind: position % TYPES, id2: id1 + position / TYPES }
    }
}

/// A link, of a type from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    pub id1: u64,
    pub kind: u64,
    pub id2: u64,
}

impl Link {
    pub fn id1(&self) -> Value<'static> {
        Value::Int(self.id1 as i64)
    }

    pub fn link_type(&self) -> Value<'static> {
        type_of(self.kind)
    }

    pub fn id2(&self) -> Value<'static> {
        Value::Int(self.id2 as i64)
    }

    /// The number that its data and its time are made from.
    pub fn seed(&self) -> u64 {
        mix(mix(self.id1 ^ (self.kind << 62)) ^ self.id2)
    }

    pub fn time(&self, version: u64) -> Value<'static> {
        Value::Int(FIRST_MS + (mix(self.seed() ^ version) % YEAR_MS) as i64)
    }
}

pub fn type_of(kind: u64) -> Value<'static> {
    Value::Int(FIRST_TYPE + kind as i64)
}

/// The data of links, whose rows are made from [`Link::seed`].
pub fn link_data() -> Column {
    let sizes = Sizes::LogNormal { median: LINK_DATA_MEDIAN, sigma: SIGMA };
    Column::new("data", Kind::Varchar(LINK_DATA_WIDTH), Source::VersionedLetters { salt: 7 }).sized(sizes)
}

/// The rows of links as they are loaded, in version 0.
#[derive(Debug)]
pub struct Links {
    pub degrees: Arc<Degrees>,
    pub data: Column,
}

impl Population for Links {
    fn make(&self, number: u64, out: &mut RowBuffer) {
        let link = self.degrees.link(number);
        [link.link_type(), link.id1(), link.id2(), Value::Int(VISIBLE)].into_iter().for_each(|value| out.push(value));
        self.data.generate(link.seed(), 0, out);
        out.push(link.time(0));
        out.push(Value::Int(0));
    }
}

/// The numbers of links, by node and type, as far as there are any.
#[derive(Debug)]
pub struct Counts(pub Arc<Degrees>);

impl Counts {
    fn of(number: u64) -> (u64, u64) {
        (1 + (number - 1) / TYPES, (number - 1) % TYPES)
    }
}

impl Population for Counts {
    fn has(&self, number: u64) -> bool {
        let (node, kind) = Self::of(number);
        self.0.of_type(node, kind) > 0
    }

    fn make(&self, number: u64, out: &mut RowBuffer) {
        let (node, kind) = Self::of(number);
        let values = [
            Value::Int(node as i64),
            type_of(kind),
            Value::Int(self.0.of_type(node, kind) as i64),
            Value::Int(FIRST_MS),
            Value::Int(0),
        ];
        values.into_iter().for_each(|value| out.push(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn as_many_nodes_have_so_many_links_as_published() {
        let degrees = Degrees::new();
        for (links, percent) in DEGREES {
            let at_most = (1..=BLOCK).filter(|&node| degrees.of(node) <= links).count() as f64;
            assert!((at_most / 10.0 - percent).abs() <= 0.1, "{links}: {at_most} of a thousand");
        }
        let mean = degrees.total(BLOCK) as f64 / BLOCK as f64;
        assert!((3.0..4.5).contains(&mean), "{mean}");
    }

    #[test]
    fn every_link_has_one_number_and_every_count_its_links() {
        let degrees = Arc::new(Degrees::new());
        for nodes in [1, 999, 1000, 2017] {
            let mut counts: BTreeMap<(u64, u64), Vec<u64>> = BTreeMap::new();
            for number in 1..=degrees.total(nodes) {
                let link = degrees.link(number);
                counts.entry((link.id1, link.kind)).or_default().push(link.id2);
            }
            for (node, kind) in (1..=nodes).flat_map(|node| [(node, 0), (node, 1)]) {
                let ids = counts.remove(&(node, kind)).unwrap_or_default();
                assert!(ids.iter().copied().eq((node..).take(ids.len())), "{node} {kind}: {ids:?}");
                assert_eq!(ids.len() as u64, degrees.of_type(node, kind));
                let number = (node - 1) * TYPES + kind + 1;
                assert_eq!(Counts(Arc::clone(&degrees)).has(number), !ids.is_empty());
            }
            assert!(counts.is_empty(), "{counts:?}");
        }
    }

    #[test]
    fn a_link_has_other_data_in_every_version() {
        let link = Link { id1: 5, kind: 1, id2: 9 };
        let column = link_data();
        let (mut out, mut scratch) = (RowBuffer::default(), vec![]);
        column.generate(link.seed(), 3, &mut out);
        assert!(column.matches(link.seed(), 3, out.row().value(0), &mut scratch));
        assert!(!column.matches(link.seed(), 4, out.row().value(0), &mut scratch) && link.time(3) != link.time(4));
        assert_ne!(link.seed(), Link { kind: 0, ..link }.seed());
    }
}
