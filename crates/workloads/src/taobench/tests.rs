//! taobench against a store that answers from the generators.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

#[derive(Default)]
struct Store {
    steps: BTreeMap<usize, u64>,
    /// The operations of the transaction that runs, of transactions that read and that wrote, and all of them.
    operations: u64,
    is_reading: bool,
    sizes: [Vec<u64>; 2],
    added: BTreeSet<(usize, u64)>,
    /// Edges have the time of another version.
    is_wrong: bool,
    wrong: Vec<String>,
}

impl Store {
    fn issued(&mut self, step: usize) {
        *self.steps.entry(step).or_default() += 1;
        self.operations += 1;
    }

    fn count(&self, step: usize) -> f64 {
        self.steps.get(&step).copied().unwrap_or_default() as f64
    }
}

const ROWS: u64 = 1000;

impl Operations for Store {
    async fn get(&mut self, step: usize, key: u64) -> Result<(), Failed> {
        assert!((1..=ROWS).contains(&key));
        self.issued(step);
        Ok(())
    }
    async fn update(&mut self, step: usize, key: u64, _: u64) -> Result<(), Failed> {
        assert!((1..=ROWS).contains(&key));
        self.issued(step);
        Ok(())
    }
    async fn insert(&mut self, step: usize, key: u64) -> Result<(), Failed> {
        assert!(key > ROWS && self.added.insert((step, key)), "{key}");
        self.issued(step);
        Ok(())
    }
    async fn control(&mut self, step: usize) -> Result<(), Failed> {
        match step {
            COMMIT => self.sizes[usize::from(self.is_reading)].push(self.operations),
            _ => (self.operations, self.is_reading) = (0, step == BEGIN_READ_ONLY),
        }
        Ok(())
    }
    async fn sql(&mut self, step: usize, params: &[Value<'_>], each: &mut dyn FnMut(Row<'_>)) -> Result<u64, Failed> {
        let Operation::Sql { statement } = steps()[step].operation else { panic!("{step}") };
        assert!(statements()[statement].takes(params), "{step}: {params:?}");
        self.issued(step);
        let Value::Int(id1) = params[if matches!(step, UPDATE_EDGE | ADD_EDGE) { 3 } else { 0 }] else { panic!() };
        let edge = Edge::of(id1 as u64, ROWS);
        let mut row = RowBuffer::default();
        match step {
            GET_EDGE | GET_EDGE_RANGE => {
                row.push(Value::Int(edge.id2 as i64));
                row.push(edge.timestamp(7 + u64::from(self.is_wrong)));
                edge_value().generate(edge.id1, 7, &mut row);
                row.push(Value::Int(7));
                each(row.row());
            }
            COUNT_EDGES => {
                row.push(Value::Int(1));
                each(row.row());
            }
            ADD_EDGE => assert!(edge.id1 > ROWS && self.added.insert((step, edge.id1)), "{edge:?}"),
            _ => assert!(edge.id1 <= ROWS),
        }
        Ok(1)
    }
    fn verify(&mut self, _: usize, _: u64, check: impl FnOnce() -> Result<(), Box<Difference>>) -> Result<(), Failed> {
        check().map_err(|difference| {
            self.wrong.push(difference.column);
            Failed
        })
    }
    fn kind(&mut self, step: usize) {
        *self.steps.entry(step).or_default() += 1;
    }
}

fn run(workload: &TaoBench, store: &mut Store, requests: u64) {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let mut client = Choices::new(1, 0, 1, 0);
    for step in 0..requests {
        let mut choices = client.at(step);
        assert!(std::pin::pin!(workload.transaction(store, &mut choices)).poll(&mut context).is_ready());
        client.follow(&choices, true);
    }
}

fn assert_shares(what: &str, counts: &[f64], weights: &[u64]) {
    let (all, total) = (counts.iter().sum::<f64>(), weights.iter().sum::<u64>() as f64);
    for (count, weight) in counts.iter().zip(weights) {
        let share = *weight as f64 / total;
        let allowed = 4.0 * (all * share * (1.0 - share)).sqrt() + 1.0;
        assert!((count - all * share).abs() <= allowed, "{what}: {counts:?}, expected {weights:?}");
    }
}

#[test]
fn requests_and_their_operations_come_in_the_published_mix() {
    for (_, mix) in MIXES {
        let (workload, mut store) = (TaoBench::new(ROWS, mix), Store::default());
        run(&workload, &mut store, 20_000);
        let requests: Vec<f64> = (0..4).map(|kind| store.count(KINDS + kind)).collect();
        assert_shares("requests", &requests, &mix.map(|(_, weight)| weight));
        let writes = WRITES.map(|(step, _)| store.count(step));
        assert_shares("writes", &writes, &WRITES.map(|(_, weight)| weight));
        assert_shares("reads", &[GET_EDGE_RANGE, COUNT_EDGES].map(|step| store.count(step)), &[376, 39]);
        assert_eq!(store.wrong, [""; 0]);
    }
}

#[test]
fn transactions_have_the_published_sizes() {
    let only = |kind| [(kind, 1), (0, 0), (0, 0), (0, 0)];
    for (kind, is_reading, published) in [(2, true, &SIZES_OF_READS[..]), (3, false, &SIZES_OF_WRITES[..])] {
        let mut store = Store::default();
        run(&TaoBench::new(ROWS, only(kind)), &mut store, 2000);
        let sizes = &store.sizes[usize::from(is_reading)];
        assert_eq!(sizes.len(), 2000);
        for &(most, percent) in published {
            let share = sizes.iter().filter(|&&size| size <= most).count() as f64 / 20.0;
            assert!((share - percent).abs() < 4.5, "{most}: {share}, published {percent}");
        }
        assert!(sizes.iter().all(|&size| size >= 2));
    }
}

#[test]
fn an_edge_has_the_published_types_and_another_value_in_each_version() {
    let counts = TYPES.map(|(kind, _)| (1..=20_000).filter(|&of| Edge::of(of, ROWS).kind == kind).count() as f64);
    assert_shares("types", &counts, &TYPES.map(|(_, weight)| weight));
    let (table, mut row) = (edges(ROWS), RowBuffer::default());
    table.make(5, &mut row);
    let edge = Edge::of(5, ROWS);
    assert_eq!([0, 1, 2].map(|column| row.row().value(column)), edge.key());
    assert!(edge.timestamp(0) == row.row().value(3) && edge.timestamp(1) != row.row().value(3));
}

#[test]
fn an_edge_of_another_version_is_a_mismatch() {
    let mut store = Store { is_wrong: true, ..Store::default() };
    run(&TaoBench::new(ROWS, MIXES[0].1), &mut store, 50);
    assert!(!store.wrong.is_empty() && store.wrong.iter().all(|column| column == "edges.timestamp"));
}

#[test]
fn the_parameters_are_those_of_the_published_files() {
    assert_eq!(MIXES.map(|(_, mix)| mix.map(|(_, weight)| weight)), [[171, 57, 15, 1], [8387, 19, 242, 1]]);
    assert_eq!(statements().iter().map(|of| of.parameters.len()).collect::<Vec<_>>(), [3, 2, 2, 6, 6]);
}
