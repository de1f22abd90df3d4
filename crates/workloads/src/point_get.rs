//! point-get: one row by its primary key, chosen at random.

use dbdyno_model::{Choices, Failed, Operation, Operations, Step, Table};

use crate::options::Options;
use crate::tables::bm;
use crate::{Access, Check, Workload};

#[derive(Clone, Debug)]
pub struct PointGet {
    rows: u64,
    access: Access,
    tables: [Table; 1],
    steps: [Step; 1],
}

const GET: usize = 0;

impl PointGet {
    pub fn new(rows: u64, access: Access) -> Self {
        Self { rows, access, tables: [bm()], steps: [Step::new("get", Operation::Get { table: 0 })] }
    }

    #[inline]
    fn key(&self, choices: &mut Choices) -> u64 {
        self.access.key(choices, self.rows)
    }
}

impl Workload for PointGet {
    const NAME: &'static str = "point-get";
    const TRANSACTION: &'static str = "get";

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
        &[Check::RowCount { table: 0 }]
    }

    #[inline]
    fn single_key(&self, choices: &mut Choices) -> Option<u64> {
        Some(self.key(choices))
    }

    #[inline]
    async fn transaction<O: Operations>(&self, operations: &mut O, choices: &mut Choices) -> Result<(), Failed> {
        operations.get(GET, self.key(choices)).await
    }
}
