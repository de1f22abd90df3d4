//! replication-lag: write a row at one node, and read it at another until it arrives there.
//!
//! Every client has rows of its own, so that what it must find is what it wrote last. The first read elsewhere tells how often a read is
//! stale right after the write; each further one was made because the one before it was stale.

use dbdyno_model::{Choices, Column, Difference, Failed, Kind, Operation, Operations, Source, Step, Table};

use crate::options::Options;
use crate::{Check, Workload};

#[derive(Clone, Debug)]
pub struct ReplicationLag {
    rows: u64,
    tables: [Table; 1],
    steps: [Step; 6],
}

const READ: usize = 0;
const WRITE: usize = 1;
const FIRST_READ: usize = 2;
const SECOND_READ: usize = 3;
const FURTHER_READ: usize = 4;
const UNTIL_SEEN: usize = 5;

/// A write that is not seen by then never arrived; the reads take seconds, and a trial must end.
const MOST_READS: u64 = 100_000;

impl ReplicationLag {
    pub fn new(rows: u64) -> Self {
        let columns = vec![
            Column::new("id", Kind::Int, Source::Key),
            Column::new("version", Kind::Int, Source::Version),
            Column::new("note", Kind::Char(100), Source::VersionedLetters { salt: 31 }),
        ];
        let elsewhere = Operation::GetElsewhere { table: 0 };
        let steps = [
            Step::new("read", Operation::Get { table: 0 }),
            Step::new("write", Operation::Update { table: 0 }),
            Step::new("first_read", elsewhere),
            Step::new("second_read", elsewhere),
            Step::new("further_read", elsewhere),
            Step::new("until_seen", Operation::Transaction),
        ];
        Self { rows, tables: [Table::new("replicated", columns)], steps }
    }

    /// One of the client's own rows.
    fn key(&self, choices: &mut Choices) -> u64 {
        let own = (self.rows / choices.clients).max(1);
        1 + choices.client + choices.clients * choices.below(own)
    }

    fn version<O: Operations>(&self, operations: &O) -> u64 {
        self.tables[0].version_of(operations.row())
    }
}

impl Workload for ReplicationLag {
    const NAME: &'static str = "replication-lag";
    const TRANSACTION: &'static str = "write and see";

    fn from_options(options: &mut Options<'_>) -> Result<Self, String> {
        Ok(Self::new(options.rows))
    }

    fn tables(&self) -> &[Table] {
        &self.tables
    }

    fn steps(&self) -> &[Step] {
        &self.steps
    }

    fn checks(&self) -> &[Check] {
        &[Check::RowCount { table: 0 }]
    }

    async fn transaction<O: Operations>(&self, operations: &mut O, choices: &mut Choices) -> Result<(), Failed> {
        let key = self.key(choices);
        operations.get(READ, key).await?;
        let written = self.version(operations) + 1;
        operations.update(WRITE, key, written).await?;
        operations.part(UNTIL_SEEN);
        for (reads, step) in [FIRST_READ, SECOND_READ].into_iter().chain(std::iter::repeat(FURTHER_READ)).enumerate() {
            operations.get(step, key).await?;
            let version = self.version(operations);
            if version == written {
                break;
            }
            if reads as u64 == MOST_READS {
                operations.verify(step, 1, || Err(Difference::new("version", written, version)))?;
                return Err(Failed);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::{Row, RowBuffer};

    /// A node that applies a write only after some reads.
    struct Late {
        calls: Vec<String>,
        row: RowBuffer,
        stale_reads: u64,
    }

    impl Operations for Late {
        async fn get(&mut self, step: usize, key: u64) -> Result<(), Failed> {
            let is_applied = step > READ && self.stale_reads == 0;
            self.stale_reads -= u64::from(step > READ && !is_applied);
            self.calls.push(format!("get {step} {key}"));
            ReplicationLag::new(9).tables[0].generate(key, 6 + u64::from(is_applied), &mut self.row);
            Ok(())
        }
        async fn update(&mut self, step: usize, key: u64, version: u64) -> Result<(), Failed> {
            self.calls.push(format!("update {step} {key} {version}"));
            Ok(())
        }
        fn part(&mut self, step: usize) {
            self.calls.push(format!("part {step}"));
        }
        fn row(&self) -> Row<'_> {
            self.row.row()
        }
    }

    fn run(stale_reads: u64) -> (bool, Vec<String>) {
        let mut late = Late { calls: vec![], row: RowBuffer::default(), stale_reads };
        let (workload, mut choices) = (ReplicationLag::new(4), Choices::new(1, 2, 4, 0));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let mut future = Box::pin(workload.transaction(&mut late, &mut choices));
        let std::task::Poll::Ready(result) = future.as_mut().poll(&mut context) else { panic!() };
        drop(future);
        (result.is_ok(), late.calls)
    }

    #[test]
    fn a_row_is_read_until_its_new_version_is_there() {
        let (is_ok, calls) = run(3);
        assert!(is_ok);
        let begin = ["get 0 3", "update 1 3 7", "part 5"];
        assert_eq!(calls[..3], begin);
        assert_eq!(calls[3..], ["get 2 3", "get 3 3", "get 4 3", "get 4 3"]);
        assert_eq!(run(0).1[3..], ["get 2 3"]);
    }

    #[test]
    fn what_never_arrives_ends_the_transaction() {
        assert!(!run(MOST_READS + 5).0);
    }

    #[test]
    fn no_two_clients_have_a_row_in_common() {
        let workload = ReplicationLag::new(10);
        for step in 0..50 {
            let keys: Vec<u64> = (0..4).map(|client| workload.key(&mut Choices::new(1, client, 4, step))).collect();
            assert!(keys.iter().zip(1..).all(|(key, client)| key % 4 == client % 4 && *key <= 10), "{keys:?}");
        }
    }
}
