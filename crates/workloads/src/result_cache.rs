//! result-cache: one and the same query again and again, its rows changed now and then.

use dbdyno_model::{Choices, Failed, Operation, Operations, Step, Table};

use crate::options::Options;
use crate::tables::player;
use crate::{Access, Check, Workload};

const QUERY: usize = 0;
const CHANGE: usize = 1;

#[derive(Clone, Debug)]
pub struct ResultCache {
    rows: u64,
    access: Access,
    updates_percent: u64,
    tables: [Table; 1],
    steps: [Step; 2],
}

impl ResultCache {
    pub fn new(rows: u64, access: Access, updates_percent: u64) -> Self {
        let steps =
            [Step::new("query", Operation::Get { table: 0 }), Step::new("change", Operation::Update { table: 0 })];
        Self { rows, access, updates_percent, tables: [player()], steps }
    }

    /// The key near `key` that only this client writes, so that its versions rise.
    fn own(&self, key: u64, choices: &Choices) -> u64 {
        let own = key - (key - 1) % choices.clients + choices.client;
        if own > self.rows { choices.client + 1 } else { own }
    }
}

impl Workload for ResultCache {
    const NAME: &'static str = "result-cache";
    const TRANSACTION: &'static str = "query or change";

    fn from_options(options: &mut Options<'_>) -> Result<Self, String> {
        let access = options.access()?;
        Ok(Self::new(options.rows, access, options.number("updates_percent", 0..=100, 0)?))
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
        let is_change = choices.below(100) < self.updates_percent;
        let key = self.access.key(choices, self.rows);
        if is_change && choices.client < self.rows {
            return operations.update(CHANGE, self.own(key, choices), choices.step + 1).await;
        }
        operations.get(QUERY, key).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_written_by_one_client_only() {
        let workload = ResultCache::new(100, Access::Uniform, 10);
        for client in 0..7 {
            let choices = Choices::new(1, client, 7, 0);
            for key in 1..=100 {
                let own = workload.own(key, &choices);
                assert!((1..=100).contains(&own) && (own - 1) % 7 == client, "{client} {key} {own}");
            }
        }
    }
}
