//! durability: a debit and its credit, stored again and again. Each client has rows of its own, so it knows to the last one which of its
//! writes were acknowledged.
//!
//! Each client walks its rows in order: until it begins again with the first, every write is of its own row, and none hides another.

use dbdyno_model::{Choices, Column, Failed, Kind, Operation, Operations, Source, Step, Table};

use crate::options::Options;
use crate::{Check, Workload};

#[derive(Clone, Debug)]
pub struct Durability {
    rows: u64,
    tables: [Table; 2],
    steps: Vec<Step>,
    checks: [Check; 1],
}

const WRITES: [usize; 2] = [0, 1];
const READS: [usize; 2] = [2, 3];
const BEGIN: usize = 4;
const COMMIT: usize = 5;

impl Durability {
    /// `is_transaction`: both rows are written in one; else each for itself, one after the other.
    pub fn new(rows: u64, is_transaction: bool) -> Self {
        let mut steps = vec![
            Step::new("write_debit", Operation::Update { table: 0 }),
            Step::new("write_credit", Operation::Update { table: 1 }),
            Step::new("read_debit", Operation::Get { table: 0 }),
            Step::new("read_credit", Operation::Get { table: 1 }),
        ];
        if is_transaction {
            steps.push(Step::new("begin", Operation::Begin { read_only: false }));
            steps.push(Step::new("commit", Operation::Commit));
        }
        let tables = ["debit", "credit"].map(|name| Table::new(name, columns()));
        Self { rows, tables, steps, checks: [Check::Acknowledged { reads: READS }] }
    }

    fn is_transaction(&self) -> bool {
        self.steps.len() > COMMIT
    }

    /// Returns the key of one of the client's own rows, and its next version.
    fn next_write(&self, choices: &Choices) -> (u64, u64) {
        let own = (self.rows / choices.clients).max(1);
        let key = 1 + choices.client + choices.clients * (choices.step % own);
        (key, 1 + choices.step / own)
    }
}

fn columns() -> Vec<Column> {
    vec![
        Column::new("id", Kind::Int, Source::Key),
        Column::new("version", Kind::Int, Source::Version),
        Column::new("note", Kind::Char(100), Source::VersionedLetters { salt: 41 }),
    ]
}

impl Workload for Durability {
    const NAME: &'static str = "durability";
    const TRANSACTION: &'static str = "transfer";

    fn from_options(options: &mut Options<'_>) -> Result<Self, String> {
        let is_transaction = options.one_of("writes", &[("apart", false), ("transaction", true)])?;
        Ok(Self::new(options.rows, is_transaction))
    }

    fn tables(&self) -> &[Table] {
        &self.tables
    }

    fn steps(&self) -> &[Step] {
        &self.steps
    }

    fn checks(&self) -> &[Check] {
        &self.checks
    }

    #[inline]
    async fn transaction<O: Operations>(&self, operations: &mut O, choices: &mut Choices) -> Result<(), Failed> {
        let (key, version) = self.next_write(choices);
        if self.is_transaction() {
            operations.control(BEGIN).await?;
        }
        for write in WRITES {
            operations.update(write, key, version).await?;
        }
        if self.is_transaction() {
            operations.control(COMMIT).await?;
        }
        operations.acknowledged(key, version);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// A store that ends the transaction at one of its operations.
    struct Failing {
        at: usize,
        calls: Vec<String>,
    }

    impl Failing {
        fn called(&mut self, call: String) -> Result<(), Failed> {
            self.calls.push(call);
            if self.calls.len() == self.at { Err(Failed) } else { Ok(()) }
        }
    }

    impl Operations for Failing {
        async fn update(&mut self, step: usize, key: u64, version: u64) -> Result<(), Failed> {
            self.called(format!("update {step} {key} {version}"))
        }
        async fn control(&mut self, step: usize) -> Result<(), Failed> {
            self.called(format!("control {step}"))
        }
        fn acknowledged(&mut self, key: u64, version: u64) {
            self.calls.push(format!("acknowledged {key} {version}"));
        }
    }

    fn calls(is_transaction: bool, at: usize) -> Vec<String> {
        let mut store = Failing { at, calls: vec![] };
        let (workload, mut choices) = (Durability::new(8, is_transaction), Choices::new(1, 3, 4, 3));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let mut future = Box::pin(workload.transaction(&mut store, &mut choices));
        let std::task::Poll::Ready(_) = future.as_mut().poll(&mut context) else { panic!() };
        drop(future);
        store.calls
    }

    #[test]
    fn a_pair_is_acknowledged_only_when_all_of_it_is() {
        let whole = ["control 4", "update 0 8 2", "update 1 8 2", "control 5", "acknowledged 8 2"];
        assert_eq!(calls(true, 0), whole);
        assert_eq!(calls(false, 0), ["update 0 8 2", "update 1 8 2", "acknowledged 8 2"]);
        for at in 1..5 {
            assert_eq!(calls(true, at), whole[..at]);
        }
        assert_eq!(calls(false, 2), ["update 0 8 2", "update 1 8 2"]);
    }

    #[test]
    fn a_row_is_written_by_one_client_and_in_one_version_once() {
        let workload = Durability::new(10, true);
        let mut places = HashSet::new();
        let mut clients_of_key = vec![HashSet::new(); 11];
        for (client, step) in (0..4).flat_map(|client| (0..6).map(move |step| (client, step))) {
            let (key, version) = workload.next_write(&Choices::new(1, client, 4, step));
            assert!((1..=10).contains(&key) && version == 1 + step / 2);
            assert!(places.insert((key, version)));
            clients_of_key[key as usize].insert(client);
        }
        assert!(clients_of_key.iter().all(|clients| clients.len() <= 1));
    }
}
