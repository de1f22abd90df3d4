//! trx-lifecycle: the read of one row as autocommit, in a read-only and in a read-write transaction: what a transaction costs before it does
//! anything.

use dbdyno_model::{Choices, Failed, Operation, Operations, Step, Table};

use crate::options::Options;
use crate::tables::bm;
use crate::{Access, Check, Workload};

/// The transaction around the read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    /// Nothing of ours: the store makes a transaction of every statement.
    Autocommit,
    ReadOnly,
    ReadWrite,
}

/// The values of the option `transaction`, the default first.
const TRANSACTIONS: [(&str, Within); 3] =
    [("autocommit", Within::Autocommit), ("read-only", Within::ReadOnly), ("read-write", Within::ReadWrite)];

#[derive(Clone, Debug)]
pub struct TrxLifecycle {
    rows: u64,
    access: Access,
    tables: [Table; 1],
    steps: Vec<Step>,
}

const GET: usize = 0;
const BEGIN: usize = 1;
const COMMIT: usize = 2;

impl TrxLifecycle {
    pub fn new(rows: u64, access: Access, within: Within) -> Self {
        let mut steps = vec![Step::new("get", Operation::Get { table: 0 })];
        if within != Within::Autocommit {
            steps.push(Step::new("begin", Operation::Begin { read_only: within == Within::ReadOnly }));
            steps.push(Step::new("commit", Operation::Commit));
        }
        Self { rows, access, tables: [bm()], steps }
    }

    fn is_transaction(&self) -> bool {
        self.steps.len() > COMMIT
    }
}

impl Workload for TrxLifecycle {
    const NAME: &'static str = "trx-lifecycle";
    const TRANSACTION: &'static str = "read";

    fn from_options(options: &mut Options<'_>) -> Result<Self, String> {
        let access = options.access()?;
        Ok(Self::new(options.rows, access, options.one_of("transaction", &TRANSACTIONS)?))
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

    #[inline]
    async fn transaction<O: Operations>(&self, operations: &mut O, choices: &mut Choices) -> Result<(), Failed> {
        let key = self.access.key(choices, self.rows);
        if !self.is_transaction() {
            return operations.get(GET, key).await;
        }
        operations.control(BEGIN).await?;
        operations.get(GET, key).await?;
        operations.control(COMMIT).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_transaction_has_steps_around_the_read() {
        let steps = |within| {
            let workload = TrxLifecycle::new(9, Access::Uniform, within);
            workload.steps().iter().map(|step| step.operation).collect::<Vec<_>>()
        };
        let get = Operation::Get { table: 0 };
        assert_eq!(steps(Within::Autocommit), [get]);
        for (within, read_only) in [(Within::ReadOnly, true), (Within::ReadWrite, false)] {
            assert_eq!(steps(within), [get, Operation::Begin { read_only }, Operation::Commit]);
        }
    }
}
