//! insert-indexes: clients add rows of a key and three integers to a table with 0 to 3 secondary indexes.
//!
//! Keys rise, each client has its own, and the indexed integers are spread over the whole range. So a row goes to the end of the table
//! and to a random place of every index.

use dbdyno_model::{Choices, Column, Failed, Index, Kind, Operation, Operations, Source, Step, Table};

use crate::options::Options;
use crate::{Check, Workload};

const MAX_INDEXES: u64 = 3;

#[derive(Clone, Debug)]
pub struct InsertIndexes {
    /// The highest key that was there before.
    last: u64,
    tables: [Table; 1],
    steps: [Step; 1],
}

const INSERT: usize = 0;

impl InsertIndexes {
    pub fn new(rows: u64, indexes: usize) -> Self {
        let number = |name, salt| Column::new(name, Kind::Int, Source::Number { salt, below: i32::MAX as u32 });
        let columns =
            vec![Column::new("id", Kind::Int, Source::Key), number("a", 21), number("b", 22), number("c", 23)];
        let indexes = (1..=indexes).map(|column| Index::new(&[column])).collect();
        let table = Table { indexes, ..Table::new("inserted", columns) };
        Self { last: rows, tables: [table], steps: [Step::new("insert", Operation::Insert { table: 0 })] }
    }

    fn key(&self, choices: &Choices) -> u64 {
        self.last + 1 + choices.step * choices.clients + choices.client
    }
}

impl Workload for InsertIndexes {
    const NAME: &'static str = "insert-indexes";
    const TRANSACTION: &'static str = "insert";

    fn from_options(options: &mut Options<'_>) -> Result<Self, String> {
        let indexes = options.number("indexes", 0..=MAX_INDEXES, 0)? as usize;
        Ok(Self::new(options.rows, indexes))
    }

    fn tables(&self) -> &[Table] {
        &self.tables
    }

    fn steps(&self) -> &[Step] {
        &self.steps
    }

    fn checks(&self) -> &[Check] {
        &[Check::RowsInserted { table: 0 }]
    }

    fn continue_after(&mut self, last: u64) {
        self.last = last;
    }

    #[inline]
    async fn transaction<O: Operations>(&self, operations: &mut O, choices: &mut Choices) -> Result<(), Failed> {
        operations.insert(INSERT, self.key(choices)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_rise_in_each_client_and_no_two_are_alike() {
        let mut workload = InsertIndexes::new(100, 3);
        let keys = |workload: &InsertIndexes, client| {
            (0..4).map(|step| workload.key(&Choices::new(1, client, 2, step))).collect::<Vec<_>>()
        };
        assert_eq!(keys(&workload, 0), [101, 103, 105, 107]);
        assert_eq!(keys(&workload, 1), [102, 104, 106, 108]);
        workload.continue_after(108);
        assert_eq!(keys(&workload, 0)[0], 109);
    }
}
