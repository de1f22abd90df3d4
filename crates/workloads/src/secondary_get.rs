//! secondary-get: one row by a secondary index; exactly one must come back, and its id must equal its sid.

use dbdyno_model::{Choices, Failed, Operation, Operations, Step, Table, Value};

use crate::options::Options;
use crate::tables::bm_with_secondary_key;
use crate::{Access, Check, Workload};

#[derive(Clone, Debug)]
pub struct SecondaryGet {
    rows: u64,
    access: Access,
    tables: [Table; 1],
    steps: [Step; 1],
}

const FIND: usize = 0;
const SID: usize = 1;

impl SecondaryGet {
    pub fn new(rows: u64, access: Access) -> Self {
        let steps = [Step::new("find", Operation::Find { table: 0, column: SID })];
        Self { rows, access, tables: [bm_with_secondary_key()], steps }
    }
}

impl Workload for SecondaryGet {
    const NAME: &'static str = "secondary-get";
    const TRANSACTION: &'static str = "find";

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
    async fn transaction<O: Operations>(&self, operations: &mut O, choices: &mut Choices) -> Result<(), Failed> {
        let sid = self.access.key(choices, self.rows);
        operations.find(FIND, Value::Int(sid as i64), sid).await
    }
}
