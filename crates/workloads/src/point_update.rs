//! point-update: k = k + 1 on a random row; afterwards the sum of k has grown by what was acknowledged, nothing lost, nothing doubled.

use dbdyno_model::{Choices, Failed, Operation, Operations, Step, Table};

use crate::options::Options;
use crate::tables::bm;
use crate::{Access, Check, Workload};

#[derive(Clone, Debug)]
pub struct PointUpdate {
    rows: u64,
    access: Access,
    tables: [Table; 1],
    steps: [Step; 1],
    checks: [Check; 2],
}

const ADD: usize = 0;
const K: usize = 1;

impl PointUpdate {
    pub fn new(rows: u64, access: Access) -> Self {
        let steps = [Step::new("add", Operation::Add { table: 0, column: K })];
        let checks = [Check::RowCount { table: 0 }, Check::SumOfIncrements { columns: vec![(0, K)] }];
        Self { rows, access, tables: [bm()], steps, checks }
    }
}

impl Workload for PointUpdate {
    const NAME: &'static str = "point-update";
    const TRANSACTION: &'static str = "add";

    fn from_options(options: &mut Options<'_>) -> Result<Self, String> {
        Ok(Self::new(options.rows, options.access()?))
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
        let key = self.access.key(choices, self.rows);
        operations.add(ADD, key, 1).await
    }
}
