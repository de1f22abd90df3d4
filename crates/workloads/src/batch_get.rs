//! batch-get: several rows by their primary keys in one request, the keys drawn at random, all different.

use dbdyno_model::{Choices, Failed, Operation, Operations, Step, Table};

use crate::options::Options;
use crate::tables::bm;
use crate::{Access, Check, Workload};

/// Most keys in one request: a batch is kept on the stack.
const MAX_BATCH: usize = 100;

#[derive(Clone, Debug)]
pub struct BatchGet {
    rows: u64,
    access: Access,
    batch: usize,
    tables: [Table; 1],
    steps: [Step; 1],
}

const GET_MANY: usize = 0;

impl BatchGet {
    /// # Errors
    /// There are fewer rows than keys in a batch: in words for the user.
    pub fn new(rows: u64, access: Access, batch: usize) -> Result<Self, String> {
        if rows < batch as u64 {
            return Err(format!(
                "workload.rows = {rows}: a batch of {batch} different keys needs at least {batch} rows"
            ));
        }
        let steps = [Step::new("get_many", Operation::GetMany { table: 0, keys: batch })];
        Ok(Self { rows, access, batch, tables: [bm()], steps })
    }

    /// Fills `keys` with different keys that rise.
    fn choose(&self, choices: &mut Choices, keys: &mut [u64]) {
        let mut chosen = 0;
        while chosen < keys.len() {
            let key = match self.access {
                Access::Sequential => {
                    let first = (choices.step * choices.clients + choices.client) * self.batch as u64;
                    1 + (first + chosen as u64) % self.rows
                }
                access => access.key(choices, self.rows),
            };
            if let Err(position) = keys[..chosen].binary_search(&key) {
                keys.copy_within(position..chosen, position + 1);
                keys[position] = key;
                chosen += 1;
            }
        }
    }
}

impl Workload for BatchGet {
    const NAME: &'static str = "batch-get";
    const TRANSACTION: &'static str = "get-many";

    fn from_options(options: &mut Options<'_>) -> Result<Self, String> {
        // A batch's keys are all different, and different keys of a skewed distribution would take long to draw.
        let access = options.one_of("access", &[("uniform", Access::Uniform), ("sequential", Access::Sequential)])?;
        let batch = options.number("batch", 1..=MAX_BATCH as u64, 10)? as usize;
        Self::new(options.rows, access, batch)
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
        let mut keys = [0; MAX_BATCH];
        let keys = &mut keys[..self.batch];
        self.choose(choices, keys);
        operations.get_many(GET_MANY, keys).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(workload: &BatchGet, client: u64, step: u64) -> Vec<u64> {
        let mut keys = vec![0; workload.batch];
        workload.choose(&mut Choices::new(3, client, 2, step), &mut keys);
        keys
    }

    #[test]
    fn keys_are_different_rise_and_are_a_function_of_client_and_step() {
        let workload = BatchGet::new(12, Access::Uniform, 10).unwrap();
        for step in 0..100 {
            let keys = chosen(&workload, 0, step);
            assert!(keys.windows(2).all(|pair| pair[0] < pair[1]), "{keys:?}");
            assert!(keys[0] >= 1 && keys[9] <= 12);
            assert_eq!(keys, chosen(&workload, 0, step));
        }
        assert_ne!(chosen(&workload, 0, 1), chosen(&workload, 1, 1));
    }

    #[test]
    fn batches_in_sequence_cover_all_rows() {
        let workload = BatchGet::new(9, Access::Sequential, 3).unwrap();
        assert_eq!(chosen(&workload, 0, 0), [1, 2, 3]);
        assert_eq!(chosen(&workload, 1, 0), [4, 5, 6]);
        assert_eq!(chosen(&workload, 0, 1), [7, 8, 9]);
        assert_eq!(chosen(&workload, 1, 1), [1, 2, 3]);
    }

    #[test]
    fn more_keys_than_rows_are_refused() {
        assert!(BatchGet::new(9, Access::Uniform, 10).unwrap_err().contains("rows = 9"));
    }
}
