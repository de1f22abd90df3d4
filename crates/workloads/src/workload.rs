//! A workload: tables, steps, the transaction over them, and checks of what the store holds afterwards.

use dbdyno_model::{Choices, Failed, Operation, Operations, Statement, Step, Table};

use crate::options::Options;

/// A check of what the store holds after a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// The table has as many rows as were loaded.
    RowCount { table: usize },
    /// The sum of these columns, by table and column, has grown by exactly the increments that were acknowledged.
    SumOfIncrements { columns: Vec<(usize, usize)> },
    /// The table and each of its indexes have grown by exactly the rows that were acknowledged.
    RowsInserted { table: usize },
    /// Every write that the plan records as acknowledged is there. Two reads per pair of rows show it.
    Acknowledged { reads: [usize; 2] },
    /// The query, which has no parameters, finds nothing: no row, or a single 0 or NULL. It is also asked after loading.
    FindsNothing { what: String, query: Statement },
}

/// The items of every workload. Most need no more than those without a default.
pub trait Workload: Sized {
    /// The workload's name in plans.
    const NAME: &'static str;
    /// The name of one transaction in reports.
    const TRANSACTION: &'static str;

    /// The workload of a plan.
    ///
    /// # Errors
    /// An option has no such value: in words for the user.
    fn from_options(options: &mut Options<'_>) -> Result<Self, String>;

    fn tables(&self) -> &[Table];
    fn steps(&self) -> &[Step];
    fn checks(&self) -> &[Check];

    /// The statements that its steps of the kind `sql` execute.
    fn statements(&self) -> &[Statement] {
        &[]
    }

    /// The tables that transactions add rows to.
    fn growing_tables(&self) -> Vec<usize> {
        let inserts = |step: &&Step| matches!(step.operation, Operation::Insert { .. });
        self.steps().iter().filter(inserts).map(|step| step.operation.table()).collect()
    }

    /// Rows are added behind this key. A workload that adds none has nothing to do.
    fn continue_after(&mut self, _last: u64) {}

    /// The key of a transaction that is one `get`, the first and only step; `None` for other workloads.
    #[inline]
    fn single_key(&self, _choices: &mut Choices) -> Option<u64> {
        None
    }

    /// One transaction. It may decide by what its operations read.
    #[allow(async_fn_in_trait)]
    async fn transaction<O: Operations>(&self, operations: &mut O, choices: &mut Choices) -> Result<(), Failed>;
}
