//! The steps of a workload's transaction, known before the first is issued, so that a store can prepare each.

use std::ops::RangeInclusive;

/// A logical operation on a table, by the indexes of table and column in the workload's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Read the row with this primary key.
    Get { table: usize },
    /// Read the row with this primary key at another node than the client's own, if the store is several nodes that hold all rows.
    GetElsewhere { table: usize },
    /// Read the rows with these primary keys, so many of them, in one request.
    GetMany { table: usize, keys: usize },
    /// Read the one row with this value in an indexed column.
    Find { table: usize, column: usize },
    /// Read the sums of the primary keys and of this column over so many rows: those whose keys begin with 1 and a multiple of their number.
    SumRange { table: usize, column: usize, rows: u64 },
    /// Write a row's next version: the columns that change with the version, or the whole row if a store knows only rows.
    Update { table: usize },
    /// Add the row with this primary key, which is not there.
    Insert { table: usize },
    /// Write the row with this primary key, in some version, whether or not it is there. It expires after so many seconds; 0: never.
    Put { table: usize, ttl_s: u32 },
    /// Remove the row with this primary key, if it is there.
    Delete { table: usize },
    /// Read rows in the order of their primary keys, from this one on.
    Scan { table: usize },
    /// Add to a column of the row with this primary key, atomically.
    Add { table: usize, column: usize },
    /// Begin a transaction of the store. It is about every table; the first stands for them.
    Begin { read_only: bool },
    /// Commit it.
    Commit,
    /// Roll it back.
    Rollback,
    /// Execute a statement of the workload's own, by its index among these.
    Sql { statement: usize },
    /// Never issued: stands for whole transactions of one kind, if a workload has several ([`crate::Operations::kind`]), or for the
    /// last part of each ([`crate::Operations::part`]).
    Transaction,
}

impl Operation {
    pub fn name(&self) -> &'static str {
        match self {
            Operation::Get { .. } => "get",
            Operation::GetElsewhere { .. } => "get-elsewhere",
            Operation::GetMany { .. } => "get-many",
            Operation::Find { .. } => "find",
            Operation::SumRange { .. } => "sum-range",
            Operation::Update { .. } => "update",
            Operation::Insert { .. } => "insert",
            Operation::Put { ttl_s: 0, .. } => "put",
            Operation::Put { .. } => "put that expires",
            Operation::Delete { .. } => "delete",
            Operation::Scan { .. } => "scan",
            Operation::Add { .. } => "add",
            Operation::Begin { .. } => "begin",
            Operation::Commit => "commit",
            Operation::Rollback => "rollback",
            Operation::Sql { .. } => "sql",
            Operation::Transaction => "transaction",
        }
    }

    /// Returns whether it begins or ends a transaction, and reads or writes nothing itself.
    pub fn is_control(&self) -> bool {
        matches!(self, Operation::Begin { .. } | Operation::Commit | Operation::Rollback)
    }

    /// Returns whether it is about one table.
    pub fn has_table(&self) -> bool {
        !self.is_control() && !matches!(self, Operation::Sql { .. } | Operation::Transaction)
    }

    pub fn table(&self) -> usize {
        match *self {
            Operation::Begin { .. } | Operation::Commit | Operation::Rollback => 0,
            Operation::Sql { .. } | Operation::Transaction => 0,
            Operation::Get { table }
            | Operation::GetElsewhere { table }
            | Operation::GetMany { table, .. }
            | Operation::Find { table, .. }
            | Operation::SumRange { table, .. }
            | Operation::Update { table }
            | Operation::Insert { table }
            | Operation::Put { table, .. }
            | Operation::Delete { table }
            | Operation::Scan { table }
            | Operation::Add { table, .. } => table,
        }
    }
}

/// The keys of the range of `rows` rows that has this key; `last` is the table's last one.
#[inline]
pub fn range_of(key: u64, rows: u64, last: u64) -> RangeInclusive<u64> {
    let first = key - (key - 1) % rows;
    first..=last.min(first + rows - 1)
}

/// A step: what the report calls it, and the operation it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub name: String,
    pub operation: Operation,
}

impl Step {
    pub fn new(name: &str, operation: Operation) -> Self {
        Self { name: name.into(), operation }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_do_not_overlap_and_the_last_may_be_shorter() {
        let ranges: Vec<_> = (1..=8).map(|key| range_of(key, 3, 8)).collect();
        let [first, second, last] = [1..=3, 4..=6, 7..=8];
        let expected = [&first, &first, &first, &second, &second, &second, &last, &last].map(Clone::clone);
        assert_eq!(ranges, expected);
        assert_eq!(range_of(5, 1, 8), 5..=5);
    }
}
