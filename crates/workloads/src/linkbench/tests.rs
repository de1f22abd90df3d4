//! linkbench against a store of links in memory.

use super::*;
use dbdyno_model::RowBuffer;
use graph::HIDDEN;
use std::collections::BTreeMap;

const LINK: usize = 1;
const LINK_COUNT: usize = 2;

/// A store of links, which remembers how often each step was issued and which nodes were read.
#[derive(Default)]
struct Store {
    /// By id1, type and id2: visibility and version.
    links: BTreeMap<[i64; 3], [i64; 2]>,
    counts: BTreeMap<[i64; 2], i64>,
    steps: BTreeMap<usize, u64>,
    nodes: Vec<u64>,
    /// Data that no version has, for every row.
    is_wrong: bool,
    wrong: Vec<Difference>,
}

fn int(value: Value<'_>) -> i64 {
    if let Value::Int(n) = value { n } else { panic!("{value}") }
}

impl Store {
    fn of(nodes: u64) -> Self {
        let (tables, mut store, mut row) = (LinkBench::new(nodes).tables, Self::default(), RowBuffer::default());
        for number in tables[LINK].numbers(nodes) {
            tables[LINK].make(number, &mut row);
            let [kind, id1, id2, visibility] = [0, 1, 2, 3].map(|column| int(row.row().value(column)));
            store.links.insert([id1, kind, id2], [visibility, 0]);
        }
        for number in tables[LINK_COUNT].numbers(nodes) {
            if tables[LINK_COUNT].make(number, &mut row) {
                let [id, kind, links] = [0, 1, 2].map(|column| int(row.row().value(column)));
                store.counts.insert([id, kind], links);
            }
        }
        store
    }

    fn visible(&self) -> BTreeMap<[i64; 2], i64> {
        let mut counts = BTreeMap::new();
        for ([id1, kind, _], _) in self.links.iter().filter(|(_, [visibility, _])| *visibility == VISIBLE) {
            *counts.entry([*id1, *kind]).or_default() += 1;
        }
        counts
    }

    fn answer(&self, [id1, kind, id2]: [i64; 3], version: i64, each: &mut dyn FnMut(Row<'_>)) {
        let first_type = int(graph::type_of(0));
        let link = Link { id1: id1 as u64, kind: (kind - first_type) as u64, id2: id2 as u64 };
        let mut row = RowBuffer::default();
        row.push(Value::Int(id2));
        link_data().generate(link.seed(), version as u64 + u64::from(self.is_wrong), &mut row);
        row.push(link.time(version as u64));
        row.push(Value::Int(version));
        each(row.row());
    }

    fn write(&mut self, step: usize, values: &[i64]) -> u64 {
        let key = |first: usize| [values[first + 1], values[first], values[first + 2]];
        match step {
            INSERT_LINK if self.links.contains_key(&key(0)) => 0,
            INSERT_LINK => u64::from(self.links.insert(key(0), [VISIBLE, values[6]]).is_none()),
            REVIVE_LINK | UPDATE_LINK => {
                let wanted = if step == REVIVE_LINK { HIDDEN } else { VISIBLE };
                let link = self.links.get_mut(&key(3)).filter(|link| link[0] == wanted);
                link.map_or(0, |link| {
                    *link = [VISIBLE, values[2]];
                    1
                })
            }
            HIDE_LINK => self.links.get_mut(&key(0)).filter(|link| link[0] == VISIBLE).map_or(0, |link| {
                link[0] = HIDDEN;
                1
            }),
            COUNT_UP => {
                *self.counts.entry([values[0], values[1]]).or_default() += 1;
                1
            }
            _ => self.counts.get_mut(&[values[0], values[1]]).map_or(0, |links| {
                *links -= 1;
                1
            }),
        }
    }
}

impl Operations for Store {
    async fn control(&mut self, _: usize) -> Result<(), Failed> {
        Ok(())
    }
    async fn get(&mut self, step: usize, key: u64) -> Result<(), Failed> {
        assert_eq!(step, GET_NODE);
        self.nodes.push(key);
        Ok(())
    }
    async fn update(&mut self, _: usize, _: u64, version: u64) -> Result<(), Failed> {
        assert!(version < VERSIONS);
        Ok(())
    }
    async fn insert(&mut self, _: usize, key: u64) -> Result<(), Failed> {
        assert!(key > 200);
        Ok(())
    }
    async fn delete(&mut self, _: usize, key: u64) -> Result<(), Failed> {
        assert!(key <= 2000);
        Ok(())
    }
    async fn sql(&mut self, step: usize, params: &[Value<'_>], each: &mut dyn FnMut(Row<'_>)) -> Result<u64, Failed> {
        let statement = &statements::statements(link_data().kind)[step - GET_LINK_LIST];
        assert!(statement.takes(params), "{step}: {params:?}");
        let numbers: Vec<i64> = params.iter().map(|value| if let Value::Int(n) = value { *n } else { -1 }).collect();
        match step {
            GET_LINK_LIST => {
                let of = |&(&[id1, kind, _], &[visibility, _]): &(&[i64; 3], &[i64; 2])| {
                    [id1, kind] == numbers[..] && visibility == VISIBLE
                };
                let mut rows: Vec<([i64; 3], i64)> =
                    self.links.iter().filter(of).map(|(&link, &[_, version])| (link, version)).collect();
                let first_type = int(graph::type_of(0));
                rows.sort_by_key(|&([id1, kind, id2], version)| {
                    let link = Link { id1: id1 as u64, kind: (kind - first_type) as u64, id2: id2 as u64 };
                    -int(link.time(version as u64))
                });
                rows.iter().for_each(|&(link, version)| self.answer(link, version, each));
                Ok(rows.len() as u64)
            }
            GET_LINK => {
                let link = [numbers[0], numbers[1], numbers[2]];
                let there = self.links.get(&link).filter(|[visibility, _]| *visibility == VISIBLE);
                there.into_iter().for_each(|&[_, version]| self.answer(link, version, each));
                Ok(u64::from(there.is_some()))
            }
            COUNT_LINKS => {
                let links = self.counts.get(&[numbers[0], numbers[1]]).copied();
                links.into_iter().for_each(|links| each(Row::new(&[], &[dbdyno_model::Field::Int(links)])));
                Ok(u64::from(links.is_some()))
            }
            _ => Ok(self.write(step, &numbers)),
        }
    }
    fn verify(&mut self, _: usize, _: u64, check: impl FnOnce() -> Result<(), Box<Difference>>) -> Result<(), Failed> {
        check().map_err(|difference| {
            self.wrong.push(*difference);
            Failed
        })
    }
    fn kind(&mut self, step: usize) {
        *self.steps.entry(step).or_default() += 1;
    }
}

fn run(store: &mut Store, workload: &LinkBench, requests: u64) {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    for step in 0..requests {
        let mut choices = Choices::new(1, 0, 1, step);
        assert!(std::pin::pin!(workload.transaction(store, &mut choices)).poll(&mut context).is_ready());
    }
}

const REQUESTS: u64 = 20_000;

#[test]
fn requests_come_in_the_published_mix() {
    let (workload, mut store) = (LinkBench::new(2000), Store::of(2000));
    run(&mut store, &workload, REQUESTS);
    let published = [50.71, 12.93, 8.99, 8.01, 7.37, 4.89, 2.99, 2.57, 1.01, 0.53];
    for (i, percent) in published.into_iter().enumerate() {
        let expected = REQUESTS as f64 * percent / 100.0;
        let actual = store.steps[&(KINDS + i)] as f64;
        assert!((actual - expected).abs() < 4.0 * expected.sqrt(), "{}: {actual} of {REQUESTS}", MIX[i].1);
    }
    assert_eq!(MIX.iter().map(|(_, _, share)| share).sum::<u64>(), ALL);
}

#[test]
fn nodes_are_as_popular_as_zipf_says() {
    let workload = LinkBench::new(1000);
    let Accesses { link_reads, link_writes, node_reads, node_updates } = workload.accesses;
    for (access, exponent) in [(link_reads, 0.8), (link_writes, 0.741), (node_reads, 0.625), (node_updates, 0.606)] {
        let mut counts = BTreeMap::new();
        for step in 0..100_000 {
            *counts.entry(access.key(&mut Choices::new(1, 0, 1, step), 1000)).or_insert(0u32) += 1;
        }
        let mut counts: Vec<u32> = counts.into_values().collect();
        counts.sort_unstable_by_key(|&count| std::cmp::Reverse(count));
        let weights: Vec<f64> = (1..=1000).map(|rank| f64::from(rank).powf(-exponent)).collect();
        let share = weights[..3].iter().sum::<f64>() / weights.iter().sum::<f64>();
        let actual = f64::from(counts[..3].iter().sum::<u32>()) / 100_000.0;
        assert!((actual - share).abs() < 4.0 * (share / 100_000.0).sqrt(), "{exponent}: {actual}, {share}");
    }
}

#[test]
fn the_data_of_nodes_and_links_has_the_published_medians() {
    let workload = LinkBench::new(4000);
    let size = |table: usize, column, number| {
        let mut row = RowBuffer::default();
        workload.tables[table].make(number, &mut row);
        if let Value::Text(text) = row.row().value(column) { text.len() } else { panic!() }
    };
    let share_within = |table, column, below: usize| {
        (1..=4000).filter(|&number| size(table, column, number) <= below).count() as f64 / 4000.0
    };
    // Below the median is half, below its e-fold 84 %; sizes are rounded, and those of links are small.
    assert!((share_within(NODE, 4, 128) - 0.5).abs() < 0.035 && (share_within(NODE, 4, 348) - 0.841).abs() < 0.025);
    assert!((share_within(LINK, 4, 8) - 0.523).abs() < 0.035 && (share_within(LINK, 4, 21) - 0.839).abs() < 0.025);
}

#[test]
fn the_numbers_of_links_are_those_of_the_visible_ones() {
    let (workload, mut store) = (LinkBench::new(2000), Store::of(2000));
    assert_eq!(store.visible(), store.counts);
    run(&mut store, &workload, REQUESTS);
    store.counts.retain(|_, links| *links != 0);
    assert_eq!((store.visible() == store.counts, &store.wrong[..]), (true, &[][..]));
}

#[test]
fn a_link_of_another_version_is_a_mismatch() {
    let (workload, mut store) = (LinkBench::new(200), Store { is_wrong: true, ..Store::of(200) });
    run(&mut store, &workload, 200);
    assert!(store.wrong.iter().any(|difference| difference.column == "link.data"), "{:?}", store.wrong);
}

#[test]
fn a_link_is_there_as_often_as_published() {
    let (workload, store) = (LinkBench::new(2000), Store::of(2000));
    for exists in [0.5, 0.9] {
        let of_node = |step| {
            let choices = &mut Choices::new(1, 0, 1, step);
            // Only a node with many links has a range that is not rounded.
            let node = (1..=1000).max_by_key(|&node| workload.degrees.of(node)).unwrap();
            let link = workload.link(node, exists, choices);
            store.links.contains_key(&[link.id1(), link.link_type(), link.id2()].map(int))
        };
        let share = (0..4000).filter(|&step| of_node(step)).count() as f64 / 4000.0;
        assert!((share - exists).abs() < 0.035, "{exists}: {share}");
    }
}
